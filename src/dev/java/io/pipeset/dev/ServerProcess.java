package io.pipeset.dev;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of the server program under a small guard shell. The shell reads from a pipe of
 * this JVM, because the OS closes the pipe however the JVM ends.
 */
final class ServerProcess {

	/**
	 * The guard script. Its arguments are the server's private directory and then its
	 * command. The watcher waits for the end of the pipe and then kills the server. The
	 * shell waits for the server and then ends the watcher. So all three processes end
	 * together, and no zombie remains.
	 */
	private static final String GUARD = """
			trap '' HUP INT QUIT TERM
			directory=$1
			shift
			exec 3<&0 0</dev/null
			"$@" 3<&- 2>&1 &
			server=$!
			exec 2>/dev/null
			(
				while read -r line <&3; do :; done
				trap '' USR1
				kill -KILL "$server"
				rm -rf -- "$directory"
			) >/dev/null &
			watcher=$!
			exec 3<&-
			wait "$server"
			status=$?
			kill -USR1 "$watcher"
			wait "$watcher"
			exit "$status"
			""";

	private static final Logger logger = LoggerFactory.getLogger(ServerProcess.class);

	private static final int MAX_LINES = 20;

	private final Deque<String> lastLines = new ArrayDeque<>();

	private final Process guard;

	private final Thread log;

	private ServerProcess(Process guard) {
		this.guard = guard;
		this.log = new Thread(this::readLog, "embedded-redis-log");
		this.log.setDaemon(true);
	}

	/**
	 * Starts the program.
	 * @param directory its private directory with its configuration; removed if this JVM
	 * ends before the server
	 * @return the process, which may not answer yet
	 * @throws IOException if there is no shell
	 */
	static ServerProcess start(Path program, ServerDirectory directory) throws IOException {
		List<String> command = new ArrayList<>(ownSession());
		command.addAll(List.of("/bin/sh", "-c", GUARD, "pipeset-embedded-redis", directory.path().toString(),
				program.toString(), directory.config().toString()));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		// Redis 7.2 and Valkey do not start if the locale is not installed.
		builder.environment().put("LC_ALL", "C");
		Process guard;
		// A process forked during unpacking would hold the file open: "Text file busy".
		synchronized (ExecutableCache.UNPACKING) {
			guard = builder.start();
		}
		ServerProcess process = new ServerProcess(guard);
		process.log.start();
		return process;
	}

	/**
	 * The prefix that starts a command in its own session. Without it, Ctrl-C would also
	 * end the server while this JVM still uses it for its shutdown.
	 */
	private static List<String> ownSession() {
		return ServerProgram.onPath("setsid")
			.map((setsid) -> List.of(setsid.toString()))
			.or(() -> ServerProgram.onPath("perl")
				.map((perl) -> List.of(perl.toString(), "-MPOSIX", "-e", "POSIX::setsid(); exec @ARGV")))
			.orElse(List.of());
	}

	boolean isAlive() {
		return this.guard.isAlive();
	}

	int exitValue() {
		return this.guard.exitValue();
	}

	/**
	 * Waits for the end of the server.
	 * @return whether it has ended
	 */
	boolean awaitExit(Duration timeout) throws InterruptedException {
		return this.guard.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Closes the pipe. The watcher then kills the server and removes its directory.
	 */
	void release() {
		try {
			this.guard.getOutputStream().close();
		}
		catch (IOException ex) {
			logger.debug("The embedded Redis had already ended", ex);
		}
	}

	/**
	 * The last lines of the server's output. If the server has ended, they are complete.
	 */
	List<String> lastLines() throws InterruptedException {
		if (!isAlive()) {
			this.log.join(10_000);
		}
		synchronized (this.lastLines) {
			return List.copyOf(this.lastLines);
		}
	}

	private void readLog() {
		try (BufferedReader reader = this.guard.inputReader(StandardCharsets.UTF_8)) {
			String line;
			while ((line = reader.readLine()) != null) {
				logger.debug("{}", line);
				synchronized (this.lastLines) {
					if (this.lastLines.size() == MAX_LINES) {
						this.lastLines.removeFirst();
					}
					this.lastLines.addLast(line);
				}
			}
		}
		catch (IOException ex) {
			logger.debug("The log of the embedded Redis ended", ex);
		}
	}

}
