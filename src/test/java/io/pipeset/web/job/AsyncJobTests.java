package io.pipeset.web.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SpoolFiles;
import io.pipeset.service.Wire;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A caller that prefers not to wait is answered once its job is taken whole, and finds
 * out later.
 */
@ServiceTest(properties = { "pipeset.spool.directory=target/spool/async", "pipeset.limits.max-running-jobs=1",
		"pipeset.limits.max-async-jobs=3", "pipeset.limits.max-wait=100ms", "pipeset.limits.max-items=100000",
		"pipeset.limits.max-body-bytes=2MB", "spring.data.redis.timeout=10m", "pipeset.defaults.timeout=10m" })
class AsyncJobTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static final Path SPOOL = Path.of("target/spool/async");

	private final Service service;

	/** The bodies that are kept for the items of other tests' jobs. */
	private List<Path> before = List.of();

	AsyncJobTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() throws IOException {
		this.before = bodies();
		this.service.connect();
		redis.client().flushall();
	}

	@Test
	void anUploadIsTakenWholeAndRunsWithoutItsCaller() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 0, 0);
		Answer answer;
		try (Wire wire = async("/v1/jobs?op=SET")) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"val");
			await().until(() -> bodies().size() == 1);
			assertThat(this.service.get("/v1/jobs?state=queued").json().get("jobs")).isEmpty();
			assertThat(redis.client().dbsize()).isZero();
			answer = wire.chunk("ue\":\"2\"}\nbad\n").lastChunk().answer();
		}
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		assertThat(answer.header("Preference-Applied")).isEqualTo("respond-async");
		assertThat(answer.header("Retry-After")).isEqualTo("1");
		assertThat(answer.header("Content-Type")).isEqualTo("application/json");
		JsonNode status = answer.json();
		assertThat(answer.header("Location")).isEqualTo("/v1/jobs/" + status.get("jobId").asString());
		assertThat(status.get("state").asString()).isEqualTo("queued");
		assertThat(status.get("op").asString()).isEqualTo("SET");
		ProxyLink link = place.get(1, TimeUnit.MINUTES);
		assertThat(bodies()).singleElement().asString().contains(status.get("jobId").asString());
		link.goOn();
		JsonNode report = ended(answer);
		assertThat(report.get("state").asString()).isEqualTo("completed");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(3);
		assertThat(report.at("/progress/share").asDouble()).isEqualTo(1);
		assertThat(redis.client().mget("a", "b")).extracting((pair) -> pair.getValue()).containsExactly("1", "2");
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/5, 5", "/pipehset/5, 5", "/listinput/mylist9?count=5, 5", "/piperpop/5?reliable=true, 5",
			"/v1/jobs?from=scan&match=*&op=UNLINK, 2", "/piperpop/5?dryRun=true, 5" })
	void everyCallThatMakesAJobCanDoSo(String call, long records) {
		redis.client().lpush("mylist9", "1", "2", "3", "4", "5");
		redis.client().set("other", "1");
		JsonNode report = ended(async(call, null, null));
		assertThat(report.get("state").asString()).isEqualTo("completed");
		assertThat(Answer.counts(report).received()).isEqualTo(records);
		assertThat(report.at("/progress/done").asLong()).isEqualTo(records);
	}

	@Test
	void anAnalysisAndATuningAreJobsAsWell() {
		redis.client().set("session:1", "1");
		JsonNode analysis = ended(async("/v1/analyses", null, null));
		assertThat(analysis.get("keys").asLong()).isOne();
		JsonNode tuning = ended(
				async("/v1/tunings?records=1000&runs=1&batchSizes=100&flushes=close&concurrencies=1", null, null));
		assertThat(tuning.get("rows")).hasSize(1);
	}

	@Test
	void aCompressedFileOfRowsIsReadAsItsHeadersSay() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write("sid,name\n17,Ada\n18,Grace\n".getBytes(StandardCharsets.UTF_8));
		}
		Answer answer = this.service
			.send(preferring("/v1/jobs?op=HSET&key=session:%7Bsid%7D").header("Content-Type", "text/csv")
				.header("Content-Encoding", "gzip")
				.POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
		assertThat(Answer.counts(ended(answer)).applied()).isEqualTo(2);
		await().untilAsserted(() -> assertThat(bodies()).as("every record ran").isEmpty());
		assertThat(redis.client().hget("session:18", "name")).isEqualTo("Grace");
	}

	@Test
	void theNumberOfRecordsInThePathHolds() {
		JsonNode report = ended(async("/pipeset/3", Service.NDJSON, "[\"SET\",\"a\",\"1\"]\n"));
		assertThat(report.get("state").asString()).isEqualTo("failed");
		assertThat(report.at("/ending/type").asString()).isEqualTo("count-mismatch");
	}

	@Test
	void valuesThatWerePoppedReliablyAreInTheReportUntilTheyAreAcknowledged() {
		String value = "x".repeat(1000);
		redis.client().rpush("queue", IntStream.range(0, 200).mapToObj((i) -> value + i).toArray(String[]::new));
		Answer answer = async("/piperpop/200?key=queue&reliable=true", null, null);
		JsonNode report = ended(answer);
		assertThat(report.get("values")).as("more than 64 KB, which nobody else has").hasSize(200);
		assertThat(report.at("/values/0").asString()).isEqualTo(value + 199);
		assertThat(report.at("/receipt").isMissingNode()).isFalse();
		assertThat(report.at("/progress/done").asLong()).isEqualTo(200);
		assertThat(this.service.post(answer.header("Location") + "/ack").status()).isEqualTo(204);
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aLargeReportIsKeptWhole() {
		JsonNode report = ended(async("/v1/jobs?maxErrors=1500", Service.NDJSON, "[\"NO\",\"k\"]\n".repeat(2000)));
		assertThat(report.get("items")).hasSize(1501);
		assertThat(report.at("/items/1500/index").asInt()).isEqualTo(1500);
		assertThat(report.get("itemsOmitted").asInt()).isZero();
		assertThat(report.get("state").asString()).isEqualTo("stopped");
		assertThat(report.at("/ending/type").asString()).isEqualTo("stopped");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/3", "/piperpop/3?until=empty", "/v1/jobs?op=RPOP" })
	void noValueIsTakenThatNobodyWaitsFor(String call) {
		redis.client().rpush("mylist9", "1");
		Answer answer = (call.startsWith("/v1")) ? async(call, Service.NDJSON, "{\"key\":\"mylist9\"}\n")
				: async(call, null, null);
		assertThat(answer.refusal(400, "invalid-setting")).contains("reliable=true");
		assertThat(redis.client().llen("mylist9")).isOne();
	}

	@Test
	void aRecordThatWouldTakeAValueIsRefused() {
		redis.client().rpush("mylist9", "1");
		String body = "[\"RPOP\",\"mylist9\"]\n[\"LPOP\",\"mylist9\",\"2\"]\n[\"SET\",\"a\",\"1\"]\n";
		JsonNode report = ended(async("/v1/jobs", Service.NDJSON, body));
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
		assertThat(report.get("errorCodes")).hasToString("{\"FORBIDDEN\":2}");
		assertThat(report.at("/items/0/error/message").asString()).contains("reliable=true");
		assertThat(redis.client().llen("mylist9")).isOne();
	}

	@Test
	void aCallerThatGoesAwayDuringItsUploadHasNoJob() throws IOException {
		async("/v1/jobs?op=SET").chunk("{\"key\":\"a\",\"value\":\"1\"}\n").reset();
		await().until(() -> bodies().isEmpty());
		try (Wire wire = async("/v1/jobs?op=SET").chunk("{\"key\":\"a\",\"value\":\"1\"}\n")) {
			await().until(() -> bodies().size() == 1);
			wire.endOutput();
			assertThat(wire.answer().refusal(409, "cancelled")).contains("nothing was run");
		}
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aCallerThatGoesAwayAfterwardsDoesNotEndItsJob() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 0, 0);
		Wire wire = async("/v1/jobs?op=SET").chunk("{\"key\":\"a\",\"value\":\"1\"}\n").lastChunk();
		Answer answer = wire.answer();
		wire.reset();
		place.get(1, TimeUnit.MINUTES).goOn();
		assertThat(Answer.counts(ended(answer))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	@Test
	void aBodyThatIsTooLargeOrBrokenIsNoJob() throws IOException {
		assertThat(async("/v1/jobs", Service.NDJSON, "x".repeat((2 << 20) + 1)).refusal(413, "limit"))
			.contains("max-body-bytes");
		Wire large = async("/v1/jobs");
		large.chunk("x".repeat((2 << 20) + 1)).lastChunk();
		assertThat(large.answer().refusal(413, "limit")).contains("max-body-bytes");
		Wire broken = async("/v1/jobs");
		broken.chunk("[\"SET\",\"a\",\"1\"]\n").send("no chunk\r\n");
		assertThat(broken.answer().refusal(400, "malformed-body")).contains("At byte 16", "nothing was run");
		async("/v1/jobs?batchSize=0", Service.NDJSON, "[\"SET\",\"a\",\"1\"]\n").refusal(400, "invalid-setting");
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aJobWaitsForItsTurnLongerThanCallersDo() throws Exception {
		Wire first = this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		Answer waits = async("/v1/jobs", Service.NDJSON, "[\"SET\",\"second\",\"1\"]\n");
		assertThat(this.service.post("/pipeset/1").refusal(429, "limit")).contains("pipeset.limits.max-wait=100ms");
		assertThat(look(waits).get("state").asString()).isEqualTo("queued");
		first.lastChunk().answer().report();
		JsonNode report = ended(waits);
		assertThat(report.get("state").asString()).isEqualTo("completed");
		assertThat(report.at("/timings/waitMillis").asDouble()).isGreaterThan(100);
	}

	@Test
	void thereAreNoMoreOfThemThanMayBe() throws Exception {
		Wire first = this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		List<Answer> taken = List.of(async("/pipeset/1", null, null),
				async("/v1/jobs", Service.NDJSON, "[\"SET\",\"b\",\"1\"]\n"));
		Wire uploading = async("/v1/jobs").chunk("[\"SET\",\"c\",\"1\"]\n");
		await().until(() -> bodies().size() == 2);
		Answer refused = async("/v1/jobs", Service.NDJSON, "[\"SET\",\"d\",\"1\"]\n");
		assertThat(refused.refusal(429, "limit")).contains("pipeset.limits.max-async-jobs=3");
		assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
		Answer third = uploading.lastChunk().answer();
		first.lastChunk().answer().report();
		for (Answer answer : List.of(taken.get(0), taken.get(1), third)) {
			assertThat(ended(answer).get("state").asString()).isEqualTo("completed");
		}
		await().until(() -> async("/pipeset/1", null, null).status() == 202);
		await().until(() -> this.service.get("/v1/jobs?state=running").json().get("jobs").isEmpty());
		assertThat(redis.client().exists("b", "c", "d")).isEqualTo(2);
	}

	@Test
	void aJobThatWaitsForItsTurnCanBeCancelled() throws Exception {
		this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		Answer answer = async("/v1/jobs", Service.NDJSON, "[\"SET\",\"second\",\"1\"]\n");
		assertThat(this.service.delete(answer.header("Location")).status()).isEqualTo(202);
		JsonNode report = ended(answer);
		assertThat(report.get("state").asString()).isEqualTo("cancelled");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(this.service.get(answer.header("Location") + "/items").text()).contains("\"key\":\"second\"",
				"NOT_SENT");
		this.service.delete(answer.header("Location")).refusal(409, "ended");
		assertThat(redis.client().dbsize()).isOne();
	}

	@Test
	void aJobThatRunsCanBePacedAndCancelled() {
		Answer answer = async("/v1/jobs?rateLimit=1&results=none", Service.NDJSON,
				"[\"SET\",\"k\",\"v\"]\n".repeat(100_000));
		await().until(() -> redis.client().dbsize() == 1);
		assertThat(look(answer).at("/progress/share").asDouble()).isLessThan(0.1);
		assertThat(this.service.patch(answer.header("Location") + "?rateLimit=2").status()).isEqualTo(200);
		assertThat(look(answer).at("/settings/rateLimit").asInt()).isEqualTo(2);
		assertThat(this.service.delete(answer.header("Location")).status()).isEqualTo(202);
		JsonNode report = ended(answer);
		assertThat(report.get("state").asString()).isEqualTo("cancelled");
		assertThat(report.get("inputComplete").asBoolean()).isFalse();
		assertThat(report.at("/ending/type").asString()).isEqualTo("cancelled");
		long applied = Answer.counts(report).applied();
		assertThat(this.service.get(answer.header("Location") + "/items?status=unprocessed").text().lines().count())
			.isEqualTo(100_000 - applied);
	}

	@Test
	void aBatchThatIsOnItsWayKeepsItsOutcomesWhenItsJobIsCancelled() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		Answer answer = async("/v1/jobs?batchSize=1000&coalesce=off", Service.NDJSON,
				"[\"LPUSH\",\"queue\",\"v\"]\n".repeat(5000));
		ProxyLink link = place.get(1, TimeUnit.MINUTES);
		assertThat(this.service.delete(answer.header("Location")).status()).isEqualTo(202);
		assertThat(look(answer).get("state").asString()).isEqualTo("running");
		assertThat(bodies()).hasSize(1);
		link.goOn();
		JsonNode report = ended(answer);
		assertThat(report.get("state").asString()).isEqualTo("cancelled");
		assertThat(Answer.counts(report).applied()).isEqualTo(redis.client().llen("queue")).isBetween(1L, 5000L);
	}

	@Test
	void recordsOfALossAreToldApartAndPostedAgainTheyAllRun() throws Exception {
		// Otherwise a handshake could come to the place.
		await().until(() -> this.service.post("/pipeset/1000?concurrency=2").status() == 200 && proxy.links() > 1);
		redis.client().flushall();
		// The reply is broken off in its midst, so that its command is on its way.
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 100, 1);
		Answer answer = async("/v1/jobs?batchSize=1000&coalesce=off&concurrency=2", Service.NDJSON,
				IntStream.range(0, 5000)
					.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"v\"]\n")
					.collect(Collectors.joining()));
		place.get(1, TimeUnit.MINUTES).reset();
		JsonNode report = ended(answer);
		Counts counts = Answer.counts(report);
		assertThat(counts.unknown()).isPositive();
		Set<String> applied = new HashSet<>(redis.client().keys("*"));
		String items = answer.header("Location") + "/items?status=";
		String unknown = this.service.get(items + "unknown").text();
		String unprocessed = this.service.get(items + "unprocessed").text();
		assertThat(unknown.lines().count()).isEqualTo(counts.unknown());
		assertThat(unprocessed.lines().count()).isEqualTo(5000 - counts.applied() - counts.unknown());
		assertThat(unknown.lines()).allMatch((line) -> line.contains("CONNECTION_LOST"));
		assertThat(unprocessed.lines()).noneMatch((line) -> applied.contains(line.split("\"", -1)[7]));
		// A job gives its place back after it has ended.
		await().until(() -> this.service.get("/actuator/pipeset").json().get("jobsRunning").asInt() == 0);
		this.service.post("/v1/jobs", Service.NDJSON, this.service.get(items + "unknown,unprocessed").text()).report();
		assertThat(redis.client().dbsize()).isEqualTo(5000);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aBodyThatIsNotWholeOnDiskAnyMoreFailsItsJob(boolean truncated) throws Exception {
		Wire first = this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		Answer answer = async("/v1/jobs", Service.NDJSON,
				"[\"SET\",\"a\",\"1\"]\n[\"SET\",\"b\",\"1\"]\n[\"SET\",\"c\",\"1\"]\n");
		Path body = bodies().get(0);
		if (truncated) {
			Files.write(body, Arrays.copyOf(Files.readAllBytes(body), 20));
		}
		else {
			Files.delete(body);
		}
		first.lastChunk().answer().report();
		JsonNode report = ended(answer);
		assertThat(report.get("state").asString()).isEqualTo("failed");
		assertThat(report.at("/ending/type").asString()).isEqualTo("internal-server-error");
		assertThat(report.at("/ending/detail").asString()).contains("spool", (truncated) ? "20 of the 48" : "disk")
			.doesNotContain("target");
		assertThat(Answer.counts(report))
			.isEqualTo((truncated) ? new Counts(1, 1, 0, 0, 0, 0) : new Counts(0, 0, 0, 0, 0, 0));
	}

	private List<Path> bodies() throws IOException {
		return SpoolFiles.ending(SPOOL, ".body").stream().filter((file) -> !this.before.contains(file)).toList();
	}

	private HttpRequest.Builder preferring(String call) {
		return this.service.request(call).header("Prefer", "respond-async");
	}

	private Answer async(String call, @Nullable String type, @Nullable String body) {
		HttpRequest.Builder request = preferring(call);
		return this.service
			.send((type != null) ? request.header("Content-Type", type).POST(BodyPublishers.ofString(body))
					: request.POST(BodyPublishers.noBody()));
	}

	/** Begins a chunked upload. */
	private Wire async(String call) throws IOException {
		return this.service.keep(Wire.post(this.service, call, "Prefer: respond-async",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"));
	}

	private JsonNode look(Answer answer) {
		return this.service.get(answer.header("Location")).json();
	}

	/** The report of a job that was taken, once it has ended. */
	private JsonNode ended(Answer answer) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		await().until(() -> this.service.get(answer.header("Location")).headers().firstValue("Retry-After").isEmpty());
		return look(answer);
	}

}
