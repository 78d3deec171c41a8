package io.pipeset.web.job;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.LossyWay;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.ServiceTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The programs of {@code docs/clients} load a service whose connections break, and run
 * their records once. All of them run at once, each with keys of its own, as their tools
 * take longer to start than the load.
 */
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientProgramTests.KEY,
		"pipeset.clients.loader.key-sha256=" + ClientProgramTests.KEY_HASH })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ProcessTest
class ClientProgramTests {

	static final String KEY = "key-of-billing";

	static final String KEY_HASH = "f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6";

	private static final int RECORDS = 20_000;

	/** No other job has as many. */
	private static final int INTERRUPTED = 1000;

	/** The record of those that does not run, far behind the place of the kill. */
	private static final int REFUSED = 500;

	/** About a fifth of the first ones. */
	private static final int LOST_AFTER = 250_000;

	private static final Path PROGRAMS = Path.of("docs", "clients").toAbsolutePath();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Service service;

	private final Map<String, Run> runs = new LinkedHashMap<>();

	ClientProgramTests(Service service, @TempDir Path folder) throws Exception {
		this.service = service;
		redis.flushall();
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		begin(folder, "load.sh", (isThere("jq", "--version") && isThere("curl", "--version")) ? "bash" : null);
		// A short life of a JVM, as that of the tests.
		String first = "-XX:TieredStopAtLevel=1";
		begin(folder, "Load.java", java, first);
		begin(folder, "SpringLoad.java", java, first, "-cp", springs());
		begin(folder, "load.py", (isThere("python3", "-c", "import requests")) ? "python3" : null);
		begin(folder, "load.mjs", (isThere("node", "-e", "ReadableStream.from([])")) ? "node" : null);
		begin(folder, "load.go", (isThere("go", "version")) ? "go" : null, "run");
	}

	@AfterAll
	void end() throws IOException {
		for (Run run : this.runs.values()) {
			run.end();
		}
		redis.flushall();
	}

	@Test
	void eachProgramOfTheFolderIsRun() throws IOException {
		try (var files = Files.list(PROGRAMS)) {
			assertThat(
					files.map((file) -> file.getFileName().toString()).filter((name) -> name.matches(".*[Ll]oad\\..*")))
				.containsExactlyInAnyOrder("load.sh", "Load.java", "SpringLoad.java", "load.py", "load.mjs", "load.go",
						// By SparkClientTests.
						"spark_load.py");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "load.sh", "Load.java", "SpringLoad.java", "load.py", "load.mjs", "load.go" })
	void recordsRunOnceThoughTheUploadAndThenTheAnswerAreLost(String program) throws Exception {
		Run run = ended(program);
		assertThat(run.output("first")).startsWith("0\n").contains("completed", Integer.toString(run.records));
		assertThat(run.way.hasLostBoth()).isTrue();
		assertThat(run.errors("first")).contains("Once more in ");
		assertThat(redis.keys(program + ":1:*")).hasSize(run.records);
		int last = run.records - 1;
		assertThat(redis.hget(program + ":1:" + last, "name")).isEqualTo("User " + last);
		assertThat(this.service.get("/v1/jobs?limit=1000").json().get("jobs").valueStream().map(Answer::counts))
			.filteredOn((counts) -> counts.received() == run.records)
			.containsExactly(new Counts(run.records, run.records, 0, 0, 0, 0));
	}

	@Test
	void aWrongKeyIsNoReasonToTryAgain() throws Exception {
		Run run = ended("Load.java");
		Process process = start(run.folder, run.way, "wrong",
				run.command + " 10 none: > again.txt 2> again.errors.txt");
		assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
		assertThat(process.exitValue()).isNotZero();
		assertThat(run.errors("again")).contains("No client has the key").doesNotContain("Once more");
		assertThat(redis.keys("none:*")).isEmpty();
	}

