package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

/**
 * Whoever knows the id of a job can look at it, while it runs and afterwards, and sees
 * what is true.
 */
@ServiceTest(properties = "pipeset.limits.max-items=100000")
class JobLookTests {

	private static final String METER = "/actuator/metrics/pipeset.memory.used";

	private static final String VALUE = "/measurements/0/value";

	private static final String UNKNOWN = "01a20347-d60e-7396-9c73-7157c8413711";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobLookTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void theLabelOfAJobIsShownWhereverTheJobIs() {
		String label = "feed%20%C2%AB7%C2%BB";
		String location = this.service.post("/v1/jobs?op=SET&label=" + label, "text/csv", "key,value\na,1\n")
			.header("Location");
		assertThat(this.service.get(location).json().at("/label").asString()).isEqualTo("feed «7»");
		assertThat(this.service.get(location).json().at("/settings/label").asString()).isEqualTo("feed «7»");
		JsonNode jobs = this.service.get("/v1/jobs?limit=1").json().get("jobs");
		assertThat(jobs.at("/0/label").asString()).isEqualTo("feed «7»");
		String unnamed = this.service.post("/pipeset/1").header("Location");
		assertThat(this.service.get(unnamed).json().has("label")).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "%20%20", "a%0Ab", "a%E2%80%AEb", "%00", "%7F", "a%E2%80%A8b" })
	void aLabelHasVisibleCharactersOnly(String label) {
		assertThat(this.service.post("/pipeset/1?label=" + label).refusal(400, "invalid-setting"))
			.startsWith("'label' must be 1 to 120 visible characters");
	}

	@Test
	void aLabelHasAtMost120Characters() {
		assertThat(this.service.post("/pipeset/1?label=" + "%F0%9F%98%80".repeat(120)).status()).isEqualTo(200);
		this.service.post("/pipeset/1?label=" + "a".repeat(121)).refusal(400, "invalid-setting");
		this.service.post("/pipeset/1?label=").refusal(400, "invalid-setting");
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/5, 200", "/piperpop/3, 200", "/pipeset/5?dryRun=true, 200",
			"/v1/jobs?from=scan&match=*&op=UNLINK, 200", "/piperpop/3?reliable=true, 200" })
	void anAnswerNamesItsJobWhoseReportIsThatOfTheAnswer(String call, int status) {
		this.service.post("/listinput/mylist9?count=2").report();
		Answer answer = this.service.post(call);
		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.header("Location")).isEqualTo("/v1/jobs/" + answer.json().get("jobId").asString());
		Answer look = this.service.get(answer.header("Location"));
		assertThat(look.status()).isEqualTo(200);
		assertThat(look.headers().firstValue("Retry-After")).isEmpty();
		ObjectNode report = (ObjectNode) look.json();
		JsonNode progress = report.remove("progress");
		assertThat(report).isEqualTo(answer.json());
		Counts counts = Answer.counts(answer.json());
		assertThat(progress.get("done").asLong()).isEqualTo(counts.received());
		assertThat(progress.get("read").asLong()).isEqualTo(counts.received());
		assertThat(progress.path("share").asDouble(1)).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/html", "text/plain", "application/problem+json" })
	void anAnswerIsJsonWhateverItsCallerAccepts(String accept) {
		String job = this.service.post("/pipeset/1").header("Location");
		for (String path : List.of("/v1/jobs", job)) {
			Answer answer = this.service.send(this.service.request(path).header("Accept", accept).GET());
			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.header("Content-Type")).isEqualTo("application/json");
		}
	}

	@Test
	void aJobThatDidNotCompleteSaysWhy() {
		Answer answer = this.service.post("/v1/jobs", Service.JSON, "[[\"SET\",\"a\",\"1\"],x");
		answer.problem(400, "malformed-body");
		JsonNode look = this.service.get(answer.header("Location")).json();
		assertThat(look.get("state").asString()).isEqualTo("failed");
		assertThat(look.at("/ending/type").asString()).isEqualTo("malformed-body");
		assertThat(look.at("/ending/detail").asString()).isEqualTo(answer.json().get("detail").asString());
		assertThat(look.get("counts")).isEqualTo(answer.json().at("/job/counts"));
	}

	@Test
	void anAnalysisAndATuningAreJobsOfTheirOwnKind() {
		this.service.post("/pipeset/20").report();
		Answer analysis = this.service.post("/v1/analyses");
		Answer csv = this.service
			.send(this.service.request("/v1/analyses").header("Accept", "text/csv").POST(BodyPublishers.noBody()));
		Answer tuning = this.service
			.post("/v1/tunings?records=1000&runs=1&batchSizes=100&flushes=close&concurrencies=1");
		for (Answer answer : List.of(analysis, csv, tuning)) {
			assertThat(answer.status()).as(answer.text()).isEqualTo(200);
			String location = answer.header("Location");
			JsonNode look = this.service.get(location).json();
			String id = location.substring("/v1/jobs/".length());
			assertThat(look.path("analysisId").asString("") + look.path("tuningId").asString("")).isEqualTo(id);
			assertThat(look.get("state").asString()).isEqualTo("completed");
			boolean tunes = look.has("tuningId");
			assertThat(look.at("/progress/done").asLong()).isEqualTo((tunes) ? 4 : 20);
			assertThat(status(id).get("kind").asString()).isEqualTo((tunes) ? "tuning" : "analysis");
			assertThat(status(id).has("counts")).isFalse();
		}
		assertThat(this.service.get(analysis.header("Location")).json().get("prefixes"))
			.isEqualTo(analysis.json().get("prefixes"));
	}

	@Test
	void aReportThatIsTooLargeToBeKeptLosesItsListsAndNothingElse() {
		Answer answer = this.service.ndjson("/v1/jobs",
				IntStream.range(0, 2000).mapToObj((i) -> "[\"NO\",\"k\"]").toArray(String[]::new));
		assertThat(answer.json().get("items").size()).isEqualTo(2000);
		JsonNode look = this.service.get(answer.header("Location")).json();
		assertThat(look.get("items").size()).isZero();
		assertThat(look.get("itemsOmitted").asInt()).isEqualTo(2000);
		assertThat(look.get("counts")).isEqualTo(answer.json().get("counts"));
	}

	@Test
	void aReportThatIsTooLargeIsNotHeldByWhoeverLooksAtTheJobThatRuns() throws IOException {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs")) {
			wire.chunk("[\"NO\",\"k\"]\n".repeat(20));
			String id = this.service.awaitJob("running");
			await().until(() -> this.service.get("/v1/jobs/" + id).json().get("items").size() == 20);
			wire.chunk("[\"NO\",\"k\"]\n".repeat(1980));
			await()
				.until(() -> this.service.get("/v1/jobs/" + id).json().at("/errorCodes").toString().contains("2000"));
			for (Answer answer : List.of(this.service.get("/v1/jobs/" + id),
					this.service.patch("/v1/jobs/" + id + "?rateLimit=none"))) {
				assertThat(answer.json().get("items").size()).isZero();
				assertThat(answer.json().get("itemsOmitted").asInt()).isEqualTo(2000);
			}
			assertThat(wire.lastChunk().answer().report().get("items").size()).isEqualTo(2000);
		}
	}

	@Test
	void theMemoryOfTemplatesIsCountedWhileTheirJobRunsAndAsLongAsItsReportIsKept() throws IOException {
		String call = "/v1/jobs?op=HSET&dryRun=true&key={a}&fields=a&header=a" + ",b".repeat(3500);
		await().until(() -> this.service.get(METER).json().at(VALUE).asLong() == 0);
		try (Wire wire = Wire.post(this.service, call, "Content-Type: text/csv", "Transfer-Encoding: chunked")) {
			String id = this.service.awaitJob("running");
			assertThat(this.service.get(METER).json().at(VALUE).asLong()).isGreaterThan(3500 * 60);
			wire.chunk("1" + ",2".repeat(3500) + "\n").lastChunk().answer().report();
			assertThat(this.service.get("/v1/jobs/" + id).json().at("/settings/header").size()).isEqualTo(3501);
			for (int i = 0; i < 20; i++) {
				try (Wire other = Wire.post(this.service, call, "Content-Type: text/csv", "Content-Length: 0")) {
					other.answer().report();
				}
			}
			assertThat(this.service.get("/v1/jobs/" + id).status()).as("4 MB of reports").isEqualTo(404);
		}
	}

	@Test
	void aJobThatRunsTellsWhatIsInRedisAndHowMuchOfItsBodyIsRead() throws IOException {
		double before = meter("pipeset.records", "applied");
		String line = "[\"SET\",\"k%04d\",\"v\"]\n";
		StringBuilder body = new StringBuilder();
		for (int i = 0; i < 1000; i++) {
			body.append(line.formatted(i));
		}
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Content-Length: " + 4 * body.length())) {
			for (int quarter = 1; quarter <= 3; quarter++) {
				wire.send(body.toString().replace("\"k", "\"q" + quarter).replace("q" + quarter + "0", "q" + quarter));
			}
			String id = this.service.awaitJob("running");
			await().until(() -> this.redis.dbsize() == 3000);
			await().untilAsserted(() -> {
				Answer answer = this.service.get("/v1/jobs/" + id);
				assertThat(answer.header("Retry-After")).isEqualTo("1");
				JsonNode look = answer.json();
				assertThat(look.get("state").asString()).isEqualTo("running");
				assertThat(Answer.counts(look)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
				assertThat(look.at("/progress/done").asLong()).isEqualTo(3000);
				assertThat(look.at("/progress/share").asDouble()).isCloseTo(0.75, within(0.01));
				assertThat(look.at("/progress/leftMillis").asLong(-1)).isPositive();
				assertThat(look.at("/progress").has("total")).isFalse();
			});
			assertThat(status(id).get("counts")).isEqualTo(this.service.get("/v1/jobs/" + id).json().get("counts"));
			await("meters grow with each batch").until(() -> meter("pipeset.records", "applied") == before + 3000);
		}
	}

	@Test
	void theShareOfAJobIsNotThatOfTheBytesInItsBuffer() throws IOException {
		String body = "[\"SET\",\"k\",\"v\"]\n".repeat(1000);
		try (Wire wire = Wire.post(this.service, "/v1/jobs?rateLimit=1", "Content-Type: application/x-ndjson",
				"Content-Length: " + body.length())) {
			wire.send(body);
			String id = this.service.awaitJob("running");
			await().untilAsserted(() -> {
				JsonNode progress = this.service.get("/v1/jobs/" + id).json().get("progress");
				assertThat(progress.get("done").asLong()).isPositive();
				assertThat(progress.get("share").asDouble()).isCloseTo(progress.get("done").asLong() / 1000.0,
						within(0.01));
			});
			this.service.delete("/v1/jobs/" + id);
			wire.answer().job(409, "cancelled", "cancelled");
		}
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/4, Transfer-Encoding: chunked, 0.5, 4", "/v1/jobs, Transfer-Encoding: chunked, -1, -1" })
	void theShareIsThatOfTheDeclaredRecordsOrUnknown(String call, String header, double share, long total)
			throws IOException {
		try (Wire wire = Wire.post(this.service, call, "Content-Type: application/x-ndjson", header)) {
			wire.chunk("[\"SET\",\"a\",\"1\"]\n[\"SET\",\"b\",\"1\"]\n");
			String id = this.service.awaitJob("running");
			await().untilAsserted(() -> {
				JsonNode progress = this.service.get("/v1/jobs/" + id).json().get("progress");
				assertThat(progress.get("done").asLong()).isEqualTo(2);
				assertThat(progress.path("share").asDouble(-1)).isEqualTo(share);
				assertThat(progress.path("total").asLong(-1)).isEqualTo(total);
			});
		}
	}

	@Test
	void anAnalysisThatRunsTellsHowManyKeysItHasSeen() throws Exception {
		this.service.post("/pipeset/3000").report();
		CompletableFuture<Answer> analysis = this.service
			.sendAsync(this.service.request("/v1/analyses?rateLimit=100&scanCount=10").POST(BodyPublishers.noBody()));
		String id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/progress/done").asLong() > 0);
		JsonNode look = this.service.get("/v1/jobs/" + id).json();
		assertThat(look.get("kind").asString()).isEqualTo("analysis");
		assertThat(look.get("state").asString()).isEqualTo("running");
		assertThat(this.service.patch("/v1/jobs/" + id + "?rateLimit=none").status()).isEqualTo(200);
		assertThat(analysis.get(1, TimeUnit.MINUTES).json().get("keys").asLong()).isEqualTo(3000);
	}

	@Test
	void jobsAreListedInPagesTheNewestFirst() {
		String analysis = this.service.post("/v1/analyses").json().get("analysisId").asString();
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			ids.add(0, this.service.post("/pipeset/1").json().get("jobId").asString());
		}
		List<String> listed = new ArrayList<>();
		String after = "";
		for (int page = 0; page < 3; page++) {
			JsonNode found = this.service.get("/v1/jobs?limit=2" + after).json();
			listed.addAll(ids(found));
			after = "&after=" + found.get("next").asString();
		}
		assertThat(listed).hasSize(6).startsWith(ids.toArray(String[]::new));
		assertThat(ids(this.service.get("/v1/jobs").json())).startsWith(ids.toArray(String[]::new));
		assertThat(this.service.get("/v1/jobs?state=running").json()).hasToString("{\"jobs\":[]}");
		assertThat(ids(this.service.get("/v1/jobs?state=completed").json())).contains(ids.get(0));
		assertThat(ids(this.service.get("/v1/jobs?kind=analysis&limit=1").json())).containsExactly(analysis);
		assertThat(ids(this.service.get("/v1/jobs?kind=analysis&state=running").json())).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "/v1/jobs?from=scan&match=*&op=UNLINK, false",
			"/v1/jobs?from=scan&match=*&op=UNLINK&dryRun=true, true", "/pipeset/5?dryRun=true, true",
			"/pipeset/5?dryRun=false, false" })
	void aDryRunIsToldFromOtherJobs(String call, boolean dry) {
		String id = this.service.post(call).report().get("jobId").asString();
		assertThat(status(id).has("dryRun")).isEqualTo(dry);
		assertThat(status(id).path("dryRun").asBoolean(false)).isEqualTo(dry);
		assertThat(this.service.get("/v1/jobs/" + id + "/events").text().contains("\"dryRun\":true")).isEqualTo(dry);
	}

	@Test
	void aRequestThatNeverWasAJobIsNone() {
		this.service.post("/pipeset/1?batchSize=0").refusal(400, "invalid-setting");
		assertThat(this.service.post("/pipeset/1?batchSize=0").headers().firstValue("Location")).isEmpty();
		assertThat(this.service.get("/v1/jobs/" + UNKNOWN).refusal(404, "not-found")).contains(UNKNOWN);
		assertThat(this.service.get("/v1/jobs/x/events").refusal(404, "not-found")).contains("'x'");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			?state=done            | 'state' must be one of queued, running, completed, | invalid-setting
			?limit=0               | 'limit' must be                                    | invalid-setting
			?limit=1001            | 'limit' must be 1 to 1000, not '1001'              | invalid-setting
			?after=1               | 'after' must be the id of a job, not '1'           | invalid-setting
			?kind=job              | 'kind' must be one of records, analysis, tuning    | invalid-setting
			?from=scan             | available are state, kind, limit, after            | unknown-setting
			/01a20347-d60e?x=1     | There is no setting 'x' here                       | unknown-setting
			""")
	void badParametersAreRefusedByName(String query, String message, String type) {
		assertThat(this.service.get("/v1/jobs" + query).refusal(400, type)).contains(message);
	}

	private JsonNode status(String id) {
		JsonNode jobs = this.service.get("/v1/jobs").json().get("jobs");
		return StreamSupport.stream(jobs.spliterator(), false)
			.filter((job) -> job.get("jobId").asString().equals(id))
			.findFirst()
			.orElseThrow();
	}

	private static List<String> ids(JsonNode page) {
		return StreamSupport.stream(page.get("jobs").spliterator(), false)
			.map((job) -> job.get("jobId").asString())
			.toList();
	}

	private double meter(String name, String outcome) {
		return this.service.get("/actuator/metrics/" + name + "?tag=op:SET&tag=outcome:" + outcome)
			.json()
			.at(VALUE)
			.asDouble(0);
	}

}
