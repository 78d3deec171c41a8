package io.pipeset.dev;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.util.FileSystemUtils;

/**
 * A real Redis server for development. It listens on a free port of 127.0.0.1, requires a
 * random password and persists nothing. It ends with this JVM, even if the JVM is killed
 * by SIGKILL.
 */
public final class EmbeddedRedis implements DataRedisConnectionDetails, AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(15);

	private final Path passwordFile;

	private final String password;

	private final ServerProcess server;

	private EmbeddedRedis(Path passwordFile, String password, ServerProcess server) {
		this.passwordFile = passwordFile;
		this.password = password;
		this.server = server;
	}

	/**
	 * Starts a server and waits until it answers PING.
	 * @param executable the server program: a path, or a name to look up on {@code PATH};
	 * {@code null} for the redis-server on the class path
	 * @param configLines lines for redis.conf such as {@code maxmemory 2mb}
	 * @return the running server, which the caller must close
	 * @throws EmbeddedRedisException if there is no program for this platform, or it does
	 * not start within 15 seconds
	 */
	public static EmbeddedRedis start(@Nullable String executable, String... configLines) {
		try {
			return start(executable, Files.createTempDirectory("pipeset-redis-"), List.of(configLines));
		}
		catch (IOException ex) {
			throw new EmbeddedRedisException("The embedded Redis could not be started: " + ex, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new EmbeddedRedisException("Interrupted while the embedded Redis was starting.", ex);
		}
	}

	private static EmbeddedRedis start(@Nullable String executable, Path directory, List<String> configLines)
			throws IOException, InterruptedException {
		byte[] random = new byte[24];
		new SecureRandom().nextBytes(random);
		String password = HexFormat.of().formatHex(random);
		try {
			Path program = ServerProgram.locate(executable, directory);
			Path passwordFile = Files.writeString(directory.resolve("password"), password);
			return new EmbeddedRedis(passwordFile, password,
					ServerProcess.start(program, directory, ServerProcess.ANY_PORT, password, configLines, PATIENCE));
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			FileSystemUtils.deleteRecursively(directory);
			throw ex;
		}
	}

	@Override
	public Standalone getStandalone() {
		return Standalone.of("127.0.0.1", port());
	}

	/** The port on 127.0.0.1. */
	public int port() {
		return this.server.port();
	}

	/**
	 * The password of the default user.
	 * @return letters and digits
	 */
	@Override
	public String getPassword() {
		return this.password;
	}

	/**
	 * A shell command that opens redis-cli on the server. The same OS user can run it.
	 * @return the command, which reads the password from a file and does not include it
	 */
	String commandLine() {
		String file = this.passwordFile.toString().replace("'", "'\\''");
		return "REDISCLI_AUTH=\"$(cat '" + file + "')\" redis-cli -p " + port();
	}

	/** The process id of the server. */
	public long pid() {
		return this.server.pid();
	}

	/** The name and version that the server reports. */
	public String version() {
		return this.server.version();
	}

	/** Ends the server and removes all of its files. A second call does nothing. */
	@Override
	public void close() {
		this.server.close();
	}

	/** Describes the server without its password. */
	@Override
	public String toString() {
		return version() + " on 127.0.0.1:" + port();
	}

}
