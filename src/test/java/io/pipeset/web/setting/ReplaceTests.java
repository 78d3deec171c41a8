package io.pipeset.web.setting;

import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A load with a pattern leaves the keys that it wrote, and no others of that pattern. */
@ServiceTest
class ReplaceTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ReplaceTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void fillRedis() {
		this.redis.flushall();
		this.redis.mset(IntStream.range(0, 1000).boxed().collect(Collectors.toMap((i) -> "p:old" + i, (i) -> "v")));
		this.redis.set("other", "v");
		this.redis.set("pipeset:own", "v");
		this.redis.hset("p:hash", "f", "v");
	}

	@Test
	void keysThatTheLoadDidNotWriteAreRemoved() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?replace=p:*", "[\"SET\",\"p:1\",\"v\"]", "[\"SET\",\"p:old7\",\"w\"]",
					"[\"SET\",\"else\",\"v\"]", "[\"HSET\",\"p:h\",\"f\",\"v\"]",
					"[\"MSET\",\"p:2\",\"v\",\"p:3\",\"v\"]",
					"{\"op\":\"HSET\",\"key\":\"p:t\",\"fields\":{\"a\":1},\"ttl\":500}", "[\"SET\",\"p:gone\",\"v\"]",
					"[\"RENAME\",\"p:gone\",\"p:new\"]", "[\"DEL\",\"p:old8\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(9, 9, 0, 0, 0, 0));
		// One key was deleted by a record, and one was written again.
		assertReplaced(report, 7, 999);
		assertThat(report.at("/settings/replace").asString()).isEqualTo("p:*");
		assertThat(report.has("warnings")).isFalse();
		assertKeys("else", "other", "p:1", "p:2", "p:3", "p:h", "p:new", "p:old7", "p:t", "pipeset:own");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/300?replace=*", "/pipehset/300?concurrency=4&replace=*",
			"/pipeset/300?atomic=batch&batchSize=7&replace=*", "/pipeset/300?coalesce=off&flush=each&replace=*" })
	void generatedKeysReplaceAllKeysExceptThoseOfTheService(String call) {
		JsonNode report = this.service.post(call).report();
		assertReplaced(report, 300, 1002);
		assertThat(this.redis.dbsize()).isEqualTo(301);
		assertThat(this.redis.exists("pipeset:own")).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "op=HSET&key=p:%7Bid%7D&fields=name", "command=HSET%20p:%7Bid%7D%20name%20%7Bname%7D",
			"op=SET&key=p:%7Bid%7D&value=%7Bname%7D" })
	void rowsReplaceADataset(String mapping) {
		JsonNode report = this.service
			.post("/v1/jobs?replace=p:*&" + mapping, "text/csv", "id,name\n1,a\n2,b\nhash2,c\n")
			.report();
		assertReplaced(report, 3, 1001);
		assertKeys("other", "p:1", "p:2", "p:hash2", "pipeset:own");
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"SET\",\"p:1\"]", "[\"INCR\",\"p:hash\"]", "bad" })
	void nothingIsRemovedIfARecordFails(String record) {
		JsonNode report = this.service.ndjson("/v1/jobs?replace=p:*", "[\"SET\",\"p:1\",\"v\"]", record).report();
		assertThat(Answer.counts(report).rejected()).isEqualTo(1);
		assertNotReplaced(report, "1 of the records failed");
		assertThat(report.at("/state").asString()).isEqualTo("completed");
		assertThat(this.redis.dbsize()).isEqualTo(1004);
	}

	@Test
	void nothingIsRemovedIfTheBodyBreaksOff() {
		JsonNode report = this.service.post("/v1/jobs?replace=p:*", "application/json", "[[\"SET\",\"p:1\",\"v\"],")
			.job(400, "malformed-body", "failed");
		assertNotReplaced(report, "not all records were read");
		assertThat(this.redis.dbsize()).isEqualTo(1004);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "[\"SET\",\"q\",\"v\"]", "[\"DEL\",\"p:old1\"]" })
	void nothingIsRemovedIfNoKeyOfThePatternIsWritten(String record) {
		JsonNode report = this.service.ndjson("/v1/jobs?replace=p:*", record).report();
		assertNotReplaced(report, "no record wrote a key of that pattern", "a sweep of UNLINK");
		assertThat(this.redis.keys("p:*")).hasSizeGreaterThanOrEqualTo(1000);
	}

	@Test
	void aDryRunCountsAndRemovesNothing() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?replace=p:*&dryRun=true", "[\"SET\",\"p:1\",\"v\"]", "[\"SET\",\"p:old7\",\"w\"]")
			.report();
		assertReplaced(report, 1, 1000);
		assertThat(report.at("/commandsSent").asInt()).isZero();
		assertThat(report.at("/wouldRun").asInt()).isEqualTo(2);
		assertThat(this.redis.dbsize()).isEqualTo(1003);
		assertNotReplaced(this.service.ndjson("/v1/jobs?replace=p:*&dryRun=true", "[\"SET\",\"p:1\"]").report(),
				"would be removed", "1 of the records failed");
	}

	/** Redis shrinks its table meanwhile, so that SCAN returns keys twice. */
	@Test
	void aKeyThatScanReturnsTwiceIsKeptAndCountedOnce() {
		this.redis.flushall();
		this.service.post("/pipeset/100000").report();
		JsonNode report = this.service.post("/pipeset/1000?replace=keyA*").report();
		assertReplaced(report, 1000, 99_000);
		assertThat(this.redis.dbsize()).isEqualTo(1000);
	}

	@Test
	void readersNeverMissAKeyThatStays() {
		List<String> kept = IntStream.range(0, 100).mapToObj("keyA%05d"::formatted).toList();
		this.service.post("/pipeset/100").report();
		AtomicBoolean done = new AtomicBoolean();
		AtomicLong reads = new AtomicLong();
		CompletableFuture<Void> reader = OwnThread.run(() -> {
			while (!done.get()) {
				assertThat(this.redis.mget(kept.toArray(String[]::new))).allMatch((value) -> value.hasValue());
				reads.incrementAndGet();
			}
		});
		try {
			for (int i = 0; i < 10; i++) {
				this.service.post("/pipeset/10000").report();
				long before = reads.get();
				assertReplaced(this.service.post("/pipeset/100?replace=keyA*").report(), 100, 9900);
				await().until(() -> reads.get() > before || reader.isDone());
			}
		}
		finally {
			done.set(true);
		}
		reader.join();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/v1/jobs?op=DEL&replace=p:*                | DEL only removes
			/v1/jobs?op=UNLINK&replace=p:*             | from=scan&match=p:*&op=UNLINK
			/v1/jobs?op=LPOP&replace=p:*               | LPOP only removes
			/v1/jobs?replace=                          | such as product:*
			/v1/jobs?replace=%5Ba-%C3%A9%5D            | ASCII
			/v1/jobs?from=scan&match=*&op=UNLINK&replace=p:* | replace
			/piperpop/5?replace=p:*                    | replace
			""")
	void aRequestForWhichItHasNoMeaningIsRefused(String call, String reason) {
		Answer answer = (call.contains("scan") || call.contains("pop")) ? this.service.post(call)
				: this.service.ndjson(call, "[\"DEL\",\"p:hash\"]");
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.json().at("/detail").asString()).contains(reason);
		assertThat(this.redis.dbsize()).isEqualTo(1003);
	}

	private static void assertReplaced(JsonNode report, long kept, long removed) {
		assertThat(report.at("/replaced").toString()).as(report.toString())
			.isEqualTo("{\"kept\":" + kept + ",\"removed\":" + removed + "}");
	}

	private static void assertNotReplaced(JsonNode report, String... reasons) {
		assertThat(report.has("replaced")).isFalse();
		assertThat(report.at("/warnings/0/code").asString()).as(report.toString()).isEqualTo("NOT_REPLACED");
		assertThat(report.at("/warnings/0/detail").asString()).contains(reasons).contains("replace=p:*");
	}

	private void assertKeys(String... keys) {
		assertThat(new TreeSet<>(this.redis.keys("*"))).containsExactly(keys);
	}

}
