package io.pipeset.web.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;

import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * A MariaDB of the tests, by the programs of this machine. Its files are in a folder that
 * is deleted at the end.
 */
final class TestMariaDb extends TestDatabase {

	private static final String USER = "pipeset";

	private final Process server;

	private final Path folder;

	private final int port;

	private TestMariaDb(Process server, Path folder, int port) {
		this.server = server;
		this.folder = folder;
		this.port = port;
	}

	/** Whether this machine has the programs. */
	static boolean isInstalled() {
		return program("mariadbd", "mysqld").isPresent()
				&& program("mariadb-install-db", "mysql_install_db").isPresent();
	}

	private static Optional<Path> program(String... names) {
		List<String> folders = new ArrayList<>(Arrays.asList(System.getenv().getOrDefault("PATH", "").split(":", -1)));
		folders.add("/usr/sbin");
		return Stream.of(names)
			.flatMap((name) -> folders.stream().map((folder) -> Path.of(folder, name)))
			.filter(Files::isExecutable)
			.findFirst();
	}

	static TestMariaDb start() {
		try {
			Path folder = Files.createTempDirectory("mariadb");
			String data = "--datadir=" + folder.resolve("data");
			String user = "--user=" + System.getProperty("user.name");
			Path log = folder.resolve("log");
			int installed = begin(log, program("mariadb-install-db", "mysql_install_db").orElseThrow().toString(),
					"--no-defaults", data, user, "--skip-test-db")
				.waitFor();
			if (installed != 0) {
				throw new IllegalStateException("MariaDB cannot be installed:\n" + Files.readString(log));
			}
			Path init = Files.writeString(folder.resolve("init.sql"),
					"CREATE USER '" + USER + "'@'127.0.0.1' IDENTIFIED BY '" + PASSWORD + "';\nGRANT ALL ON *.* TO '"
							+ USER + "'@'127.0.0.1';\nCREATE DATABASE shop CHARACTER SET utf8mb4;\n");
			int port = TestRedis.freePort();
			Process server = begin(log, program("mariadbd", "mysqld").orElseThrow().toString(), "--no-defaults", data,
					user, "--bind-address=127.0.0.1", "--port=" + port, "--socket=" + folder.resolve("socket"),
					"--pid-file=" + folder.resolve("pid"), "--init-file=" + init, "--skip-name-resolve",
					"--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0");
			TestMariaDb started = new TestMariaDb(server, folder, port);
			try {
				started.awaitReady(log);
			}
			catch (RuntimeException ex) {
				started.close();
				throw ex;
			}
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Process begin(Path log, String... command) throws IOException {
		return new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
			.start();
	}

	private void awaitReady(Path log) {
		await().until(() -> {
			if (!this.server.isAlive()) {
				throw new IllegalStateException("MariaDB has ended:\n" + Files.readString(log));
			}
			return isReady();
		});
	}

	private boolean isReady() {
		try (Connection connection = connect()) {
			return connection.isValid(0);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:" + this.port + "/shop";
	}

	@Override
	String user() {
		return USER;
	}

	@Override
	Connection connect() throws SQLException {
		return DriverManager.getConnection(url(), USER, PASSWORD);
	}

	@Override
	public void close() {
		this.server.destroyForcibly();
		await().until(() -> !this.server.isAlive());
		try {
			FileSystemUtils.deleteRecursively(this.folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
