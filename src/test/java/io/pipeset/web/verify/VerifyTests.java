package io.pipeset.web.verify;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.Verified;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** With {@code verify}, a job compares its records with what Redis has. */
@ServiceTest(properties = "pipeset.spool.directory=target/spool/verify")
class VerifyTests {

	private static final int RECORDS = Integer.getInteger("verify.records", 2000);

	private static final long SEED = Long.getLong("verify.seed", 73);

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	VerifyTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	static Verified verified(JsonNode report) {
		JsonNode verified = report.path("verified");
		return new Verified(verified.path("same").asLong(-1), verified.path("different").asLong(-1),
				verified.path("missing").asLong(-1), verified.path("superseded").asLong(-1),
				verified.path("incomparable").asLong(-1));
	}

	static String line(List<String> words) {
		return mapper.writeValueAsString(words);
	}

	@ParameterizedTest
	@CsvSource({ "1,true", "4,true", "3,ttl" })
	void eachRecordIsComparedAsAModelSays(int concurrency, String verify) {
		VerifyOracle oracle = new VerifyOracle(SEED + concurrency, this.redis, List.of("a", "b", "c"));
		List<List<String>> records = Stream.generate(oracle::record).limit(RECORDS).toList();
		String[] lines = records.stream().map(VerifyTests::line).toArray(String[]::new);
		this.service.ndjson("/v1/jobs", lines).report();
		oracle.damage();
		String before = contents();
		JsonNode report = this.service
			.ndjson("/v1/jobs?batchSize=50&concurrency=" + concurrency + "&verify=" + verify, lines)
			.report();
		List<String> verdicts = oracle.verdicts(records);
		assertThat(report.path("items")
			.valueStream()
			.collect(Collectors.toMap((item) -> item.path("index").asInt(),
					(item) -> item.at("/error/code").asString().toLowerCase(java.util.Locale.ROOT))))
			.containsAllEntriesOf(IntStream.range(0, records.size())
				.filter((i) -> List.of("different", "missing").contains(verdicts.get(i)))
				.limit(50)
				.boxed()
				.collect(Collectors.toMap((i) -> i, verdicts::get)));
		Verified expected = VerifyOracle.count(verdicts);
		assertThat(verified(report)).isEqualTo(expected);
		assertThat(Answer.counts(report)).isEqualTo(new Counts(RECORDS, 0, 0, 0, 0, RECORDS));
		assertThat(report.path("errors").asBoolean()).isTrue();
		assertThat(contents()).isEqualTo(before);
	}

	private String contents() {
		return this.redis.keys("*").stream().sorted().map((key) -> key + this.redis.type(key)).toList().toString();
	}

	@Test
	void aLoadIsTheSameAndWhatIsListedRepairs() {
		String[] lines = { "[\"SET\",\"k\",\"v\"]", "[\"HSET\",\"h\",\"f\",\"1\"]", "[\"SET\",\"gone\",\"x\"]" };
		this.service.ndjson("/v1/jobs", lines);
		Answer same = this.service.ndjson("/v1/jobs?verify=true", lines);
		assertThat(verified(same.report())).isEqualTo(new Verified(3, 0, 0, 0, 0));
		assertThat(same.report().path("errors").asBoolean()).isFalse();
		assertThat(same.header("Pipeset-Errors")).isEqualTo("0");
		this.redis.hset("h", "f", "2");
		this.redis.del("gone");
		Answer answer = this.service.ndjson("/v1/jobs?verify=true", lines);
		assertThat(answer.header("Pipeset-Errors")).isEqualTo("2");
		JsonNode items = answer.report().path("items");
		assertThat(items.at("/0/error/code").asString()).isEqualTo("DIFFERENT");
		assertThat(items.at("/0/found").asString()).isEqualTo("2");
		assertThat(items.at("/1/error/code").asString()).isEqualTo("MISSING");
		assertThat(items.at("/1/found").isMissingNode()).isTrue();
		assertThat(answer.report().at("/errorCodes/MISSING").asInt()).isEqualTo(1);
		this.service
			.ndjson("/v1/jobs",
					items.valueStream().map((item) -> item.path("command").toString()).toArray(String[]::new))
			.report();
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true", lines).report()))
			.isEqualTo(new Verified(3, 0, 0, 0, 0));
	}

	@Test
	void anAbsentFieldOfAHashIsDifferentAndAnAbsentHashIsMissing() {
		this.redis.hset("h", "other", "1");
		this.redis.hset("h2", "other", "1");
		this.redis.sadd("s", "other");
		JsonNode report = this.service
			.ndjson("/v1/jobs?verify=true", "[\"HSET\",\"h\",\"f\",\"1\"]", "[\"SADD\",\"s\",\"m\"]",
					"[\"HSET\",\"none\",\"f\",\"1\"]", "[\"SADD\",\"none2\",\"m\"]",
					"[\"MSET\",\"h2\",\"1\",\"h2b\",\"1\"]")
			.report();
		assertThat(verified(report)).isEqualTo(new Verified(0, 3, 2, 0, 0));
	}

