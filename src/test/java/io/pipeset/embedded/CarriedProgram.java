package io.pipeset.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Lets tests that start many servers verify their executable once. */
public final class CarriedProgram {

	private CarriedProgram() {
	}

	/**
	 * Unpacks and verifies the carried executable, as each start of a server by itself
	 * does.
	 * @return the file to run
	 * @throws EmbeddedRedisException if there is none for this platform
	 */
	public static Path verified() {
		try {
			ServerProgram.requirePosix();
			return ServerProgram.locate(EmbeddedRedisOptions.defaults(), Path.of("target").toAbsolutePath());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
