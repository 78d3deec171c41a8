package io.pipeset.web.job;

import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** The report accounts for every record, and lists those that its caller asked for. */
@ServiceTest
class JobReportTests {

	/**
	 * More records than a window holds. Only the window bounds how many are read before
	 * the first reply.
	 */
	private static final int MORE_THAN_A_WINDOW = 500_000;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobReportTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aMalformedLineBetweenGoodOnesIsOneRejectedRecord() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?op=SET", "{\"key\":\"a\",\"value\":\"1\"}", "{\"key\":\"b\",\"value\":",
					"{\"key\":\"c\",\"value\":\"3\"}")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.get("items")).hasSize(1);
		assertThat(report.at("/items/0/index").asInt()).isOne();
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(2);
		assertThat(report.at("/items/0/status").asString()).isEqualTo("rejected");
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("MALFORMED");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "c");
	}

	@Test
	void aRejectedRecordIsListedWithItsIdLineOperationAndKey() {
		this.redis.set("u:17", "a string");
		JsonNode item = this.service
			.ndjson("/v1/jobs", "", "{\"op\":\"HSET\",\"key\":\"u:16\",\"fields\":{\"a\":\"b\"},\"id\":\"row-16\"}",
					"{\"op\":\"HSET\",\"key\":\"u:17\",\"fields\":{\"a\":\"b\"},\"id\":\"row-17\"}")
			.report()
			.at("/items/0");
		assertThat(item.at("/index").asInt()).isOne();
		assertThat(item.at("/line").asInt()).isEqualTo(3);
		assertThat(item.at("/id").asString()).isEqualTo("row-17");
		assertThat(item.at("/op").asString()).isEqualTo("HSET");
		assertThat(item.at("/key").asString()).isEqualTo("u:17");
		assertThat(item.at("/status").asString()).isEqualTo("rejected");
		assertThat(item.at("/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(item.at("/error/message").asString()).startsWith("WRONGTYPE ").contains("wrong kind of value");
		assertThat(item.at("/error/retryable").asBoolean(true)).isFalse();
		assertThat(item.has("reply")).isFalse();
	}

	@Test
	void itemsOfAJsonArrayHaveNoLine() {
		JsonNode item = this.service.post("/v1/jobs", Service.JSON, "[{\"op\":\"NONSENSE\"}]").report().at("/items/0");
		assertThat(item.at("/index").asInt(-1)).isZero();
		assertThat(item.has("line")).isFalse();
	}

	@Test
	void theOneWrongRecordAmongAHundredThousandIsFound() {
		this.redis.set("h54321", "a string");
		JsonNode report = this.service
			.upload("/v1/jobs?op=HSET&concurrency=2", Service.NDJSON,
					Lines.of(100_000, (i) -> "{\"key\":\"h" + i + "\",\"fields\":{\"n\":" + i + "}}"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100_000, 99_999, 0, 1, 0, 0));
		assertThat(report.get("items")).hasSize(1);
		assertThat(report.at("/items/0/index").asInt()).isEqualTo(54_321);
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(54_322);
		assertThat(report.at("/items/0/key").asString()).isEqualTo("h54321");
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(this.redis.dbsize()).isEqualTo(100_000);
		assertThat(this.redis.get("h54321")).isEqualTo("a string");
		assertThat(this.redis.hget("h54320", "n")).isEqualTo("54320");
		assertThat(this.redis.hget("h54322", "n")).isEqualTo("54322");
		assertThat(this.redis.hget("h99999", "n")).isEqualTo("99999");
	}

	@Test
	void allResultsCarryTypedReplies() {
		this.redis.rpush("queue", "1", "2");
		this.redis.set("there", "x");
		JsonNode items = this.service
			.ndjson("/v1/jobs?results=all", "[\"SET\",\"k\",\"v\"]", "[\"HSET\",\"h\",\"a\",1,\"b\",2]",
					"[\"LPUSH\",\"l\",\"a\",\"b\",\"c\"]", "[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\",1]",
					"[\"RPOP\",\"queue\"]", "[\"SET\",\"there\",\"y\",\"NX\"]", "[\"DEL\",\"there\"]",
					"[\"LPUSH\",\"k\",\"a\"]")
			.report()
			.get("items");
		assertThat(items).hasSize(9);
		assertThat(items.at("/0/reply").asString()).isEqualTo("OK");
		assertThat(items.at("/1/reply").isInt()).isTrue();
		assertThat(items.at("/1/reply").asInt()).isEqualTo(2);
		assertThat(items.at("/2/reply").asInt()).isEqualTo(3);
		assertThat(items.at("/3/reply").asString()).isEqualTo("2");
		assertThat(Answer.strings(items.at("/4/reply"))).containsExactly("1");
		assertThat(items.at("/5/reply").isNull()).isTrue();
		assertThat(items.at("/5/status").asString()).isEqualTo("noop");
		assertThat(items.at("/6/reply").isNull()).isTrue();
		assertThat(items.at("/6/status").asString()).isEqualTo("noop");
		assertThat(items.at("/7/reply").asInt()).isOne();
		assertThat(items.at("/7/status").asString()).isEqualTo("applied");
		assertThat(items.at("/8/status").asString()).isEqualTo("rejected");
		assertThat(items.at("/8/error/code").asString()).isEqualTo("WRONGTYPE");
	}

	@Test
	void allResultsAreInTheOrderOfTheRecordsWhateverTheConcurrency() {
		JsonNode items = this.service
			.upload("/v1/jobs?op=SET&results=all&concurrency=8&batchSize=3", Service.NDJSON,
					Lines.of(900, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\",\"id\":\"" + i + "\"}"))
			.report()
			.get("items");
		assertThat(items).hasSize(900);
		for (int i = 0; i < 900; i++) {
			assertThat(items.get(i).get("index").asInt()).isEqualTo(i);
			assertThat(items.get(i).get("key").asString()).isEqualTo("k" + i);
			assertThat(items.get(i).get("id").asString()).isEqualTo(Integer.toString(i));
		}
	}

	@Test
	void noResultsMeansNoItemsButAllCounts() {
		JsonNode report = this.service.ndjson("/v1/jobs?results=none", "[\"SET\",\"k\",\"v\"]", "oops").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.get("items")).isEmpty();
	}

	@Test
	void itemsBeyondTheLimitAreCountedAsOmitted() {
		JsonNode report = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(1500, (i) -> "bad " + i)).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1500, 0, 0, 1500, 0, 0));
		assertThat(report.get("items")).hasSize(1000);
		assertThat(report.at("/items/999/index").asInt()).isEqualTo(999);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(500);
	}

	@ParameterizedTest
	@ValueSource(strings = { "errors", "all" })
	void poppedValuesAreListedBeyondEveryLimit(String results) {
		this.redis.rpush("queue", IntStream.range(0, 1500).mapToObj(Integer::toString).toArray(String[]::new));
		JsonNode report = this.service
			.upload("/v1/jobs?results=" + results, Service.NDJSON, Lines.of(1500, (i) -> "[\"RPOP\",\"queue\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1500, 1500, 0, 0, 0, 0));
		assertThat(report.get("items")).hasSize(1500);
		for (int i = 0; i < 1500; i++) {
			assertThat(report.get("items").get(i).get("reply").asString()).isEqualTo(Integer.toString(1499 - i));
		}
		assertThat(report.get("itemsOmitted").asInt(-1)).isZero();
		assertThat(this.redis.exists("queue")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/2500?results=all", "/pipeset/2500?results=all&flush=each&batchSize=10",
			"/piperpop/2500?results=all" })
	void whatAllWouldListBeyondTheLimitIsCountedAsOmitted(String path) {
		JsonNode report = this.service.post(path).report();
		assertThat(report.get("items")).hasSize(1000);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(1500);
	}

	@Test
	void withNoErrorAllowedTheFirstOneStopsTheJob() {
		Answer answer = this.service.upload("/v1/jobs?op=SET&maxErrors=0", Service.NDJSON,
				Lines.of(50_000, (i) -> (i == 20_000) ? "bad" : "{\"key\":\"k" + i + "\",\"value\":\"v\"}"));
		JsonNode job = answer.job(422, "stopped", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.rejected()).isOne();
		assertThat(counts.received()).isLessThan(50_000).isGreaterThan(20_000);
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
		assertThat(job.at("/items/0/index").asInt()).isLessThanOrEqualTo(20_000);
		assertThat(this.redis.dbsize()).isEqualTo(counts.applied());
		assertThat(answer.json().at("/detail").asString()).contains("maxErrors=0");
	}

	@Test
	void asManyErrorsAsAllowedDoNotStopTheJob() {
		JsonNode report = this.service.ndjson("/v1/jobs?maxErrors=2", "bad", "bad", "[\"SET\",\"k\",\"v\"]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
		assertThat(this.redis.get("k")).isEqualTo("v");
	}

	@Test
	void oneErrorMoreThanAllowedStopsTheJob() {
		this.redis.set("wrong", "a string");
		JsonNode job = this.service
			.upload("/v1/jobs?maxErrors=2&batchSize=1", Service.NDJSON,
					Lines.of(MORE_THAN_A_WINDOW,
							(i) -> "[\"LPUSH\",\"" + ((i % 10 == 9) ? "wrong" : "l") + "\",\"" + i + "\"]"))
			.job(422, "stopped", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.rejected()).isGreaterThanOrEqualTo(3);
		assertThat(counts.received()).isLessThan(MORE_THAN_A_WINDOW);
		assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
		assertThat(this.redis.llen("l")).isEqualTo(counts.applied());
		assertThat(job.at("/items/0/index").asInt()).isEqualTo(9);
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("WRONGTYPE");
	}

	@Test
	void recordsThatAStopLeftBehindSayThatTheyWereNotSent() {
		JsonNode job = this.service.ndjson("/v1/jobs?maxErrors=0", "[\"SET\",\"a\",\"1\"]", "bad")
			.job(422, "stopped", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(2);
		assertThat(counts.rejected()).isOne();
		assertThat(this.redis.dbsize()).isEqualTo(counts.applied());
		for (JsonNode item : job.get("items")) {
			assertThat(item.at("/error/code").asString())
				.isEqualTo((item.at("/status").asString().equals("rejected")) ? "MALFORMED" : "NOT_SENT");
		}
	}

	@Test
	void errorsAreCountedByTheirCodesListedOrNot() {
		this.redis.set("string", "a string");
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=none", "[\"SET\",\"a\",\"1\"]", "[\"LPUSH\",\"string\",\"1\"]", "bad",
					"[\"SADD\",\"string\",\"1\"]", "[\"FLUSHALL\"]", "[\"SET\",\"pipeset:a\",\"1\"]",
					"[\"SET\",\"b\",\"1\"]")
			.report();
		assertThat(report.get("items")).isEmpty();
		assertThat(report.get("errorCodes").toString())
			.isEqualTo("{\"FORBIDDEN\":1,\"MALFORMED\":1,\"UNKNOWN_OPERATION\":1,\"WRONGTYPE\":2}");
		assertThat(this.service.post("/pipeset/10").report().has("errorCodes")).isFalse();
		assertThat(this.service.ndjson("/v1/jobs?dryRun=true&results=all", "[\"SET\",\"a\",\"1\"]", "bad")
			.report()
			.get("errorCodes")
			.toString()).isEqualTo("{\"MALFORMED\":1}");
	}

	@Test
	void recordsThatWereNeverReadHaveACodeToo() {
		this.redis.set("list", "in the way");
		JsonNode job = this.service.post("/listinput/list?count=500000&maxErrors=0&results=none")
			.job(422, "stopped", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(500_000);
		assertThat(job.at("/errorCodes/WRONGTYPE").asLong()).isEqualTo(counts.rejected());
		assertThat(job.at("/errorCodes/NOT_SENT").asLong()).isEqualTo(counts.unprocessed()).isPositive();
	}

	@Test
	void aJobThatFailedHasErrorsWhereAllItsRecordsRan() {
		JsonNode job = this.service.post("/v1/jobs?op=SET", Service.JSON, "[{\"key\":\"a\",\"value\":\"1\"}")
			.job(400, "malformed-body", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(job.get("errors").asBoolean()).isTrue();
	}

	@Test
	void theReportSaysHowMuchWasSentAndHowLongItTook() {
		JsonNode report = this.service.post("/pipeset/20000?batchSize=1000&coalesce=off").report();
		assertThat(report.at("/bytesSent").asLong())
			.isEqualTo(20_000L * "*3\r\n$3\r\nSET\r\n$9\r\nkeyA00000\r\n$11\r\nvalue-00000\r\n".length());
		assertThat(report.at("/recordsPerSecond").asLong()).isPositive();
		assertThat(report.at("/timings/batches/count").asInt()).isGreaterThanOrEqualTo(20);
		assertThat(report.at("/timings/redisMillis").asDouble()).isPositive()
			.isLessThanOrEqualTo(report.at("/timings/totalMillis").asDouble());
		assertThat(report.at("/timings/batches/p50Millis").asDouble())
			.isLessThanOrEqualTo(report.at("/timings/batches/maxMillis").asDouble());
	}

	/** An answer that began to go out before it was complete would be chunked. */
	@Test
	void aShortAnswerGoesOutWhole() {
		Answer report = this.service.post("/pipeset/100");
		assertThat(report.headers().firstValueAsLong("Content-Length")).hasValue(report.text().length());
		Answer problem = this.service.post("/pipeset/100?flush=never");
		assertThat(problem.status()).isEqualTo(400);
		assertThat(problem.headers().firstValueAsLong("Content-Length")).hasValue(problem.text().length());
	}

}