	@Test
	void aLargeValueIsDifferentWithoutBeingKept() {
		this.redis.set("k", "x".repeat(3_000_000));
		JsonNode report = this.service.ndjson("/v1/jobs?verify=true", "[\"SET\",\"k\",\"v\"]", "[\"SET\",\"l\",\"v\"]")
			.report();
		assertThat(verified(report)).isEqualTo(new Verified(0, 1, 1, 0, 0));
	}

	@Test
	void expiriesAreComparedOnlyIfAsked() {
		this.redis.setex("k", 50, "v");
		this.redis.set("l", "v");
		String[] lines = { "[\"EXPIRE\",\"k\",\"60\"]", "[\"EXPIRE\",\"k\",\"40\"]", "[\"PERSIST\",\"l\"]",
				"[\"EXPIRE\",\"none\",\"40\"]", "[\"PEXPIREAT\",\"l\",\"99999999999999\"]" };
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true", lines).report()))
			.isEqualTo(new Verified(0, 0, 0, 0, 5));
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=ttl", lines).report()))
			.isEqualTo(new Verified(2, 2, 1, 0, 0));
	}

	@Test
	void theExpiryOfAHashDoesNotKeepItFromBeingCompared() {
		String line = "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"f\":\"1\"},\"ttl\":100}";
		this.service.ndjson("/v1/jobs", line).report();
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true", line).report()))
			.isEqualTo(new Verified(1, 0, 0, 0, 0));
		this.redis.hset("h", "f", "2");
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true", line).report()))
			.isEqualTo(new Verified(0, 1, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dryRun=true", "reliable=true", "verify=ttl", "replace=p:*&verify=false" })
	void whatHasNoMeaningIsRefused(String setting) {
		assertThat(this.service.ndjson("/v1/jobs?verify=true&" + setting, "[\"SET\",\"k\",\"v\"]").status())
			.isEqualTo(400);
	}

	@Test
	void whatOnlySaysHowToWriteMeansNothing() {
		Answer answer = this.service.ndjson(
				"/v1/jobs?verify=true&atomic=batch&replicas=1&coalesce=auto&retries=2&maxErrors=1",
				"[\"SET\",\"k\",\"v\"]", "[\"INCR\",\"n\"]", "[\"EVALSHA\",\"no script\"]");
		assertThat(verified(answer.report())).isEqualTo(new Verified(0, 0, 1, 0, 1));
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true&exactlyOnce=true", "[\"INCR\",\"n\"]").report()))
			.isEqualTo(new Verified(0, 0, 0, 0, 1));
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void keysThatTheUploadDoesNotHaveAreCountedAndStay() {
		this.redis.mset(java.util.Map.of("p:a", "1", "p:b", "2", "p:c", "3", "q:d", "4"));
		JsonNode report = this.service
			.ndjson("/v1/jobs?verify=true&replace=p:*", "[\"SET\",\"p:a\",\"1\"]", "[\"SET\",\"p:z\",\"1\"]")
			.report();
		assertThat(verified(report)).isEqualTo(new Verified(1, 0, 1, 0, 0));
		assertThat(report.at("/verified/extra/count").asInt()).isEqualTo(2);
		assertThat(Answer.strings(report.at("/verified/extra/keys"))).containsExactlyInAnyOrder("p:b", "p:c");
		assertThat(this.redis.dbsize()).isEqualTo(4);
	}

	@Test
	void anAsynchronousJobListsWhatDiffers() {
		String[] lines = IntStream.range(0, 5000)
			.mapToObj((i) -> "{\"op\":\"SET\",\"key\":\"k" + i % 4000 + "\",\"value\":\"" + i + "\",\"id\":\"" + i
					+ "\"}")
			.toArray(String[]::new);
		this.service.ndjson("/v1/jobs", lines).report();
		this.redis.del("k7", "k3999");
		this.redis.set("k2000", "x");
		Answer accepted = this.service.send(this.service.request("/v1/jobs?verify=true")
			.header("Content-Type", Service.NDJSON)
			.header("Prefer", "respond-async")
			.POST(java.net.http.HttpRequest.BodyPublishers.ofString(String.join("\n", lines))));
		String location = accepted.header("Location");
		await().until(() -> !List.of("running", "queued")
			.contains(this.service.get(location).json().path("state").asString()));
		JsonNode job = this.service.get(location).json();
		assertThat(verified(job)).isEqualTo(new Verified(3997, 1, 2, 1000, 0));
		assertThat(job.path("errors").asBoolean()).isTrue();
		String items = this.service.get(location + "/items").text();
		assertThat(items.lines().map((line) -> mapper.readTree(line).path("key").asString())).containsExactly("k2000",
				"k3999", "k7");
		assertThat(this.service.get(location + "/items?status=missing").text().lines()).hasSize(2);
		this.service.post("/v1/jobs", Service.NDJSON, items).report();
		assertThat(verified(this.service.ndjson("/v1/jobs?verify=true", lines).report()))
			.isEqualTo(new Verified(4000, 0, 0, 1000, 0));
	}

}
