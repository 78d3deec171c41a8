package io.pipeset.benchmark.process;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** A Spring Boot service that runs as a process of its own. */
public final class JavaServer implements AutoCloseable {

	private static final Duration START = Duration.ofSeconds(60);

	private final Process process;

	private final int port;

	private final GcLog gcLog;

	private @Nullable AllocationProbe probe;

	private JavaServer(Process process, int port, GcLog gcLog) {
		this.process = process;
		this.port = port;
		this.gcLog = gcLog;
	}

	/**
	 * Starts a service and waits until it is ready.
	 * @param launch the service to start
	 * @param logs the directory of its logs
	 * @return the service, to be closed by the caller
	 */
	public static JavaServer start(Launch launch, Path logs) {
		try {
			Files.createDirectories(logs);
			int port = freePort();
			GcLog gcLog = new GcLog(logs.resolve(launch.name() + "-gc.log"));
			List<String> command = new ArrayList<>();
			command.add(launch.jvm().java().toString());
			command.addAll(launch.jvm().flags());
			command.add(gcLog.flag());
			command.addAll(launch.program());
			command.add("--server.address=" + Address.HOST);
			command.add("--server.port=" + port);
			Path log = logs.resolve(launch.name() + ".log");
			ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
			builder.environment().remove("JAVA_TOOL_OPTIONS");
			builder.environment().putAll(launch.environment());
			Process process = builder.start();
			Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
			awaitReadiness(process, port, log);
			return new JavaServer(process, port, gcLog);
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot start " + launch.name(), ex);
		}
	}

	/**
	 * The address of a call to this service.
	 * @param path path and query
	 * @return the address
	 */
	public URI uri(String path) {
		return URI.create("http://" + Address.HOST + ":" + this.port + path);
	}

	public int port() {
		return this.port;
	}

	public long pid() {
		return this.process.pid();
	}

	public GcLog gcLog() {
		return this.gcLog;
	}

	/**
	 * Counts what the service allocates. The first call attaches to its JVM.
	 * @return the probe
	 */
	public AllocationProbe probe() {
		if (this.probe == null) {
			this.probe = AllocationProbe.attach(this.process.pid());
		}
		return this.probe;
	}

	@Override
	public void close() {
		if (this.probe != null) {
			this.probe.close();
		}
		this.process.destroy();
		try {
			if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
				this.process.destroyForcibly().waitFor();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private static void awaitReadiness(Process process, int port, Path log) throws IOException {
		URI readiness = URI.create("http://" + Address.HOST + ":" + port + "/actuator/health/readiness");
		long deadline = System.nanoTime() + START.toNanos();
		while (!isReady(readiness)) {
			if (!process.isAlive() || System.nanoTime() > deadline) {
				process.destroyForcibly();
				throw new BenchmarkException("The service did not start:\n" + Files.readString(log));
			}
			try {
				Thread.sleep(100);
			}
			catch (InterruptedException ex) {
				process.destroyForcibly();
				Thread.currentThread().interrupt();
				throw new BenchmarkException("Interrupted", ex);
			}
		}
	}

	private static boolean isReady(URI readiness) {
		try {
			HttpURLConnection connection = (HttpURLConnection) readiness.toURL().openConnection();
			connection.setReadTimeout((int) START.toMillis());
			return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
