package io.pipeset.web.upload;

import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bytes of Redis's answers in a report are bounded, and the report counts the items
 * that it omits.
 */
@ServiceTest(properties = { "pipeset.limits.max-items-bytes=100KB", "pipeset.limits.max-popped-bytes=400KB",
		"pipeset.security.scripts=true" })
class ReplyLimitTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ReplyLimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&flush=each", "&concurrency=4", "&atomic=batch&batchSize=3" })
	void repliesThatDoNotFitAreOmittedAndCounted(String settings) {
		for (int i = 0; i < 10; i++) {
			this.redis.set("k" + i, "x".repeat(30_000));
		}
		JsonNode report = this.service
			.upload("/v1/jobs?results=all" + settings, Service.NDJSON,
					Lines.of(12, (i) -> (i < 10) ? "[\"SET\",\"k" + i + "\",\"new\",\"GET\"]" : "[\"INCRBY\",\"n\",1]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(12, 12, 0, 0, 0, 0));
		assertThat(report.get("items")).hasSize(3 + 2);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(7);
		assertThat(StreamSupport.stream(report.get("items").spliterator(), false)
			.filter((item) -> item.get("op").asString().equals("SET")))
			.allSatisfy((item) -> assertThat(item.get("reply").asString()).hasSize(30_000));
		assertThat(report.at("/items/4/reply").asInt()).isEqualTo(2);
		assertThat(this.redis.get("k9")).isEqualTo("new");
	}

	@Test
	void errorsThatDoNotFitAreOmittedAndCounted() {
		String sha = this.service
			.post("/v1/scripts", "text/plain", "return redis.error_reply('BIG ' .. string.rep('x', 60000))")
			.json()
			.get("sha")
			.asString();
		JsonNode report = this.service
			.upload("/v1/jobs", Service.NDJSON, Lines.of(400, (i) -> "[\"EVALSHA\",\"" + sha + "\",1,\"k\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(400, 0, 0, 400, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("BIG");
		assertThat(report.at("/items/0/error/message").asString()).startsWith("BIG xxx").hasSize(514);
		assertThat(report.get("items").size()).isBetween(150, 199);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(400 - report.get("items").size());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''                         | ["INCRBY","%s","x"]                     | 6
			''                         | ["LPUSH","%s","x"]                      | 6
			''                         | {"op":"LPUSH","key":"%s","value":"x"}   | 6
			?results=all               | ["SET","%s","x"]                        | 6
			?results=all               | ["SET","%s","x","GET"]                  | 6
			?results=all               | ["LPOP","%s",0]                         | 6
			?results=all&dryRun=true   | ["SET","%s","x"]                        | 3
			?results=all&dryRun=true   | ["RPOP","%s"]                           | 3
			""")
	void keysThatDoNotFitAreOmittedAndCountedWithTheirItems(String settings, String record, int listed) {
		String key = "k".repeat(15_000);
		for (int i = 0; i < 10; i++) {
			if (record.contains("LPUSH")) {
				this.redis.set(key + i, "");
			}
		}
		JsonNode report = this.service
			.upload("/v1/jobs" + settings, Service.NDJSON, Lines.of(10, (i) -> record.formatted(key + i)))
			.report();
		assertThat(report.get("items").size()).isEqualTo(listed);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(10 - listed);
		assertThat(report.at("/items").path(listed - 1).get("key").asString()).isEqualTo(key + (listed - 1));
	}

	/** After pops with small values, up to four times as many pops are under way. */
	@Test
	void aJobStopsBeforeItListsMoreKeysOfPopsThanAReportMayCarry() {
		String key = "k".repeat(15_000);
		this.redis.rpush(key, IntStream.range(0, 1000).mapToObj(String::valueOf).toArray(String[]::new));
		JsonNode job = this.service
			.upload("/v1/jobs", Service.NDJSON, Lines.of(1000, (i) -> "[\"RPOP\",\"" + key + "\"]"))
			.job(422, "stopped", "stopped");
		long taken = Answer.counts(job).applied();
		assertThat(taken).isBetween(20L, 200L);
		assertThat(job.get("items")).hasSize((int) taken);
		assertThat(job.at("/items/0/key").asString()).isEqualTo(key);
		assertThat(this.redis.llen(key)).isEqualTo(1000 - taken);
	}

	@Test
	void valuesTakenOutOfRedisAreListedAllTheSame() {
		for (int i = 0; i < 10; i++) {
			this.redis.rpush("queue", "x".repeat(30_000));
		}
		JsonNode report = this.service
			.upload("/v1/jobs?results=all", Service.NDJSON, Lines.of(10, (i) -> "[\"RPOP\",\"queue\"]"))
			.report();
		assertThat(report.get("items")).hasSize(10);
		assertThat(report.get("itemsOmitted").asInt()).isZero();
	}

}
