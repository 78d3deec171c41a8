package io.pipeset.web.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.Optional;
import java.util.Properties;
import java.util.logging.Logger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * DuckDB's driver in a class loader of its own, as the build does not depend on it: it
 * has 80 MB. {@link DriverManager} gives a driver only to whoever can load its class, and
 * every test can load this one. The released jar has the driver in its own class loader,
 * by {@code loader.path}.
 */
final class DuckDbDriver implements Driver {

	private final Driver driver;

	private DuckDbDriver(Driver driver) {
		this.driver = driver;
	}

	/** Whether the driver is on this machine. */
	static boolean isThere() {
		return jar().isPresent();
	}

	/** The jar in the folder that a variable names, or in the local repository. */
	static Optional<Path> jar() {
		String folder = System.getenv("PIPESET_TEST_DUCKDB");
		Path place = (folder != null) ? Path.of(folder)
				: Path.of(System.getProperty("user.home"), ".m2", "repository", "org", "duckdb", "duckdb_jdbc");
		if (!Files.isDirectory(place)) {
			return Optional.empty();
		}
		try (Stream<Path> files = Files.walk(place)) {
			return files.filter((file) -> file.getFileName().toString().matches("duckdb_jdbc.*\\.jar"))
				.max(Comparator.comparing(Path::toString));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Makes the driver known to this JVM. */
	static DuckDbDriver register() {
		try {
			// It is loaded as long as its native library, which cannot be loaded twice.
			ClassLoader loader = new URLClassLoader(new URL[] { jar().orElseThrow().toUri().toURL() },
					DuckDbDriver.class.getClassLoader());
			DuckDbDriver driver = new DuckDbDriver(
					(Driver) loader.loadClass("org.duckdb.DuckDBDriver").getDeclaredConstructor().newInstance());
			DriverManager.registerDriver(driver);
			return driver;
		}
		catch (MalformedURLException | ReflectiveOperationException | SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	void deregister() throws SQLException {
		DriverManager.deregisterDriver(this);
	}

	@Override
	public @Nullable Connection connect(String url, Properties info) throws SQLException {
		return this.driver.connect(url, info);
	}

	@Override
	public boolean acceptsURL(String url) throws SQLException {
		return this.driver.acceptsURL(url);
	}

	@Override
	public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) throws SQLException {
		return this.driver.getPropertyInfo(url, info);
	}

	@Override
	public int getMajorVersion() {
		return this.driver.getMajorVersion();
	}

	@Override
	public int getMinorVersion() {
		return this.driver.getMinorVersion();
	}

	@Override
	public boolean jdbcCompliant() {
		return this.driver.jdbcCompliant();
	}

	@Override
	public Logger getParentLogger() {
		return Logger.getLogger("org.duckdb");
	}

}
