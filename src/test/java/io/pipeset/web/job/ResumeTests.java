package io.pipeset.web.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.JobRegistry;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.request.Client;
import io.pipeset.service.Answer;
import io.pipeset.service.LeftSpool;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SpoolFiles;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A process that finds the jobs of one that was killed knows how far each has come, and
 * goes on with those whose records may be repeated: no record is lost, none with an
 * outcome is sent again, and the report has all of them.
 */
@ServiceTest(properties = { "pipeset.jobs.lease=15s", "pipeset.defaults.coalesce=off", "pipeset.defaults.batch-size=77",
		"pipeset.defaults.ttl=90s" })
class ResumeTests {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private static final LeftSpool left = new LeftSpool(Path.of("target/spool/resume"), TestRedis.shared().identity());

	private static final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	private static final RedisCommands<String, String> control = client.connect(TestRedis.shared().controlUri()).sync();

	/** Connections of the process that was killed, if it were not gone. */
	private static final StatefulRedisConnection<String, String> ghost = client.connect();

	private static final StatefulRedisConnection<String, String> stranger = client.connect();

	private static final long GHOST = ghost.sync().clientId();

	private static final long STRANGER = stranger.sync().clientId();

	private static final String HALF = left.job(sets("half", 1000),
			LeftSpool.outcomes(LeftSpool.APPLIED, 10, LeftSpool.FAILURE, 1, LeftSpool.APPLIED, 489, LeftSpool.SENT, 90,
					0, 5, LeftSpool.SENT, 5),
			LeftSpool.WRONGTYPE, connection(ghost, null), connection(stranger, "another-life"));

	private static final String WAITED = left.job(sets("waited", 50), new int[0]);

	private static final String ALL_RAN = left.job(sets("ran", 50), LeftSpool.outcomes(LeftSpool.APPLIED, 50));

	private static final String IN_DOUBT = left.job("[\"HSET\",\"doubt\",\"f\",\"v\"]\n" + sets("doubt", 5),
			LeftSpool.outcomes(LeftSpool.SENT, 3));

	/** All ran, and the EXPIRE found no key. */
	private static final String EXPIRES = left.job(
			"[\"SET\",\"other\",\"v\"]\n[\"EXPIRE\",\"made\",\"100\"]\n[\"HSET\",\"made\",\"f\",\"v\"]\n",
			LeftSpool.outcomes(LeftSpool.SENT, 3));

	private static final String NOT_FENCED = left.job(sets("ghost", 100), LeftSpool.outcomes(LeftSpool.SENT, 30),
			"{\"connection\":{\"node\":\"localhost:6379\",\"clientId\":1}}");

	private static final String ONCE = left.job(
			sets("once", 10) + "[\"LPUSH\",\"once\",\"v\"]\n[\"SET\",\"nx\",\"v\"]\n",
			LeftSpool.outcomes(LeftSpool.APPLIED, 8, LeftSpool.SENT, 3));

	private static final String OPTIONS = left.job("[\"SET\",\"nx\",\"v\",\"NX\"]\n",
			LeftSpool.outcomes(LeftSpool.NOOP, 1));

	private static final String CANCELLED = left.job(sets("cancelled", 100), LeftSpool.outcomes(LeftSpool.APPLIED, 60));

	private static final String ELSEWHERE = left.job(sets("elsewhere", 10), LeftSpool.outcomes(LeftSpool.APPLIED, 6));

	private static final String KEYED = left.job("\"rateLimit\":[\"1\"]", "NDJSON", false, null,
			sets("keyed", 1000).getBytes(StandardCharsets.UTF_8), LeftSpool.outcomes(LeftSpool.APPLIED, 10));

	private static final String RACE = left.job("\"rateLimit\":[\"1\"]", "NDJSON", false, null,
			sets("race", 1000).getBytes(StandardCharsets.UTF_8),
			LeftSpool.outcomes(LeftSpool.APPLIED, 100, 0, 800, LeftSpool.APPLIED, 10, LeftSpool.SENT, 10));

	private static final String CSV = left.job(
			"\"op\":[\"HSET\"],\"key\":[\"csv:{id}\"],\"fields\":[\"\\\"the \\\"\\\"name\\\"\\\",\\\"\",\"\\\"x\\\"\"]"
				.replace("\",\"\\\"x", ",\\\"x") + ",\"delimiter\":[\";\"],\"ttl\":[\"60\"]",
			"CSV", true, 5L, gzip("id;\"the \"\"name\"\",\";x\n1;a;b\n2;c;d\n3;e;f\n4;g;h\n5;i;j\n"),
			LeftSpool.outcomes(LeftSpool.APPLIED, 2));