	/**
	 * The answers to the uploads are lost, and then the process that has the jobs. A
	 * record of each is refused.
	 */
	@Test
	void aJobWhoseProcessDiesGoesOnInTheNextOneAndWhatDidNotRunIsThereToBePostedAgain(@TempDir Path parent)
			throws Exception {
		String[] settings = { "pipeset.clients.loader.key-sha256=" + KEY_HASH, "pipeset.jobs.lease=1s",
				"pipeset.spool.directory=" + parent.resolve("spool") };
		Map<String, Run> interrupted = new LinkedHashMap<>();
		try {
			// No job ends here.
			try (ServiceProcess first = ServiceProcess.start(TestRedis.shared(), "--" + settings[0], "--" + settings[1],
					"--" + settings[2], "--pipeset.clients.loader.limits.rate-limit=1")) {
				for (Map.Entry<String, Run> program : this.runs.entrySet()) {
					String prefix = program.getKey() + ":2:";
					redis.set(prefix + REFUSED, "no hash");
					Path folder = Files.createDirectory(parent.resolve(program.getKey()));
					LossyWay way = new LossyWay(first.service(), Long.MAX_VALUE);
					String command = program.getValue().command;
					interrupted.put(program.getKey(), new Run(folder, way, command, INTERRUPTED,
							start(folder, way, KEY, load(command, "second", INTERRUPTED, prefix))));
				}
				await().atMost(Duration.ofMinutes(5))
					.until(() -> interrupted.entrySet()
						.stream()
						.allMatch((program) -> program.getValue().way.hasLostAnswer()
								&& redis.exists(program.getKey() + ":2:0") == 1));
				first.kill();
			}
			try (Replica next = Replica.start(TestRedis.shared(), TestRedis.shared().properties(), settings)) {
				interrupted.values().forEach((run) -> run.way.lead(next.service()));
				for (Map.Entry<String, Run> program : interrupted.entrySet()) {
					assertAllButOneRan(program.getValue(), program.getKey() + ":2:");
				}
				assertThat(next.service().as(KEY).get("/v1/jobs").json().get("jobs").valueStream().map(Answer::counts))
					.as("jobs, each of which ran once")
					.filteredOn((counts) -> counts.equals(new Counts(INTERRUPTED, INTERRUPTED - 1, 0, 1, 0, 0)))
					.hasSize(interrupted.size());
			}
		}
		finally {
			for (Run run : interrupted.values()) {
				run.end();
			}
		}
	}

	private void assertAllButOneRan(Run run, String prefix) throws Exception {
		assertThat(run.process.waitFor(5, TimeUnit.MINUTES)).as(run.command).isTrue();
		assertThat(run.output("second")).as(run.errors("second"))
			.startsWith("1\n")
			.contains("completed", Integer.toString(INTERRUPTED));
		assertThat(run.errors("second")).contains("failed.ndjson");
		assertThat(redis.keys(prefix + "*")).hasSize(INTERRUPTED);
		List<String> failed = Files.readAllLines(run.folder.resolve("failed.ndjson"));
		String refused = prefix + REFUSED;
		assertThat(failed).singleElement().asString().contains("\"" + refused + "\"", "WRONGTYPE");
		redis.del(refused);
		assertThat(this.service.ndjson("/v1/jobs", failed.get(0)).report().at("/counts/applied").asInt()).isOne();
		assertThat(redis.hget(refused, "name")).isEqualTo("User " + REFUSED);
	}

	private Run ended(String name) throws InterruptedException {
		Run run = this.runs.get(name);
		assumeTrue(run != null, "The tools of docs/clients/" + name + " are not there");
		assertThat(run.process.waitFor(5, TimeUnit.MINUTES)).as(run.command).isTrue();
		return run;
	}

	/** Begins a load across the faults. */
	private void begin(Path parent, String name, @Nullable String tool, String... options) throws IOException {
		if (tool == null) {
			return;
		}
		List<String> words = new ArrayList<>(List.of(tool));
		words.addAll(List.of(options));
		words.add(PROGRAMS.resolve(name).toString());
		String command = "'" + String.join("' '", words) + "'";
		Path folder = Files.createDirectory(parent.resolve(name));
		LossyWay way = new LossyWay(this.service, LOST_AFTER);
		// The number tells its job among all others.
		int records = RECORDS + this.runs.size();
		Process process = start(folder, way, KEY, load(command, "first", records, name + ":1:"));
		this.runs.put(name, new Run(folder, way, command, records, process));
	}

	private static String load(String command, String output, int records, String prefix) {
		return command + " " + records + " " + prefix + " > out 2> " + output + ".errors.txt\n"
				+ "(echo $?; cat out) > " + output + ".txt\n";
	}

	private static Process start(Path folder, LossyWay way, String key, String commands) throws IOException {
		ProcessBuilder builder = new ProcessBuilder("bash", "-c", commands).directory(folder.toFile()).inheritIO();
		builder.environment()
			.putAll(Map.of("PIPESET_URL", way.url(), "PIPESET_KEY", key, "GOFLAGS", "-mod=mod", "GOPROXY", "off"));
		return builder.start();
	}

	static boolean isThere(String... command) {
		try {
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The libraries that a Spring service has. */
	private static String springs() {
		return String.join(File.pathSeparator, List
			.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
			.stream()
			.filter((path) -> path.matches(
					".*/(spring-(web|core|beans)|jackson-|jspecify|commons-logging|micrometer-(observation|commons)).*"))
			.toList());
	}

	/** A program under way. */
	private record Run(Path folder, LossyWay way, String command, int records, Process process) {

		private void end() throws IOException {
			this.process.descendants().forEach(ProcessHandle::destroy);
			this.process.destroy();
			this.way.close();
		}

		private String output(String name) throws IOException {
			return Files.readString(this.folder.resolve(name + ".txt"));
		}

		private String errors(String name) throws IOException {
			return Files.readString(this.folder.resolve(name + ".errors.txt"));
		}

	}

}
