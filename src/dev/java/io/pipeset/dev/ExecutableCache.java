package io.pipeset.dev;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the unpacked executable between runs, in a directory that only the current user
 * can access. The SHA-256 of the cached file is checked at every start.
 */
final class ExecutableCache {

	/**
	 * The lock held while an executable is written and while a process is forked.
	 */
	static final Object UNPACKING = new Object();

	private static final Logger logger = LoggerFactory.getLogger(ExecutableCache.class);

	private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

	private final Path directory;

	ExecutableCache(@Nullable Path directory) {
		this.directory = (directory != null) ? directory : userCache();
	}

	/**
	 * Returns the executable as a verified file.
	 * @param fallback a private directory to unpack into if the cache cannot be written
	 * @throws EmbeddedRedisException if the class path does not have the executable, or
	 * has another file of that name
	 * @throws IOException if neither directory can be written
	 */
	Path install(CarriedExecutable executable, Path fallback) throws IOException {
		synchronized (UNPACKING) {
			try {
				Files.createDirectories(this.directory);
				// Fails if another user owns the directory: then the fallback is used.
				Files.setPosixFilePermissions(this.directory, OWNER_ONLY);
				return installInto(this.directory, executable);
			}
			catch (IOException ex) {
				logger.debug("Cannot keep redis-server in {}, unpacking it for this run only", this.directory, ex);
				return installInto(fallback, executable);
			}
		}
	}

	private static Path installInto(Path target, CarriedExecutable executable) throws IOException {
		Path file = target.resolve(executable.fileName());
		if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
			if (isIntact(file, executable)) {
				return file;
			}
			logger.warn("{} is not the redis-server that was unpacked there; replacing it", file);
		}
		Path unpacked = Files.createTempFile(target, executable.fileName(), ".tmp",
				PosixFilePermissions.asFileAttribute(OWNER_ONLY));
		try {
			unpack(executable, unpacked);
			// Renamed atomically, so that another process never sees an incomplete file.
			Files.move(unpacked, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
		}
		finally {
			Files.deleteIfExists(unpacked);
		}
		return file;
	}

	private static void unpack(CarriedExecutable executable, Path file) throws IOException {
		try (InputStream resource = executable.open()) {
			if (resource == null) {
				throw new EmbeddedRedisException("The class path has no " + executable.fileName()
						+ " (it comes with org.signal:embedded-redis:0.9.1).");
			}
			try (OutputStream out = Files.newOutputStream(file)) {
				if (!copy(resource, out).equals(executable.sha256())) {
					throw new EmbeddedRedisException("The " + executable.fileName()
							+ " on the class path is not the one of org.signal:embedded-redis:0.9.1 (its SHA-256 differs), "
							+ "so it is not run.");
				}
			}
		}
	}

	private static boolean isIntact(Path file, CarriedExecutable executable) throws IOException {
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || !Files.isExecutable(file)) {
			return false;
		}
		try (InputStream in = Files.newInputStream(file)) {
			return copy(in, OutputStream.nullOutputStream()).equals(executable.sha256());
		}
	}

	private static String copy(InputStream in, OutputStream out) throws IOException {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			new DigestInputStream(in, digest).transferTo(out);
			return HexFormat.of().formatHex(digest.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

	private static Path userCache() {
		String xdg = System.getenv("XDG_CACHE_HOME");
		if (xdg != null && Path.of(xdg).isAbsolute()) {
			return Path.of(xdg, "pipeset");
		}
		String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
		String home = System.getProperty("user.home", "");
		return os.startsWith("mac") ? Path.of(home, "Library", "Caches", "pipeset")
				: Path.of(home, ".cache", "pipeset");
	}

}
