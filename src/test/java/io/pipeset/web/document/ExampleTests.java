package io.pipeset.web.document;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import io.pipeset.web.Call;
import io.pipeset.web.problem.Problem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The examples of the OpenAPI document are answers of the service. Other tests check the
 * examples that need a fault of Redis or another process.
 */
@ServiceTest(properties = { ServiceTest.KEY + "=all-key",
		"pipeset.clients.all.key-sha256=c9fba672736dfdaebd80504b8eaafb1ed81099e499e73a1a215bae27a83b62f5",
		"pipeset.clients.all.scripts=true", "pipeset.clients.all.analyses=true", "pipeset.clients.all.tunings=true",
		"pipeset.clients.few.key-sha256=0222aef25677eab27e787fd86938deae49e93a3e4828f19212bca279273067ac",
		"pipeset.limits.max-body-bytes=10KB", "pipeset.limits.max-event-streams=0", "pipeset.spool.max-bytes=1KB",
		"pipeset.tuning.enabled=false" })
class ExampleTests {

	/** The tests that compare other examples with answers. */
	private static final Map<Problem, String> ELSEWHERE = Map.ofEntries(
			Map.entry(Problem.REDIS_REFUSES_THE_REST, "web/fault/RedisFaultTests"),
			Map.entry(Problem.REDIS_REFUSES, "web/fault/RedisFaultTests"),
			Map.entry(Problem.REDIS_LOST, "web/fault/AtomicFaultTests"),
			Map.entry(Problem.REDIS_UNREACHABLE, "web/fault/RetryTests"),
			Map.entry(Problem.CONTROL_UNREACHABLE, "web/job/CutOffKeyTests"),
			Map.entry(Problem.SHUTTING_DOWN, "web/operator/ShutdownTests"),
			Map.entry(Problem.INTERRUPTED, "web/job/ResumeTests"),
			Map.entry(Problem.NOT_REPEATABLE, "web/job/ResumeTests"),
			Map.entry(Problem.HELD_ELSEWHERE, "web/replica/OtherInstanceTests"),
			Map.entry(Problem.INTERNAL_SERVER_ERROR, "web/server/FallbackErrorFilterTests"),
			Map.entry(Problem.SOURCE_FAILED, "web/source/UrlSourceTests"),
			Map.entry(Problem.STALLED, "web/upload/StalledUploadTests"));

	/** No call of the document has the problem, or no test can cause it reliably. */
	private static final Set<Problem> WITHOUT_EXAMPLE = Set.of(Problem.METHOD_NOT_ALLOWED, Problem.NOT_ACCEPTABLE,
			Problem.NO_ROOM);

	private static final String UNKNOWN = "/v1/jobs/01a1fe42-e2a9-737d-8382-d7f64ec595eb";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Service service;

	private final Set<String> checked = new TreeSet<>();

	ExampleTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void everyProblemHasARealAnswerAsItsExample() throws Exception {
		Service stranger = this.service.as(null);
		check(400, "bad-request", wire("GET //v1/jobs HTTP/1.1", "Host: localhost", key()));
		check(400, "invalid-setting", this.service.post("/v1/jobs?batchSize=0"));
		check(400, "unknown-setting", this.service.post("/v1/jobs?batchsize=10"));
		check(400, "not-available", this.service.post("/pipeset/10?until=empty"));
		check(400, "invalid-count", this.service.post("/pipeset/many"));
		check(400, "invalid-key", this.service.post("/listinput/a%2Fb"));
		check(400, "invalid-script", this.service.post("/v1/scripts", "text/plain", "return redis.call("));
		check(400, "invalid-header", this.service.send(keyed("two words", "x")));
		check(400, "unexpected-body", this.service.post("/v1/analyses", Service.JSON, "[]"));
		check(400, "malformed-body", this.service.post("/v1/jobs", Service.JSON, "[[\"SET\",\"user:1\",\"Ada\"]"));
		check(401, "unauthorized", stranger.post("/pipeset/10"));
		check(403, "forbidden", this.service.as("few-key").post("/v1/scripts", "text/plain", "return 1"));
		check(403, "foreign-request", this.service
			.send(this.service.request("/pipeset/10").header("Origin", "https://example.com").POST(none())));
		check(403, "disabled", this.service.post("/v1/tunings"));
		check(404, "not-found", this.service.get(UNKNOWN));
		check(410, "gone", this.service.post(UNKNOWN + "/ack"));
		check(413, "limit", this.service.ndjson("/v1/jobs", "x".repeat(10241)));
		check(415, "unsupported-media-type", this.service.post("/v1/jobs", "application/xml", "<records/>"));
		check(415, "unsupported-content-encoding",
				this.service.send(this.service.request("/v1/jobs")
					.header("Content-Type", Service.NDJSON)
					.header("Content-Encoding", "br")
					.POST(BodyPublishers.ofString("x"))));
		check(422, "stopped",
				this.service.ndjson("/v1/jobs?maxErrors=0", "[\"SET\",\"user:1\"]", "[\"SET\",\"user:2\",\"Grace\"]"));
		check(422, "count-mismatch", this.service.ndjson("/pipeset/2", "{\"key\":\"user:1\",\"value\":\"Ada\"}"));
		this.service.send(keyed("order-17", "[\"SET\",\"user:1\",\"Ada\"]\n")).report();
		check(422, "idempotency-key-reused", this.service.send(keyed("order-17", "[\"SET\",\"user:2\",\"Grace\"]\n")));
		check(431, "request-header-fields-too-large",
				wire("GET / HTTP/1.1", "Host: localhost", "A: " + "a".repeat(8192)));
		check(507, "insufficient-storage",
				this.service.send(this.service.request("/v1/jobs")
					.header("Content-Type", Service.NDJSON)
					.header("Prefer", "respond-async")
					.POST(BodyPublishers.ofString("x".repeat(2000)))));
		checkProblemsOfJobs();
		Stream.of(Problem.values())
			.filter((problem) -> !ELSEWHERE.containsKey(problem) && !WITHOUT_EXAMPLE.contains(problem))
			.forEach((problem) -> assertThat(this.checked).contains(OpenApi.exampleName(problem)));
	}

	private void checkProblemsOfJobs() throws Exception {
		String ended = "/v1/jobs/" + this.service.post("/pipeset/1").report().get("jobId").asString();
		check(409, "ended", this.service.delete(ended));
		check(409, "no-items", this.service.get(ended + "/items"));
		check(409, "not-interrupted", this.service.post(ended + "/resume"));
		check(429, "limit", this.service.get(ended + "/events"));
		this.redis.lpush("mylist9", "a");
		String popped = this.service.post("/piperpop/1?reliable=true").report().get("jobId").asString();
		this.redis.hset("pipeset:receipt:" + popped, "state", "popping");
		check(409, "receipt-pending", this.service.post("/v1/jobs/" + popped + "/ack"));
		HttpRequest.Builder slow = this.service.request("/pipeset/1000?rateLimit=1")
			.header("Idempotency-Key", "order-18")
			.header("Prefer", "respond-async")
			.POST(none());
		String running = this.service.send(slow).header("Location");
		check(409, "not-ended", this.service.get(running + "/items"));
		check(409, "idempotency-key-in-use", this.service.send(slow));
		this.service.delete(running);
		var cancelled = this.service.sendAsync(this.service.request("/pipeset/1000?rateLimit=1").POST(none()));
		await().until(() -> this.service.get("/v1/jobs?state=cancelled").json().get("jobs").size() == 1);
		String second = "/v1/jobs/" + this.service.awaitJob("running");
		await().until(() -> this.service.get(second).json().at("/counts/applied").asInt() > 0);
		this.service.delete(second);
		check(409, "cancelled", cancelled.get());
	}

