package io.pipeset.service;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.PipesetApplication;
import io.pipeset.redis.TestRedis;

/**
 * The service in a process of its own, which a test may signal and watch. It is the
 * released jar if {@code service.jar} names one, or else the application's class, with
 * the class path of the tests but for their own classes.
 */
public final class ServiceProcess implements AutoCloseable {

	private static final Pattern READY = Pattern.compile("Ready\\. Try: curl .*-X POST https?://localhost:(\\d+)/");

	/** A start takes three seconds of a processor, and many may want it at once. */
	private static final int PATIENCE_SECONDS = 600;

	/** The memory and the collector of the image. */
	private static final List<String> CONTAINER = List.of("-Xmx256m", "-XX:MaxDirectMemorySize=96m", "-XX:+UseG1GC",
			"-XX:-ClassUnloadingWithConcurrentMark", "-XX:+ExitOnOutOfMemoryError");

	private final Process process;

	private final Queue<String> output = new ConcurrentLinkedQueue<>();

	private final CompletableFuture<Integer> port = new CompletableFuture<>();

	private final Thread reader;

	private Service service = new Service(0);

	private ServiceProcess(Process process) {
		this.process = process;
		this.reader = new Thread(this::read, "service-output");
		this.reader.setDaemon(true);
		this.reader.start();
	}

	/**
	 * Starts the service, and waits until it is ready.
	 * @param redis the Redis of the service
	 * @param arguments properties of the service as {@code --name=value}, and options of
	 * its virtual machine that begin with {@code -X} or {@code -D}
	 */
	public static ServiceProcess start(TestRedis redis, String... arguments) throws Exception {
		return start(List.of(), redis, arguments);
	}

	/**
	 * Starts the service where it can write no file of more than so many KB.
	 * @param kilobytes the largest file
	 */
	public static ServiceProcess startOnFailingDisk(int kilobytes, TestRedis redis, String... arguments)
			throws Exception {
		return start(List.of("bash", "-c", "ulimit -f " + kilobytes + "; exec \"$0\" \"$@\""), redis, arguments);
	}

	/**
	 * Starts the service with variables of its environment, and with no Redis but that
	 * which they name.
	 */
	public static ServiceProcess start(Map<String, String> environment, String... arguments) throws Exception {
		return start(List.of(), program(), environment, arguments);
	}

	/** Starts another version of the service. */
	public static ServiceProcess startJar(Path jar, TestRedis redis, String... arguments) throws Exception {
		return start(List.of(), List.of("-jar", jar.toString()), environment(redis), arguments);
	}

	private static ServiceProcess start(List<String> shell, TestRedis redis, String... arguments) throws Exception {
		return start(shell, program(), environment(redis), arguments);
	}

	/** The options of a virtual machine that runs the service. */
	public static List<String> program() throws Exception {
		String jar = System.getProperty("service.jar");
		if (jar != null) {
			return List.of("-jar", jar);
		}
		List<String> program = new ArrayList<>(ServiceClasses.options(ServiceProcess::train));
		program.add(PipesetApplication.class.getName());
		return program;
	}

	private static Map<String, String> environment(TestRedis redis) {
		Map<String, String> environment = new HashMap<>();
		redis.properties()
			.forEach((name, value) -> environment.put(name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
		return environment;
	}

	private static void train(List<String> options) throws Exception {
		List<String> program = new ArrayList<>(options);
		program.add(PipesetApplication.class.getName());
		try (ServiceProcess service = start(List.of(), program, environment(TestRedis.shared()))) {
			service.service().post("/pipeset/0").report();
			service.terminate();
			service.awaitEnd();
		}
	}

	private static ServiceProcess start(List<String> shell, List<String> program, Map<String, String> environment,
			String... arguments) throws Exception {
		List<String> command = new ArrayList<>(shell);
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(CONTAINER);
		command.addAll(Arrays.stream(arguments).filter(ServiceProcess::isOfMachine).toList());
		command.addAll(program);
		if (Arrays.stream(arguments).noneMatch((argument) -> argument.startsWith("--server.port="))) {
			command.add("--server.port=0");
		}
		command.addAll(Arrays.stream(arguments).filter((argument) -> !isOfMachine(argument)).toList());
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		// As in the contexts of the tests; an argument wins.
		builder.environment().put("PIPESET_WARMUP_ENABLED", "false");
		builder.environment().put("PIPESET_CONTROL_TIMEOUT", "10s");
		builder.environment().put("PIPESET_CONTROL_CONNECTTIMEOUT", "10s");
		builder.environment().put("PIPESET_JOBS_RESUME", "manual");
		// A service warns of the files of processes that others have killed.
		builder.environment().put("PIPESET_SPOOL_DIRECTORY", "target/spool/process-" + UUID.randomUUID());
		builder.environment().putAll(environment);
		ServiceProcess service = new ServiceProcess(builder.start());
		try {
			service.service = new Service(service.port.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
			return service;
		}
		catch (Exception ex) {
			service.close();
			throw ex;
		}
	}

	private static boolean isOfMachine(String argument) {
		return argument.startsWith("-X") || argument.startsWith("-D");
	}

	public Service service() {
		return this.service;
	}

	/** The lines that the service has written so far. */
	public List<String> output() {
		return List.copyOf(this.output);
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/** Asks the service to end (SIGTERM). */
	public void terminate() {
		// Process.destroy would close the output as well.
		this.process.toHandle().destroy();
	}

	/** Ends the service (SIGKILL). */
	public void kill() throws InterruptedException {
		// As in terminate().
		this.process.toHandle().destroyForcibly();
		awaitEnd();
	}

	/** Pauses the service (SIGSTOP): it keeps its files and connections. */
	public void pause() throws Exception {
		signal("-STOP");
	}

	/** Lets a paused service go on (SIGCONT). */
	public void goOn() throws Exception {
		signal("-CONT");
	}

	private void signal(String signal) throws Exception {
		if (new ProcessBuilder("kill", signal, String.valueOf(this.process.pid())).start().waitFor() != 0) {
			throw new IllegalStateException("kill " + signal + " has failed");
		}
	}

	/** Waits until the service has ended and all its output is read. */
	public void awaitEnd() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException("The service does not end:\n" + String.join("\n", this.output));
		}
		this.reader.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

	private void read() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				this.output.add(line);
				Matcher ready = READY.matcher(line);
				if (ready.find()) {
					this.port.complete(Integer.valueOf(ready.group(1)));
				}
			}
		}
		catch (IOException ex) {
			this.output.add(ex.toString());
		}
		finally {
			this.port.completeExceptionally(new IllegalStateException("It ended:\n" + String.join("\n", this.output)));
		}
	}

}
