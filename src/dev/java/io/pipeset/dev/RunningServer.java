package io.pipeset.dev;

import java.time.Duration;
import java.util.Optional;

/**
 * A server that has answered, and the two ways to end it: for good, or such that it can
 * be started again in its directory.
 */
final class RunningServer {

	private static final Duration GRACE = Duration.ofSeconds(5);

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
	 * Kills the server and leaves its directory. It has nothing to save, and killing also
	 * ends a server that is stopped by a signal or busy in a script.
	 */
	void kill() {
		if (isAlive()) {
			this.handle.ifPresent(ProcessHandle::destroyForcibly);
		}
		awaitExit();
	}

	/**
	 * Ends the server for good.
	 */
	void release() {
		this.process.release();
		awaitExit();
	}

	private void awaitExit() {
		try {
			if (!this.process.awaitExit(GRACE)) {
				throw new EmbeddedRedisException("The embedded Redis (process " + this.greeting.pid()
						+ ") is still running " + GRACE.toSeconds() + " seconds after it was killed.");
			}
		}
		catch (InterruptedException ex) {
			// It is on its way down already; nothing else needs this thread to wait.
			Thread.currentThread().interrupt();
		}
	}

}
