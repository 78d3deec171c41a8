package io.pipeset.dev;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A child JVM with an embedded Redis, for tests that end the JVM.
 */
public final class ChildRedis implements AutoCloseable {

	private static final String MARK = "embedded-redis-started ";

	private final Process jvm;

	private final ProcessHandle server;

	private ChildRedis(Process jvm, ProcessHandle server) {
		this.jvm = jvm;
		this.server = server;
	}

	/**
	 * Starts the JVM and waits for its Redis.
	 * @param temporary the directory of its files
	 */
	static ChildRedis start(Path temporary) throws IOException {
		Process jvm = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Djava.io.tmpdir=" + temporary, "-XX:TieredStopAtLevel=1", "-cp",
				System.getProperty("java.class.path"), ChildRedis.class.getName())
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		BufferedReader out = jvm.inputReader(StandardCharsets.UTF_8);
		for (String line = out.readLine(); line != null; line = out.readLine()) {
			if (line.startsWith(MARK)) {
				long pid = Long.parseLong(line.substring(MARK.length()));
				return new ChildRedis(jvm, ProcessHandle.of(pid).orElseThrow());
			}
		}
		jvm.destroyForcibly();
		throw new IOException("The child JVM did not start a Redis");
	}

	Process jvm() {
		return this.jvm;
	}

	ProcessHandle server() {
		return this.server;
	}

	/**
	 * Makes the JVM's main method return.
	 */
	void finish() throws IOException {
		this.jvm.getOutputStream().close();
	}

	@Override
	public void close() {
		this.jvm.destroyForcibly();
		this.server.destroyForcibly();
	}

	/**
	 * Runs in the child JVM: returns at the end of its input and never closes its Redis.
	 */
	public static void main(String[] args) throws IOException {
		EmbeddedRedis redis = EmbeddedRedis.start(null);
		try (OutputStream out = new FileOutputStream(FileDescriptor.out)) {
			out.write((System.lineSeparator() + MARK + redis.pid() + System.lineSeparator())
				.getBytes(StandardCharsets.UTF_8));
		}
		System.in.transferTo(OutputStream.nullOutputStream());
	}

}
