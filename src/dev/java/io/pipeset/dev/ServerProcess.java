package io.pipeset.dev;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.FileSystemUtils;
import org.springframework.util.StringUtils;

/**
 * One run of the server program under a small guard shell. The shell reads from a pipe of
 * this JVM, because the OS closes the pipe however the JVM ends.
 */
public final class ServerProcess implements AutoCloseable {

	/** For {@link #start}: any free port. */
	public static final int ANY_PORT = 0;

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

	private static final String HOST = "127.0.0.1";

	private static final int ATTEMPTS = 20;

	private static final int EXIT_SECONDS = 5;

	private static final String PID = "process_id";

	private static final String LOG = "redis.log";

	private static final int MAX_LINES = 20;

	/**
	 * What is over soon: another process has the port, or a process that was just forked
	 * still has the unpacked program open.
	 */
	private static final Pattern TEMPORARY = Pattern
		.compile("Address already in use|Failed listening on port|Text file busy");

	private final Path directory;

	private final int port;

	private final Process guard;

	private String info = "";

	private ServerProcess(Path directory, int port, Process guard) {
		this.directory = directory;
		this.port = port;
		this.guard = guard;
	}

	/**
	 * Starts the program and waits until it answers PING.
	 * @param directory its private directory, which may have the data of an earlier run;
	 * removed when this is closed or this JVM ends
	 * @param port the port on 127.0.0.1, or {@link #ANY_PORT}
	 * @param password letters and digits
	 * @param configLines lines for redis.conf, which override those from here
	 * @return the server, which has answered
	 * @throws EmbeddedRedisException if it does not answer in time; the message includes
	 * the server's last lines
	 * @throws IOException if its files cannot be written or there is no shell
	 */
	public static ServerProcess start(Path program, Path directory, int port, String password, List<String> configLines,
			Duration patience) throws IOException, InterruptedException {
		for (int attempt = 1;; attempt++) {
			int candidate = (port != ANY_PORT) ? port : freePort();
			List<String> config = new ArrayList<>(List.of("bind " + HOST, "port " + candidate,
					"requirepass " + password, "save \"\"", "appendonly no", "daemonize no", "loglevel notice"));
			config.addAll(configLines);
			Files.write(directory.resolve("redis.conf"), config);
			ServerProcess server = new ServerProcess(directory, candidate, guard(program, directory));
			String failure = server.awaitAnswer(password, patience);
			if (failure.isEmpty()) {
				return server;
			}
			if (attempt == ATTEMPTS || !TEMPORARY.matcher(failure).find()) {
				server.close();
				throw new EmbeddedRedisException("The embedded Redis (" + program + ") did not start: " + failure);
			}
			Thread.sleep(100);
		}
	}

	private static Process guard(Path program, Path directory) throws IOException {
		List<String> command = new ArrayList<>(ownSession());
		command.addAll(List.of("/bin/sh", "-c", GUARD, "pipeset-embedded-redis", directory.toString(),
				program.toString(), "redis.conf"));
		ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(directory.resolve(LOG).toFile());
		// Redis 7.2 and Valkey do not start if the locale is not installed.
		builder.environment().put("LC_ALL", "C");
		return builder.start();
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

	/**
	 * Waits until the server answers.
	 * @return why it does not, or an empty string
	 */
	private String awaitAnswer(String password, Duration patience) throws IOException, InterruptedException {
		try {
			long deadline = System.nanoTime() + patience.toNanos();
			while (System.nanoTime() < deadline && !this.guard.waitFor(10, TimeUnit.MILLISECONDS)) {
				this.info = query(this.port, password);
				if (!this.info.isEmpty()) {
					return "";
				}
			}
		}
		catch (InterruptedException ex) {
			close();
			throw ex;
		}
		String end = isAlive() ? "it did not answer PING within " + patience.toMillis() + " ms"
				: "it exited with status " + this.guard.exitValue();
		List<String> lines = new String(Files.readAllBytes(this.directory.resolve(LOG)), StandardCharsets.UTF_8).lines()
			.toList();
		return end + ". "
				+ ((lines.isEmpty()) ? "It wrote nothing." : "Its last lines:" + System.lineSeparator() + String
					.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size())));
	}

	/**
	 * Asks a server once.
	 * @return its answers, or an empty string if it does not answer yet or refuses the
	 * password
	 */
	static String query(int port, String password) {
		try (Socket socket = new Socket()) {
			socket.setSoTimeout(1000);
			socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
			socket.getOutputStream()
				.write(("AUTH " + password + "\r\nPING\r\nINFO server\r\nQUIT\r\n")
					.getBytes(StandardCharsets.US_ASCII));
			String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			return (answers.startsWith("+OK\r\n+PONG\r\n$")) ? answers : "";
		}
		catch (IOException ex) {
			return "";
		}
	}

	public int port() {
		return this.port;
	}

	/** The process id of the server itself, not of the guard. */
	public long pid() {
		return Long.parseLong(field(PID, "unknown"));
	}

	/**
	 * The name and version that the server reports.
	 * @return for example "Redis 7.0.15" or "Valkey 8.1.3"
	 */
	String version() {
		String name = field("server_name", "redis");
		return StringUtils.capitalize(name) + ' '
				+ field(name + "_version", field("redis_version", "of unknown version"));
	}

	/** Whether the server's process exists, even if it is stopped by a signal. */
	public boolean isAlive() {
		return this.guard.isAlive();
	}

	/**
	 * Kills the server, waits for its end and removes its directory. SIGKILL also ends a
	 * server that is stopped by a signal or busy in a script.
	 * @throws EmbeddedRedisException if it does not end within 5 seconds
	 */
	@Override
	public void close() {
		try {
			this.guard.getOutputStream().close();
			if (!this.guard.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
				throw new EmbeddedRedisException("The embedded Redis (process " + field(PID, "unknown")
						+ ") is still running " + EXIT_SECONDS + " seconds after it was killed.");
			}
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			logger.warn("Cannot remove {}", this.directory, ex);
		}
		catch (InterruptedException ex) {
			// The server is already ending, so there is no need to wait.
			Thread.currentThread().interrupt();
		}
	}

	private String field(String name, String fallback) {
		Matcher field = Pattern.compile("(?m)^" + Pattern.quote(name) + ":(\\S+)").matcher(this.info);
		return (field.find()) ? field.group(1) : fallback;
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket()) {
			socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), ANY_PORT));
			return socket.getLocalPort();
		}
	}

}
