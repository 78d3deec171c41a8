package io.pipeset.dev;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Finds the server program: the configured one, or else the redis-server on the class
 * path for this platform.
 */
final class ServerProgram {

	/**
	 * The platforms of which org.signal:embedded-redis:0.9.1 has an executable. Each has
	 * the SHA-256 of the reviewed file, so that no other file from the class path is ever
	 * run.
	 */
	static final Map<String, String> CARRIED = Map.of("linux-amd64",
			"c0cdeef856b3410fd99d6ec6fc6a20302e69059b00ce5d6abab7b3e5069ea91e", "linux-arm64",
			"d5c7ff117caf45d7dc2f59c1f956e1830438779947d66aa5647c2cdcc16eca50", "darwin-amd64",
			"e22a3d9147802bba0724efb2e446c49e1e514e76ff8031bb6d44b8628400d8f3", "darwin-arm64",
			"07838a2eb6f5961c89d8e6f1f83482de355dfc6bb04e05bfb00ae1f137dee129");

	private ServerProgram() {
	}

	/**
	 * Returns the file to run.
	 * @param executable a path or a name on the PATH; {@code null} for the redis-server
	 * on the class path
	 * @param directory the directory into which that one is unpacked
	 * @throws EmbeddedRedisException if there is none for this platform, or the
	 * configured program does not exist
	 * @throws IOException if it cannot be unpacked
	 */
	static Path locate(@Nullable String executable, Path directory) throws IOException {
		if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
			throw unsupported();
		}
		if (executable == null) {
			String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
			if (!CARRIED.containsKey(platform)) {
				throw unsupported();
			}
			return unpack(platform, directory);
		}
		boolean path = executable.indexOf('/') >= 0;
		return ((path) ? Optional.of(Path.of(executable)).filter(ServerProgram::isProgram) : onPath(executable))
			.map(Path::toAbsolutePath)
			.orElseThrow(() -> new EmbeddedRedisException("The server program '" + executable
					+ "' (pipeset.embedded-redis.executable) is not an executable file"
					+ ((path) ? "." : " on the PATH.")));
	}

	static Optional<Path> onPath(String name) {
		String path = System.getenv("PATH");
		return Arrays.stream(((path != null) ? path : "/usr/bin:/bin").split(File.pathSeparator, -1))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, name))
			.filter(ServerProgram::isProgram)
			.findFirst();
	}

	static String platform(String osName, String osArch) {
		String os = (osName.startsWith("Mac")) ? "darwin" : osName.toLowerCase(Locale.ROOT);
		return os + '-' + switch (osArch) {
			case "x86_64" -> "amd64";
			case "aarch64" -> "arm64";
			default -> osArch;
		};
	}

	static Path unpack(String platform, Path directory) throws IOException {
		String name = "redis-server-7.0.15-" + platform;
		try (InputStream resource = ServerProgram.class.getResourceAsStream('/' + name)) {
			if (resource == null) {
				throw new EmbeddedRedisException(
						"The class path has no " + name + " (it comes with org.signal:embedded-redis:0.9.1).");
			}
			byte[] program = resource.readAllBytes();
			if (!sha256(program).equals(CARRIED.get(platform))) {
				throw new EmbeddedRedisException("The " + name
						+ " on the class path is not the one of org.signal:embedded-redis:0.9.1 (its SHA-256 differs), "
						+ "so it is not run.");
			}
			Path file = Files.write(directory.resolve("redis-server"), program);
			return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
		}
	}

	private static String sha256(byte[] bytes) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

	private static boolean isProgram(Path file) {
		return Files.isRegularFile(file) && Files.isExecutable(file);
	}

	private static EmbeddedRedisException unsupported() {
		return new EmbeddedRedisException("There is no embedded Redis for " + System.getProperty("os.name") + " on "
				+ System.getProperty("os.arch") + ": only for Linux and macOS (amd64, arm64).");
	}

}
