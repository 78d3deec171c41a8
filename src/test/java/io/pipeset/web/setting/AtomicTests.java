package io.pipeset.web.setting;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Each batch of a job with atomic=batch is one transaction. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class AtomicTests {

	private static final String USER = "loader";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as(USER);

	private static final TestRedis redis = own.redis();

	private final Service service;

	AtomicTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().configSet("maxmemory", "0");
		own.permitAll();
		redis.client().flushall();
		// The service asks once whether transactions are allowed, and this call makes it
		// ask.
		this.service.post("/pipeset/0?atomic=batch");
		redis.client().configResetstat();
	}

	@ParameterizedTest
	@CsvSource({ "10, 1, 10", "7, 1, 15", "1, 1, 100", "10000, 1, 1", "10, 4, 0" })
	void eachBatchIsOneTransaction(int batchSize, int concurrency, int transactions) {
		JsonNode report = this.service
			.upload("/v1/jobs?atomic=batch&batchSize=" + batchSize + "&concurrency=" + concurrency, Service.NDJSON,
					Lines.of(100, (i) -> "[\"SET\",\"k" + i + "\"," + i + "]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(report.at("/settings/atomic").asString()).isEqualTo("batch");
		assertThat(report.at("/settings/batchSize").asInt()).isEqualTo(batchSize);
		assertThat(report.at("/settings/flush").asString()).isEqualTo("close");
		assertThat(redis.client().dbsize()).isEqualTo(100);
		if (transactions > 0) {
			assertThat(transactions()).isEqualTo(transactions);
			assertThat(report.at("/timings/batches/count").asInt()).isEqualTo(transactions);
		}
		else {
			assertThat(transactions()).isBetween(10L, 14L);
		}
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/2500?, 2500", "/pipehset/2500?, 2500", "/listinput/list?count=2500&, 2500" })
	void theShortcutsHaveTransactionsToo(String call, int records) {
		JsonNode report = this.service.post(call + "atomic=batch&batchSize=1000").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(transactions()).isEqualTo(3);
	}

	@Test
	void whatIsPoppedInATransactionIsInTheReport() {
		this.service.post("/listinput/mylist9?count=25").report();
		JsonNode report = this.service.post("/piperpop/30?atomic=batch&batchSize=10").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30, 25, 5, 0, 0, 0));
		assertThat(report.at("/values").valueStream().map(JsonNode::asString).toList())
			.isEqualTo(Service.generated(0, 25));
		assertThat(transactions()).isEqualTo(3);
	}

	@Test
	void aBatchHasTenThousandCommandsAtMostAndSoManyUnlessItIsTold() {
		JsonNode report = this.service.post("/pipeset/25000?atomic=batch").report();
		assertThat(report.at("/settings/batchSize").asInt()).isEqualTo(10_000);
		assertThat(transactions()).isEqualTo(3);
		assertThat(this.service.post("/pipeset/1?atomic=batch&batchSize=10001").refusal(400, "invalid-setting"))
			.isEqualTo("'batchSize' must be 1 to 10000 with atomic=batch, not '10001'");
		assertThat(this.service.post("/pipeset/1?atomic=job").refusal(400, "invalid-setting"))
			.isEqualTo("'atomic' must be none or batch, not 'job'");
		assertThat(this.service.post("/piperpop/1?atomic=batch&reliable=true").refusal(400, "invalid-setting"))
			.contains("'atomic'");
		JsonNode none = this.service.post("/pipeset/1?atomic=none&batchSize=10001").report();
		assertThat(none.get("settings").has("atomic")).isFalse();
	}

	@Test
	void aBatchOfLargeValuesEndsBeforeItFillsTheMemory() {
		String value = "x".repeat(100_000);
		JsonNode report = this.service
			.upload("/v1/jobs?atomic=batch", Service.NDJSON,
					Lines.of(100, (i) -> "[\"SET\",\"k" + i + "\",\"" + value + "\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(transactions()).isEqualTo(3);
	}

	@Test
	void inputThatPausesCutsNoTransactionShortAndHoldsNoConnection() throws Exception {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?atomic=batch&batchSize=3")) {
			wire.chunk("[\"SET\",\"a\",1]\n[\"SET\",\"b\",1]\n[\"SET\",\"c\",1]\n[\"SET\",\"d\",1]\n");
			await().until(() -> redis.client().exists("a", "b", "c") == 3);
			await().until(() -> this.service.get("/actuator/pipeset").json().at("/lanes/busy").asInt() == 0);
			wire.chunk("[\"SET\",\"e\",1]\n");
			await().during(Duration.ofMillis(300)).until(() -> redis.client().exists("d", "e") == 0);
			wire.chunk("[\"SET\",\"f\",1]\n[\"SET\",\"g\",1]\n");
			wire.lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(7, 7, 0, 0, 0, 0));
		}
		assertThat(transactions()).isEqualTo(3);
	}

	@Test
	void aTransactionInWhichTheInputBreaksOffIsNotSent() {
		JsonNode job = this.service
			.post("/v1/jobs?atomic=batch&batchSize=3", Service.JSON,
					"[[\"SET\",\"a\",1],[\"SET\",\"b\",1],[\"SET\",\"c\",1],[\"SET\",\"d\",1],[\"SET\",\"e\",1] and")
			.job(400, "malformed-body", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(5, 3, 0, 0, 0, 2));
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("NOT_SENT");
		assertThat(redis.client().dbsize()).isEqualTo(3);
	}

	@Test
	void aBatchWithABadRecordIsNotSentWhereNoErrorIsAllowed() throws Exception {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?atomic=batch&batchSize=2&maxErrors=0")) {
			wire.chunk("[\"SET\",\"a\",1]\n[\"SET\",\"b\",1]\n[\"SET\",\"c\",1]\n");
			await().until(() -> redis.client().dbsize() == 2);
			wire.chunk("[\"SET\"]\n[\"SET\",\"d\",1]\n");
			JsonNode stopped = wire.answer().job(422, "stopped", "stopped");
			assertThat(Answer.counts(stopped)).isEqualTo(new Counts(4, 2, 0, 1, 0, 1));
		}
		assertThat(redis.client().dbsize()).isEqualTo(2);
	}

	@Test
	void aBadRecordIsInNoBatch() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?atomic=batch&batchSize=2", "[\"SET\",\"a\",1]", "[\"SET\"]", "[\"SET\",\"b\",1]",
					"[\"SET\",\"c\",1]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 3, 0, 1, 0, 0));
		assertThat(transactions()).isEqualTo(2);
	}

	@Test
	void anErrorOfACommandThatRanIsItsOwn() {
		redis.client().set("string", "value");
		JsonNode report = this.service
			.ndjson("/v1/jobs?atomic=batch&results=all", "[\"SET\",\"a\",1,\"NX\"]",
					"{\"op\":\"SADD\",\"key\":\"string\",\"args\":[\"x\"],\"id\":\"mine\"}", "[\"SET\",\"a\",2,\"NX\"]",
					"[\"INCRBY\",\"n\",5]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 2, 1, 1, 0, 0));
		assertThat(report.at("/items/1/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(report.at("/items/1/id").asString()).isEqualTo("mine");
		assertThat(report.at("/items/3/reply").asInt()).isEqualTo(5);
		assertThat(redis.client().get("a")).isEqualTo("1");
	}

	@Test
	void aCommandThatRedisRefusesKeepsItsBatchFromRunningAndTheNextGoesOn() {
		own.forbid(CommandType.SADD);
		JsonNode report = this.service
			.ndjson("/v1/jobs?atomic=batch&batchSize=3", "[\"SET\",\"a\",1]", "[\"SADD\",\"s\",1]",
					"[\"LPUSH\",\"l\",1]", "[\"SET\",\"d\",1]", "[\"SET\",\"e\",1]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 2, 0, 3, 0, 0));
		assertThat(report.at("/items").valueStream().map((item) -> item.at("/error/code").asString()).toList())
			.containsExactly("EXECABORT", "NOPERM", "EXECABORT");
		assertThat(report.at("/items/0/error/retryable").asBoolean()).isTrue();
		assertThat(report.at("/items/1/error/retryable").asBoolean()).isFalse();
		assertThat(redis.client().keys("*")).containsExactlyInAnyOrder("d", "e");
	}

	@Test
	void aRedisThatIsFullRefusesTheWholeBatchAndStopsTheJob() {
		redis.client().configSet("maxmemory", "1");
		JsonNode job = this.service.post("/pipeset/4?atomic=batch&batchSize=2").job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(4, 0, 0, 2, 0, 2));
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("OOM");
	}

	@Test
	void recordsOfAllKindsShareATransaction() {
		String sha = this.service.post("/v1/scripts", "text/plain", "return redis.call('INCR', KEYS[1])")
			.json()
			.at("/sha")
			.asString();
		redis.client().scriptFlush();
		JsonNode report = this.service
			.ndjson("/v1/jobs?atomic=batch&ttl=100&results=all", "[\"SET\",\"s\",1]", "[\"HSET\",\"h\",\"f\",1]",
					"[\"EVALSHA\",\"" + sha + "\",1,\"n\"]", "[\"DEL\",\"s\",\"h\"]",
					"[\"EVALSHA\",\"" + sha + "\",1,\"n\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 5, 0, 0, 0, 0));
		assertThat(report.at("/items/4/reply").asInt()).isEqualTo(2);
		assertThat(report.at("/items/3/reply").asInt()).isEqualTo(2);
		assertThat(transactions()).isEqualTo(1);
	}

	@Test
	void aTransactionWhoseEndDidNotLeaveTheServiceIsUnprocessed() throws Exception {
		String value = "x".repeat(15 << 20);
		redis.pause();
		JsonNode job = this.service
			.ndjson("/v1/jobs?atomic=batch&timeout=300ms", "[\"SET\",\"k\",\"" + value + "\"]", "[\"SET\",\"k2\",1]")
			.job(503, "redis-unreachable", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 0, 0, 0, 0, 2));
		redis.resume();
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void nobodySeesHalfATransaction() throws Exception {
		int records = 200_000;
		List<Long> seen = new ArrayList<>();
		CompletableFuture<Void> looked = new CompletableFuture<>();
		var upload = this.service.sendAsync(
				this.service.uploading("/v1/jobs?atomic=batch&batchSize=500", Service.NDJSON, Lines.of(records, (i) -> {
					// The upload does not end before the test has looked at Redis.
					if (i == records - 1000) {
						looked.join();
					}
					return "[\"RPUSH\",\"list\"," + i + "]";
				})));
		while (!upload.isDone()) {
			seen.add(redis.client().llen("list"));
			if (seen.size() > 100 && seen.get(seen.size() - 1) > 0) {
				looked.complete(null);
			}
		}
		assertThat(Answer.counts(upload.get().report()).applied()).isEqualTo(records);
		assertThat(seen).allMatch((length) -> length % 500 == 0);
		assertThat(redis.client().lrange("list", 0, -1))
			.isEqualTo(IntStream.range(0, records).mapToObj(Integer::toString).toList());
	}

	private static long transactions() {
		return redis.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_exec:"))
			.mapToLong((line) -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+).*", "$1")))
			.findFirst()
			.orElse(0);
	}

}