	private static final String TORN = left.job(sets("torn", 20), LeftSpool.outcomes(LeftSpool.APPLIED, 5, 4, 1),
			LeftSpool.WRONGTYPE, "{\"failure\":{\"out");

	private static final String DRY = left.job("\"dryRun\":[\"true\"]", "NDJSON", false, null,
			("bad\n[\"LPUSH\",\"dry\",\"v\"]\n").getBytes(StandardCharsets.UTF_8),
			LeftSpool.outcomes(LeftSpool.FAILURE, 1), LeftSpool.WRONGTYPE);

	private static final List<String> BROKEN = List.of(broken(".job", "{\"createdMillis\":17"), broken(".job", ""),
			broken(".body", "[\"SET\""), broken(".outcomes", "\u0000\u0007"), broken(".notes", "{\"failure\":\n{}\n"),
			broken(".notes", "[]\n{}\n"));

	private static final String REQUEST = "{\"createdMillis\":1,\"bodyBytes\":12,\"format\":\"NDJSON\",\"settings\":{}}";

	private static final List<String> OTHER_VERSIONS = List.of(broken(".job", REQUEST.replace("NDJSON", "YAML")),
			broken(".job", REQUEST.replace("{}", "{\"speed\":[\"9\"]}")),
			broken(".job", REQUEST.replace("{}", "{\"flush\":[\"by-hand\"]}")),
			broken(".job", REQUEST.replace("\"settings\"", "\"charset\":\"EBCDIC-9\",\"settings\"")));

	private final Service service;

	private final JobRegistry registry;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ResumeTests(Service service, @Autowired JobRegistry registry) {
		this.service = service;
		this.registry = registry;
	}

	/** Makes the spool before the service starts. */
	@DynamicPropertySource
	static void spool(DynamicPropertyRegistry properties) {
		properties.add("pipeset.spool.directory", left::base);
	}

