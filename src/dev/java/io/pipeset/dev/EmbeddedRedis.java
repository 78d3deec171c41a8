package io.pipeset.dev;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Redis server for development and tests. It listens on a free port of 127.0.0.1,
 * requires a random password and persists nothing. It ends with this JVM, even if the JVM
 * is killed by SIGKILL.
 *
 * <p>
 * Thread-safe.
 */
public final class EmbeddedRedis implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedis.class);

	private final ServerDirectory directory;

	private final ServerLauncher launcher;

	private final String password;

	private RunningServer server;

	private boolean closed;

	private EmbeddedRedis(ServerDirectory directory, ServerLauncher launcher, String password, RunningServer server) {
		this.directory = directory;
		this.launcher = launcher;
		this.password = password;
		this.server = server;
	}

	/**
	 * Starts a server and waits until it answers PING.
	 * @return the running server, which the caller must close
	 * @throws EmbeddedRedisException if there is no program for this platform, or it does
	 * not start in time
	 */
	public static EmbeddedRedis start(EmbeddedRedisOptions options) {
		ServerProgram.requirePosix();
		ServerDirectory directory = createDirectory();
		boolean started = false;
		try {
			Path program = ServerProgram.locate(options, directory.path());
			String password = randomPassword();
			directory.writePassword(password);
			ServerLauncher launcher = new ServerLauncher(program, directory, password, options);
			EmbeddedRedis redis = new EmbeddedRedis(directory, launcher, password,
					launcher.launch(ServerLauncher.ANY_PORT));
			started = true;
			return redis;
		}
		catch (IOException ex) {
			throw new EmbeddedRedisException("The embedded Redis could not be started: " + ex, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new EmbeddedRedisException("Interrupted while the embedded Redis was starting.", ex);
		}
		finally {
			if (!started) {
				delete(directory);
			}
		}
	}

	/**
	 * The address it listens on.
	 * @return always 127.0.0.1
	 */
	public String host() {
		return "127.0.0.1";
	}

	/** The port it listens on, which a restart does not change. */
	public synchronized int port() {
		return this.server.port();
	}

	/**
	 * The password of the default user, which a restart does not change.
	 * @return letters and digits
	 */
	public String password() {
		return this.password;
	}

	/**
	 * A shell command that opens redis-cli on the server. The same OS user can run it.
	 * @return the command, which reads the password from a file and does not include it
	 */
	public String commandLine() {
		String file = this.directory.password().toString().replace("'", "'\\''");
		return "REDISCLI_AUTH=\"$(cat '" + file + "')\" redis-cli -p " + port();
	}

	/**
	 * The process id of the server, which a restart changes.
	 * @return the id of the current or last process
	 */
	public synchronized long pid() {
		return this.server.greeting().pid();
	}

	/**
	 * The name and version that the server reports.
	 * @return "Redis", or for example "Valkey"
	 */
	public synchronized String product() {
		return this.server.greeting().product();
	}

	/**
	 * The server's version.
	 * @return for example "7.0.15"
	 */
	public synchronized String version() {
		return this.server.greeting().version();
	}

	/**
	 * Whether the server's process exists. This includes a process stopped by a signal.
	 */
	public synchronized boolean isRunning() {
		return this.server.isAlive();
	}

	/**
	 * Kills the server if it is running, and waits for its end. It can be started again.
	 * @throws EmbeddedRedisException if it does not end within 5 seconds
	 */
	public synchronized void stop() {
		this.server.kill();
	}

	/**
	 * Kills the server if it is running, and starts it on the same port with the same
	 * password and configuration. Its data is lost, unless the configuration enables
	 * persistence.
	 * @throws IllegalStateException if this is closed
	 * @throws EmbeddedRedisException if it does not start in time
	 */
	public synchronized void restart() {
		if (this.closed) {
			throw new IllegalStateException("This embedded Redis is closed");
		}
		this.server.kill();
		try {
			this.server = this.launcher.launch(this.server.port());
		}
		catch (IOException ex) {
			throw new EmbeddedRedisException("The embedded Redis could not be started again: " + ex, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new EmbeddedRedisException("Interrupted while the embedded Redis was restarting.", ex);
		}
	}

	/**
	 * Kills the server, waits for its end and removes all of its files. A second call
	 * does nothing.
	 * @throws EmbeddedRedisException if it does not end within 5 seconds
	 */
	@Override
	public synchronized void close() {
		if (!this.closed) {
			this.closed = true;
			try {
				this.server.release();
			}
			finally {
				delete(this.directory);
			}
		}
	}

	/**
	 * Describes the server without its password.
	 */
	@Override
	public String toString() {
		return product() + " " + version() + " on " + host() + ":" + port();
	}

	private static ServerDirectory createDirectory() {
		try {
			return ServerDirectory.create();
		}
		catch (IOException ex) {
			throw new EmbeddedRedisException("The embedded Redis has no temporary directory: " + ex, ex);
		}
	}

	private static void delete(ServerDirectory directory) {
		try {
			directory.delete();
		}
		catch (IOException ex) {
			logger.warn("Cannot remove {}", directory.path(), ex);
		}
	}

	private static String randomPassword() {
		byte[] bytes = new byte[24];
		new SecureRandom().nextBytes(bytes);
		return HexFormat.of().formatHex(bytes);
	}

}
