package io.pipeset.dev;

import java.time.Duration;
import java.util.Optional;

/**
 * A server that has answered PING. It can be killed, after which it can be started again
 * in its directory, or released for good.
 */
final class RunningServer {

	private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(5);

	private final ServerProcess process;

	private final int port;

	private final ServerGreeting greeting;

	private final Optional<ProcessHandle> handle;

	RunningServer(ServerProcess process, int port, ServerGreeting greeting) {
		this.process = process;
		this.port = port;
		this.greeting = greeting;
		this.handle = ProcessHandle.of(greeting.pid());
	}

	int port() {
		return this.port;
	}

	ServerGreeting greeting() {
		return this.greeting;
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Kills the server and keeps its directory. SIGKILL is safe because the server
	 * persists nothing. It also ends a server that is stopped by a signal or busy in a
	 * script.
	 */
	void kill() {
		if (isAlive()) {
			this.handle.ifPresent(ProcessHandle::destroyForcibly);
		}
		awaitExit();
	}

	/**
	 * Ends the server and removes its directory.
	 */
	void release() {
		this.process.release();
		awaitExit();
	}

	private void awaitExit() {
		try {
			if (!this.process.awaitExit(EXIT_TIMEOUT)) {
				throw new EmbeddedRedisException("The embedded Redis (process " + this.greeting.pid()
						+ ") is still running " + EXIT_TIMEOUT.toSeconds() + " seconds after it was killed.");
			}
		}
		catch (InterruptedException ex) {
			// The server is already ending, so there is no need to wait.
			Thread.currentThread().interrupt();
		}
	}

}