	@Test
	void otherTestsCheckTheOtherExamples() throws IOException {
		for (Map.Entry<Problem, String> test : ELSEWHERE.entrySet()) {
			assertThat(Files.readString(Path.of("src/test/java/io/pipeset/" + test.getValue() + ".java")))
				.contains("Examples.check(" + test.getKey().status().value() + ", \"" + test.getKey().type() + "\"");
		}
	}

	@Test
	void otherAnswersEqualTheirExamples() {
		this.service.post("/pipeset/1").report();
		this.service.post("/pipeset/1").report();
		Map<String, Supplier<Answer>> requests = Map.of("runJob-200-json", () -> this.service
			.ndjson("/v1/jobs?results=errors", "[\"SET\",\"user:1\",\"Ada\"]", "[\"SET\",\"user:2\"]"),
				"piperpop-200-json", () -> {
					this.redis.lpush("mylist9", "a", "b");
					return this.service.post("/piperpop/2?reliable=true");
				}, "runJob-202-json",
				() -> this.service.send(this.service.request("/pipeset/1000?rateLimit=1")
					.header("Prefer", "respond-async")
					.POST(none())),
				"listJobs-200-json", () -> {
					this.service.post("/pipeset/2?dryRun=true").report();
					return this.service.get("/v1/jobs?limit=1");
				}, "getJob-200-json", () -> this.service.get(this.service.post("/pipeset/3").header("Location")),
				"listSources-200-json", () -> this.service.get("/v1/sources"), "listCalls-200-json",
				() -> this.service.get("/"), "loadScript-200-json",
				() -> this.service.post("/v1/scripts", "text/plain", "return redis.call('GET', KEYS[1])"),
				"analyse-200-json", () -> {
					this.service.post("/pipeset/1000").report();
					return this.service.post("/v1/analyses?top=1");
				});
		requests.forEach((name, request) -> Examples.checkAnswer(name, request.get()));
		this.service.delete("/v1/jobs/" + this.service.awaitJob("running"));
		Set<String> expected = Stream.of(Call.values())
			.flatMap((call) -> call.answers()
				.stream()
				.filter((answer) -> answer.type() != null && answer.type() != Map.class)
				.map((answer) -> OpenApi.exampleName(call, answer)))
			.collect(Collectors.toCollection(TreeSet::new));
		expected.removeAll(requests.keySet());
		assertThat(expected).as("the tests of tunings check their example").containsExactly("tune-200-json");
	}

	@ParameterizedTest
	@CsvSource({ "application/x-ndjson, 3", "application/json, 3", "text/csv, 3", "text/tab-separated-values, 3",
			"text/plain, 3", "application/x-redis-resp, 3" })
	void theExamplesOfBodiesRun(String type, int records) {
		var example = this.service.get(Call.GET_DOCUMENT.path())
			.json()
			.at("/paths/~1v1~1jobs/post/requestBody/content/" + type.replace("/", "~1") + "/example");
		assertThat(Answer
			.counts(this.service.post("/v1/jobs", type, (example.isString()) ? example.asString() : example.toString())
				.report())
			.applied()).isEqualTo(records);
	}

	private void check(int status, String type, Answer answer) {
		Examples.check(status, type, answer);
		this.checked.add(status + "-" + type);
	}

	private Answer wire(String... lines) throws IOException {
		try (Wire wire = Wire.open(this.service, lines)) {
			return wire.answer();
		}
	}

	private HttpRequest.Builder keyed(String key, String body) {
		return this.service.request("/v1/jobs")
			.header("Content-Type", Service.NDJSON)
			.header("Idempotency-Key", key)
			.POST(BodyPublishers.ofString(body));
	}

	private static HttpRequest.BodyPublisher none() {
		return BodyPublishers.noBody();
	}

	private static String key() {
		return "Authorization: Bearer all-key";
	}

}
