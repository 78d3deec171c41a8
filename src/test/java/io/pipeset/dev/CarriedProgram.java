package io.pipeset.dev;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * Unpacks the executable once for tests that start many servers, because its SHA-256
 * takes long under the C1 compiler.
 */
public final class CarriedProgram {

	private static @Nullable Path verified;

	private CarriedProgram() {
	}

	/**
	 * The redis-server on the class path, unpacked and verified at the first call.
	 * @return the file to run
	 * @throws EmbeddedRedisException if there is none for this platform
	 */
	public static synchronized Path verified() {
		if (verified == null) {
			try {
				Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target").toAbsolutePath()),
						"redis-");
				verified = ServerProgram.locate(null, directory);
				directory.toFile().deleteOnExit();
				verified.toFile().deleteOnExit();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return verified;
	}

	/**
	 * The server program that tests use instead.
	 * @param executable a path, or a name on the PATH
	 * @return the file to run
	 * @throws EmbeddedRedisException if there is none
	 */
	public static Path other(String executable) {
		try {
			return ServerProgram.locate(executable, Path.of("target"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
