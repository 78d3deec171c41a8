package io.pipeset.dev;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * Verifies the executable once for tests that start many servers, because its SHA-256
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
				ServerProgram.requirePosix();
				verified = ServerProgram.locate(EmbeddedRedisOptions.defaults(), Path.of("target").toAbsolutePath());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return verified;
	}

}
