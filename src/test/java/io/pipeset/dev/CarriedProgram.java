package io.pipeset.dev;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * Lets tests that start many servers verify their executable once: the first compiler
 * alone takes a while for its SHA-256.
 */
public final class CarriedProgram {

	private static @Nullable Path verified;

	private CarriedProgram() {
	}

	/**
	 * The carried executable, unpacked and verified when it is first asked for.
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