	@AfterAll
	static void end() {
		client.shutdown();
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aJobIsKnownAndGoesOnFromWhereItWas() {
		JsonNode report = this.service.get("/v1/jobs/" + HALF).json();
		assertThat(report.at("/state").asString()).isEqualTo("interrupted");
		assertThat(report.at("/errors").asBoolean()).isTrue();
		assertThat(report.at("/ending/type").asString()).isEqualTo("interrupted");
		assertThat(report.at("/nextIndex").asLong()).isEqualTo(600);
		assertThat(report.at("/settings/batchSize").asInt()).isEqualTo(10);
		assertThat(Answer.counts(report)).isEqualTo(new Counts(600, 499, 0, 1, 95, 5));
		assertThat(report.at("/errorCodes").toString())
			.isEqualTo("{\"CONNECTION_LOST\":95,\"NOT_SENT\":5,\"WRONGTYPE\":1}");
		assertThat(this.service.get("/v1/jobs?state=interrupted").json().get("jobs"))
			.anySatisfy((job) -> assertThat(job.toString()).contains(HALF, "\"createdMillis\":1795386361749"));
		assertThat(this.service.get("/v1/jobs/" + HALF + "/events").text()).startsWith("id:end\nevent:end\n")
			.contains("\"state\":\"interrupted\"");
		assertThat(this.service.patch("/v1/jobs/" + HALF + "?rateLimit=5").refusal(409, "ended")).contains("resumed");
		List<JsonNode> unknown = items(HALF, "?status=unknown");
		assertThat(unknown).hasSize(95).allMatch((item) -> item.at("/error/retryable").asBoolean());
		assertThat(unknown.get(94).at("/error/index").asLong()).isEqualTo(599);
		assertThat(items(HALF, "?status=unprocessed")).hasSize(405);
		assertThat(items(HALF, "?status=rejected")).hasSize(1);

		Answer resumed = resume(HALF);
		assertThat(resumed.header("Location")).isEqualTo("/v1/jobs/" + HALF);
		JsonNode ended = ended(HALF);
		assertThat(Answer.counts(ended)).isEqualTo(new Counts(1000, 999, 0, 1, 0, 0));
		assertThat(ended.at("/state").asString()).isEqualTo("completed");
		assertThat(ended.at("/inputComplete").asBoolean()).isTrue();
		assertThat(ended.at("/fenced").asBoolean()).isTrue();
		assertThat(ended.at("/items").toString()).contains("\"index\":10,\"line\":11,\"op\":\"SET\",\"key\":\"half10\"",
				"WRONGTYPE of before");
		assertThat(ended.at("/settings").toString())
			.contains("\"batchSize\":10,\"flush\":\"close\",\"concurrency\":2", "\"coalesce\":\"auto\"")
			.doesNotContain("ttl");
		assertThat(ended.at("/createdMillis").isMissingNode()).isTrue();
		// Those that ran before were not sent again.
		assertThat(this.redis.dbsize()).isEqualTo(500);
		assertThat(this.redis.exists("half499")).isZero();
		assertThat(this.redis.get("half500")).isEqualTo("v500");
		// The driver connects again.
		assertThat(ghost.sync().clientId()).isNotEqualTo(GHOST);
		assertThat(stranger.sync().clientId()).isEqualTo(STRANGER);
		assertThat(items(HALF, "")).hasSize(1);
		assertThat(this.service.post("/v1/jobs/" + HALF + "/resume").refusal(409, "not-interrupted"))
			.contains("completed");
		assertThat(files(HALF)).contains(HALF + ".notes");
	}

	@Test
	void aJobThatHadNotBegunRunsWhole() {
		assertThat(Answer.counts(this.service.get("/v1/jobs/" + WAITED).json()))
			.isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		resume(WAITED);
		JsonNode ended = ended(WAITED);
		assertThat(Answer.counts(ended)).isEqualTo(new Counts(50, 50, 0, 0, 0, 0));
		assertThat(ended.has("fenced")).isFalse();
		assertThat(this.redis.dbsize()).isEqualTo(50);
		// Its end is there until all instances know it.
		await().untilAsserted(() -> assertThat(files(WAITED)).isEmpty());
	}

	@Test
	void aJobThatHadEndedAllButSendsNothing() {
		resume(ALL_RAN);
		assertThat(Answer.counts(ended(ALL_RAN))).isEqualTo(new Counts(50, 50, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aRecordThatMayHaveRunIsInDoubtIfRedisRefusesItNow() {
		this.redis.set("doubt", "a string");
		resume(IN_DOUBT);
		JsonNode ended = ended(IN_DOUBT);
		assertThat(Answer.counts(ended)).isEqualTo(new Counts(6, 5, 0, 0, 1, 0));
		assertThat(ended.at("/items/0/error/message").asString()).contains("The service ended", "WRONGTYPE");
		assertThat(ended.at("/ending/detail").asString()).startsWith("1 records were in flight")
			.contains("or the service ended", "no certain outcome");
		assertThat(this.redis.dbsize()).isEqualTo(6);
	}

	@Test
	void aRecordThatWouldLeaveOtherDataTheSecondTimeIsNotSentAgain() {
		this.redis.hset("made", "f", "v");
		resume(EXPIRES);
		assertThat(Answer.counts(ended(EXPIRES))).isEqualTo(new Counts(3, 2, 0, 0, 1, 0));
		assertThat(this.redis.ttl("made")).isEqualTo(-1);
		assertThat(this.redis.get("other")).isEqualTo("v");
		assertThat(items(EXPIRES, "")).singleElement()
			.satisfies((item) -> assertThat(item.at("/op").asString()).isEqualTo("EXPIRE"));
	}

	@Test
	void whereNobodyMayFenceNothingInDoubtIsSentAgain() {
		resume(NOT_FENCED);
		JsonNode ended = ended(NOT_FENCED);
		assertThat(Answer.counts(ended)).isEqualTo(new Counts(100, 70, 0, 0, 30, 0));
		assertThat(ended.at("/fenced").asBoolean(true)).isFalse();
		assertThat(this.redis.dbsize()).isEqualTo(70);
		assertThat(items(NOT_FENCED, "")).hasSize(30);
	}

	@Test
	void aJobWithRecordsThatMustNotRunTwiceSaysWhichAndItsItemsStay() {
		assertThat(Examples.check(409, "not-repeatable", this.service.post("/v1/jobs/" + ONCE + "/resume"))
			.refusal(409, "not-repeatable")).startsWith("Record 10 is LPUSH, which must not run twice")
			.contains("/v1/jobs/" + ONCE + "/items?status=unprocessed");
		assertThat(Answer.counts(this.service.get("/v1/jobs/" + OPTIONS).json()))
			.isEqualTo(new Counts(1, 0, 1, 0, 0, 0));
		List<JsonNode> unknown = items(ONCE, "?status=unknown");
		assertThat(unknown).extracting((item) -> item.at("/error/retryable").asBoolean())
			.containsExactly(true, true, false);
		assertThat(items(ONCE, "?status=unprocessed")).singleElement()
			.satisfies((item) -> assertThat(item.get("key").asString()).isEqualTo("nx"));
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void anInterruptedJobIsCancelledAtOnceAndItsItemsStay() {
		assertThat(this.service.delete("/v1/jobs/" + CANCELLED).status()).isEqualTo(202);
		JsonNode report = this.service.get("/v1/jobs/" + CANCELLED).json();
		assertThat(report.at("/state").asString()).isEqualTo("cancelled");
		assertThat(report.at("/ending/type").asString()).isEqualTo("cancelled");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(60, 60, 0, 0, 0, 0));
		assertThat(items(CANCELLED, "")).hasSize(40);
		assertThat(this.service.post("/v1/jobs/" + CANCELLED + "/resume").refusal(409, "not-interrupted"))
			.contains("cancelled");
		this.service.delete("/v1/jobs/" + CANCELLED).refusal(409, "ended");
		assertThat(files(CANCELLED)).contains(CANCELLED + ".notes");
	}

	@Test
	void aJobThatIsBeingResumedHasNotEndedForWhoeverCancelsIt() {
		InterruptedJob job = this.registry.find(OPTIONS, Client.anybody(false)).orElseThrow().interrupted();
		assertThat(job.claim()).isTrue();
		assertThat(this.service.delete("/v1/jobs/" + OPTIONS).refusal(409, "not-interrupted"))
			.contains("is resuming or cancelling the job");
		job.release();
	}

	@Test
	void otherInstancesHearThatAnInterruptedJobWasCancelled() {
		control.hset(TestRedis.shared().controlKey("job", ELSEWHERE), Map.of("status", "{\"jobId\":\"" + ELSEWHERE
				+ "\",\"kind\":\"records\",\"op\":\"mixed\",\"state\":\"running\",\"createdMillis\":1,"
				+ "\"counts\":{\"received\":0,\"applied\":0,\"noop\":0,\"rejected\":0,\"unknown\":0,\"unprocessed\":0},"
				+ "\"progress\":{\"read\":0,\"done\":0,\"perSecond\":0,\"averagePerSecond\":0,\"elapsedMillis\":0}}",
				"instance", "dead:1"));
		assertThat(this.service.delete("/v1/jobs/" + ELSEWHERE).status()).isEqualTo(202);
		assertThat(mapper.readTree(control.hget(TestRedis.shared().controlKey("job", ELSEWHERE), "status"))
			.get("state")
			.asString()).isEqualTo("cancelled");
	}

	@Test
	void theKeyOfAJobThatWasResumedTellsHowItStandsAndRunsNothing() throws Exception {
		control.set(TestRedis.shared()
			.controlKey("key", HexFormat.of()
				.formatHex(MessageDigest.getInstance("SHA-256").digest("a-key".getBytes(StandardCharsets.UTF_8)))),
				KEYED);
		await("without its record, which may be written at this moment").untilAsserted(() -> {
			control.del(TestRedis.shared().controlKey("job", KEYED));
			assertThat(Examples.check(409, "interrupted", repeat()).refusal(409, "interrupted"))
				.contains("may have run in part");
		});
		resume(KEYED);
		Answer runs = repeat();
		assertThat(runs.refusal(409, "idempotency-key-in-use")).contains("still runs");
		assertThat(runs.header("Retry-After")).isEqualTo("1");
		assertThat(runs.header("Location")).isEqualTo("/v1/jobs/" + KEYED);
		this.service.delete("/v1/jobs/" + KEYED);
		ended(KEYED);
		await().untilAsserted(() -> assertThat(repeat().refusal(409, "interrupted")).contains("cancelled")
			.doesNotContain("new key to run"));
		assertThat(this.redis.exists("never")).isZero();
	}

	private Answer repeat() {
		return this.service.send(this.service.request("/v1/jobs")
			.header("Idempotency-Key", "a-key")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString("[\"SET\",\"never\",\"v\"]\n")));
	}

	@Test
	void oneOfManyResumesAtOnceGoesOnAndItsCancellationAccountsForAll() {
		List<CompletableFuture<Answer>> calls = Stream
			.generate(() -> OwnThread.supply(() -> this.service.post("/v1/jobs/" + RACE + "/resume")))
			.limit(8)
			.toList();
		List<Integer> statuses = new ArrayList<>(calls.stream().map((call) -> call.join().status()).toList());
		assertThat(statuses).containsOnlyOnce(202).containsOnly(202, 409);
		await().until(() -> this.redis.dbsize() > 0);
		this.service.delete("/v1/jobs/" + RACE);
		JsonNode ended = ended(RACE);
		assertThat(ended.at("/state").asString()).isEqualTo("cancelled");
		long ran = this.redis.dbsize();
		assertThat(Answer.counts(ended)).isEqualTo(new Counts(920, 110 + ran, 0, 0, 10, 800 - ran));
		assertThat(ended.at("/nextIndex").asLong()).isEqualTo(920);
		assertThat(ended.at("/items").size() + ended.at("/itemsOmitted").asLong()).isEqualTo(810 - ran);
		assertThat(items(RACE, "?status=unknown")).hasSize(10);
		assertThat(items(RACE, "?status=unprocessed")).hasSize((int) (880 - ran));
	}

	@Test
	void compressedRowsWithTemplatesGoOnAsTheyWereMeant() {
		resume(CSV);
		assertThat(Answer.counts(ended(CSV))).isEqualTo(new Counts(5, 5, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(3);
		assertThat(this.redis.hgetall("csv:5")).isEqualTo(Map.of("the \"name\",", "i", "x", "j"));
		assertThat(this.redis.ttl("csv:5")).isBetween(1L, 60L);
	}

	@Test
	void aLineThatWasHalfWrittenIsNoNote() {
		resume(TORN);
		assertThat(Answer.counts(ended(TORN))).isEqualTo(new Counts(20, 19, 0, 1, 0, 0));
		assertThat(items(TORN, "")).hasSize(1);
	}

	@Test
	void aDryRunGoesOnWhateverItsOperations() {
		JsonNode interrupted = this.service.get("/v1/jobs?state=interrupted&limit=1000").json().get("jobs");
		assertThat(interrupted.valueStream().filter((job) -> job.path("dryRun").asBoolean(false)))
			.extracting((job) -> job.get("jobId").asString())
			.containsExactly(DRY);
		resume(DRY);
		assertThat(Answer.counts(ended(DRY))).isEqualTo(new Counts(2, 0, 0, 1, 0, 1));
	}

	@ParameterizedTest
	@MethodSource("broken")
	void aJobWhoseFilesAreBrokenIsGone(String id) {
		this.service.get("/v1/jobs/" + id).refusal(404, "not-found");
		assertThat(files(id)).isEmpty();
	}

	static List<String> broken() {
		return BROKEN;
	}

	@ParameterizedTest
	@MethodSource("otherVersions")
	void aJobOfAnotherVersionIsKeptForIt(String id) {
		this.service.get("/v1/jobs/" + id).refusal(404, "not-found");
		assertThat(files(id)).hasSize(4);
	}

	static List<String> otherVersions() {
		return OTHER_VERSIONS;
	}

	private static String broken(String file, String contents) {
		String id = left.job("[\"SET\",1,2]\n", LeftSpool.outcomes(LeftSpool.APPLIED, 1));
		left.write(id + file, contents.getBytes(StandardCharsets.ISO_8859_1));
		return id;
	}

	private static String sets(String key, int records) {
		return IntStream.range(0, records)
			.mapToObj((i) -> "[\"SET\",\"" + key + i + "\",\"v" + i + "\"]\n")
			.collect(Collectors.joining());
	}

	private static byte[] gzip(String text) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream out = new GZIPOutputStream(bytes)) {
			out.write(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return bytes.toByteArray();
	}

	/** The line of a connection, in another life of the server if one is given. */
	private static String connection(StatefulRedisConnection<String, String> connection, String life) {
		String runId = connection.sync()
			.info("server")
			.lines()
			.filter((line) -> line.startsWith("run_id:"))
			.map((line) -> line.substring(7).strip())
			.findFirst()
			.orElseThrow();
		return "{\"connection\":{\"node\":\"localhost:6379\",\"clientId\":" + connection.sync().clientId()
				+ ",\"runId\":\"" + ((life != null) ? life : runId) + "\"}}";
	}

	private Answer resume(String id) {
		Answer answer = this.service.post("/v1/jobs/" + id + "/resume");
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer;
	}

	private JsonNode ended(String id) {
		await().until(() -> this.service.get("/v1/jobs/" + id).headers().firstValue("Retry-After").isEmpty());
		return this.service.get("/v1/jobs/" + id).json();
	}

	private List<JsonNode> items(String id, String query) {
		Answer answer = this.service.get("/v1/jobs/" + id + "/items" + query);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return Arrays.stream(answer.text().split("\n", -1))
			.filter((line) -> !line.isEmpty())
			.map(mapper::readTree)
			.toList();
	}

	private static List<String> files(String id) {
		try {
			return SpoolFiles.ending(Path.of("target/spool/resume"), "")
				.stream()
				.map((file) -> file.getFileName().toString())
				.filter((name) -> name.startsWith(id))
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
