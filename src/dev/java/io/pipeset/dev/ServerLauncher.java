package io.pipeset.dev;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Starts the server program on a free port and waits until it answers. If it does not,
 * the exception includes the server's last log lines.
 */
final class ServerLauncher {

	/**
	 * For {@link #launch}: any free port.
	 */
	static final int ANY_PORT = 0;

	private static final Duration POLL = Duration.ofMillis(10);

	private static final int ATTEMPTS = 20;

	private final Path program;

	private final ServerDirectory directory;

	private final String password;

	private final List<String> configLines;

	private final Duration timeout;

	ServerLauncher(Path program, ServerDirectory directory, String password, EmbeddedRedisOptions options) {
		this.program = program;
		this.directory = directory;
		this.password = password;
		this.configLines = options.configLines();
		this.timeout = options.startTimeout();
	}

	/**
	 * Starts the server.
	 * @param port the port on 127.0.0.1, or {@link #ANY_PORT}
	 * @return the server, which has answered PING
	 * @throws EmbeddedRedisException if it does not answer in time
	 * @throws IOException if its configuration cannot be written or there is no shell
	 */
	RunningServer launch(int port) throws IOException, InterruptedException {
		for (int attempt = 1;; attempt++) {
			int candidate = (port != ANY_PORT) ? port : freePort();
			this.directory.writeConfig(candidate, this.password, this.configLines);
			ServerProcess process = ServerProcess.start(this.program, this.directory);
			Optional<ServerGreeting> greeting = awaitGreeting(process, candidate);
			if (greeting.isPresent()) {
				this.directory.removeConfig();
				return new RunningServer(process, candidate, greeting.get());
			}
			if (attempt == ATTEMPTS || !failedTemporarily(process)) {
				throw failure(process);
			}
			if (port != ANY_PORT) {
				Thread.sleep(100);
			}
		}
	}

	private Optional<ServerGreeting> awaitGreeting(ServerProcess process, int port) throws InterruptedException {
		try {
			long deadline = System.nanoTime() + this.timeout.toNanos();
			while (process.isAlive() && System.nanoTime() < deadline) {
				Optional<ServerGreeting> greeting = ServerGreeting.query(port, this.password);
				if (greeting.isPresent()) {
					return greeting;
				}
				process.awaitExit(POLL);
			}
			return Optional.empty();
		}
		catch (InterruptedException ex) {
			process.release();
			throw ex;
		}
	}

	private static boolean failedTemporarily(ServerProcess process) throws InterruptedException {
		return !process.isAlive() && process.lastLines()
			.stream()
			.anyMatch((line) -> line.contains("Address already in use") || line.contains("Failed listening on port")
					|| line.contains("Text file busy"));
	}

	private EmbeddedRedisException failure(ServerProcess process) throws InterruptedException {
		String end = process.isAlive() ? "it did not answer PING within " + this.timeout.toMillis() + " ms"
				: "it exited with status " + process.exitValue();
		List<String> lines = process.lastLines();
		process.release();
		process.awaitExit(Duration.ofSeconds(5));
		String output = lines.isEmpty() ? "It wrote nothing."
				: "Its last lines:" + System.lineSeparator() + String.join(System.lineSeparator(), lines);
		return new EmbeddedRedisException(
				"The embedded Redis (" + this.program + ") did not start: " + end + ". " + output);
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] { 127, 0, 0, 1 }))) {
			return socket.getLocalPort();
		}
	}

}
