package io.pipeset.dev;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The private working directory of one server. It has a file with the password for
 * redis-cli. During a start it also has the configuration file, which keeps the password
 * out of the command line.
 */
final class ServerDirectory {

	private final Path path;

	private ServerDirectory(Path path) {
		this.path = path;
	}

	static ServerDirectory create() throws IOException {
		return new ServerDirectory(Files.createTempDirectory("pipeset-redis-",
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
	}

	Path path() {
		return this.path;
	}

	Path config() {
		return this.path.resolve("redis.conf");
	}

	Path password() {
		return this.path.resolve("password");
	}

	void writeConfig(int port, String password, List<String> more) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add("bind 127.0.0.1");
		lines.add("port " + port);
		lines.add("requirepass " + password);
		lines.add("dir " + quoted(this.path.toString()));
		lines.add("save \"\"");
		lines.add("appendonly no");
		lines.add("daemonize no");
		lines.add("loglevel notice");
		lines.addAll(more);
		removeConfig();
		createPrivate(config());
		Files.write(config(), lines, StandardCharsets.UTF_8);
	}

	/** Writes the password to a file that only the current user can read. */
	void writePassword(String password) throws IOException {
		createPrivate(password());
		Files.writeString(password(), password);
	}

	void removeConfig() throws IOException {
		Files.deleteIfExists(config());
	}

	void delete() throws IOException {
		if (!Files.exists(this.path)) {
			return;
		}
		List<Path> files;
		try (Stream<Path> walk = Files.walk(this.path)) {
			files = walk.sorted(Comparator.reverseOrder()).toList();
		}
		for (Path file : files) {
			Files.deleteIfExists(file);
		}
	}

	private static void createPrivate(Path file) throws IOException {
		Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
	}

	private static String quoted(String value) {
		return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
	}

}
