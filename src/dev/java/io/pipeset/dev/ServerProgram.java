package io.pipeset.dev;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * Finds the server program: the configured one, or else the redis-server on the class
 * path for this platform.
 */
final class ServerProgram {

	private ServerProgram() {
	}

	/**
	 * Returns the file to run.
	 * @param directory a private directory to unpack into if the cache cannot be written
	 * @throws EmbeddedRedisException if there is none for this platform, or the
	 * configured program does not exist
	 * @throws IOException if it cannot be unpacked
	 */
	static Path locate(EmbeddedRedisOptions options, Path directory) throws IOException {
		String named = options.executable();
		if (named != null) {
			return named(named).orElseThrow(() -> new EmbeddedRedisException(
					"The server program '" + named + "' (pipeset.embedded-redis.executable) is not an executable file"
							+ ((named.indexOf('/') < 0) ? " on the PATH." : ".")));
		}
		CarriedExecutable carried = CarriedExecutable.forThisPlatform().orElseThrow(ServerProgram::unsupported);
		return new ExecutableCache(options.cacheDirectory()).install(carried, directory);
	}

	/**
	 * Checks that servers can be started and stopped safely on this platform.
	 * @throws EmbeddedRedisException if not, for example on Windows
	 */
	static void requirePosix() {
		if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
			throw unsupported();
		}
	}

	static Optional<Path> onPath(String name) {
		String path = System.getenv("PATH");
		return Arrays.stream(((path != null) ? path : "/usr/bin:/bin").split(File.pathSeparator, -1))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, name))
			.filter(ServerProgram::isProgram)
			.findFirst();
	}

	private static Optional<Path> named(String named) {
		if (named.indexOf('/') < 0) {
			return onPath(named);
		}
		return Optional.of(Path.of(named).toAbsolutePath()).filter(ServerProgram::isProgram);
	}

	private static boolean isProgram(Path file) {
		return Files.isRegularFile(file) && Files.isExecutable(file);
	}

	private static EmbeddedRedisException unsupported() {
		return new EmbeddedRedisException("There is no embedded Redis for " + System.getProperty("os.name") + " on "
				+ System.getProperty("os.arch") + ": only for Linux (amd64, 386, arm64) and macOS (amd64, arm64).");
	}

}
