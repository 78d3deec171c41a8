package io.pipeset.project;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The container of {@code k8s/jobs/load-parts} as a process, with its command and its
 * variables. What it calls answers as the service does.
 */
class LoadPartsJobTests {

	private static final Path FOLDER = Path.of("k8s", "jobs", "load-parts");

	private static final String JOB = "/v1/jobs/01a2";

	private static final String DONE = "{\"jobId\":\"01a2\",\"label\":\"\\\"state\\\":\\\"x\\\"\",\"state\":\"completed\","
			+ "\"errors\":false,\"counts\":{\"received\":2,\"applied\":2},\"items\":[]}";

	private static final String RUNNING = DONE.replace("completed", "running").replace("false", "true");

	private final Deque<Answered> answers = new ArrayDeque<>();

	private final List<Asked> asked = new CopyOnWriteArrayList<>();

	private HttpServer server;

	@TempDir
	private Path temp;

	@BeforeEach
	void start() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	@AfterEach
	void stop() {
		this.server.stop(0);
	}

	@Test
	void aPodHasItsPartLoadedAndWaitsForTheReport() throws Exception {
		answers(new Answered(429, null, "{}"), new Answered(503, null, "{}"), new Answered(202, JOB, "{}"),
				new Answered(200, JOB, RUNNING), new Answered(429, null, "{}"), new Answered(200, JOB, DONE));
		assertThat(run(0))
			.isEqualTo("https://bucket.example/export/part-3.csv.gz: \"counts\":{\"received\":2,\"applied\":2}\n");
		assertThat(this.asked).hasSize(6)
			.allSatisfy((request) -> assertThat(request.headers).containsEntry("Authorization", "Bearer the-key"));
		assertThat(this.asked.subList(0, 3)).allSatisfy((request) -> {
			assertThat(request.method).isEqualTo("POST");
			assertThat(request.url.getPath()).isEqualTo("/v1/jobs");
			assertThat(request.url.getQuery()).isEqualTo("from=url&url=https://bucket.example/export/part-3.csv.gz"
					+ "&op=HSET&key=product:{sku}&label=load/3");
			assertThat(request.headers).containsEntry("Prefer", "respond-async")
				.containsEntry("Idempotency-key", "uid-of-the-job-3");
		});
		assertThat(this.asked.subList(3, 6)).allSatisfy((request) -> {
			assertThat(request.method).isEqualTo("GET");
			assertThat(request.url).hasToString(JOB);
		});
	}

	/** In use, replayed, or interrupted and resumed meanwhile. */
	@ParameterizedTest
	@CsvSource({ "409", "200", "502" })
	void aPodThatTakesAnothersPlaceFindsItsJob(int status) throws Exception {
		answers(new Answered(status, JOB, "{}"), new Answered(200, JOB, DONE));
		assertThat(run(0)).contains("applied");
	}

	@ParameterizedTest
	@CsvSource({ "completed, 3", "stopped, 3", "failed, 3", "cancelled, 3", "interrupted, 1" })
	void aPodFailsIfItsPartWasNotLoadedWhole(String state, int exit) throws Exception {
		answers(new Answered(202, JOB, "{}"), new Answered(200, JOB, RUNNING.replace("running", state)));
		assertThat(run(exit)).contains("part-3.csv.gz: ", "\"received\":2");
	}

	@ParameterizedTest
	@CsvSource({ "400, 3", "401, 3", "403, 3", "500, 1" })
	void whatIsRefusedFailsAtOnce(int status, int exit) throws Exception {
		answers(new Answered(status, null, "{\"detail\":\"No\"}"));
		assertThat(run(exit)).contains("Not accepted: " + status, "No").doesNotContain("the-key");
	}

	@Test
	void aPodGivesUpOneDay() throws Exception {
		answers(new Answered(429, null, "{}"), new Answered(429, null, "{}"), new Answered(429, null, "{}"));
		assertThat(run(1)).contains("Gave up");
	}

	private void answers(Answered... all) {
		this.answers.addAll(Arrays.asList(all));
	}

	private void answer(HttpExchange exchange) throws IOException {
		Map<String, String> headers = new HashMap<>();
		exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.get(0)));
		this.asked.add(new Asked(exchange.getRequestMethod(), exchange.getRequestURI(), headers));
		Answered next = this.answers.remove();
		exchange.getResponseHeaders().set("Retry-After", "0");
		if (next.location != null) {
			exchange.getResponseHeaders().set("Location", next.location);
		}
		byte[] body = next.body.getBytes(StandardCharsets.UTF_8);
		exchange.sendResponseHeaders(next.status, body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

	/** What the container prints. */
	private String run(int exit) throws Exception {
		Map<?, ?> job = new Yaml().load(Files.readString(FOLDER.resolve("job.yaml")));
		Map<?, ?> pod = (Map<?, ?>) ((Map<?, ?>) ((Map<?, ?>) job.get("spec")).get("template")).get("spec");
		Map<?, ?> container = (Map<?, ?>) ((List<?>) pod.get("containers")).get(0);
		List<String> command = ((List<?>) container.get("command")).stream()
			.map((word) -> word.toString().replace("/etc/load", FOLDER.toAbsolutePath().toString()))
			.toList();
		ProcessBuilder builder = new ProcessBuilder(command).directory(this.temp.toFile()).redirectErrorStream(true);
		Map<String, String> environment = builder.environment();
		for (Object variable : (List<?>) container.get("env")) {
			Map<?, ?> each = (Map<?, ?>) variable;
			environment.put(each.get("name").toString(), String.valueOf(each.get("value")));
		}
		assertThat(environment).containsEntry("JOB_UID", "null").containsEntry("JOB_NAME", "null");
		environment.putAll(Map.of("PIPESET_URL", "http://127.0.0.1:" + this.server.getAddress().getPort(), "CA_FILE",
				"", "KEY_FILE", Files.writeString(this.temp.resolve("key"), "the-key\n").toString(), "JOB_UID",
				"uid-of-the-job", "JOB_NAME", "load", "JOB_COMPLETION_INDEX", "3", "ATTEMPTS", "2", "TMPDIR",
				this.temp.toString()));
		Process process = builder.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
		assertThat(process.exitValue()).as(output).isEqualTo(exit);
		assertThat(this.answers).isEmpty();
		return output;
	}

	private record Asked(String method, URI url, Map<String, String> headers) {

	}

	private record Answered(int status, @Nullable String location, String body) {

	}

}
