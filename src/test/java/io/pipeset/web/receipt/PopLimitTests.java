package io.pipeset.web.receipt;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job takes no more bytes out of Redis than its report may carry, whatever its records
 * are.
 */
@ServiceTest(properties = { "pipeset.limits.max-popped=1000", "pipeset.limits.max-popped-bytes=1MB" })
class PopLimitTests {

	private static final int LIMIT = 1 << 20;

	/** The number of values of 10,000 bytes that fit. */
	private static final int FITTING = LIMIT / 10_000;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	PopLimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			["RPOP","queue","600"]                     |
			{"op":"RPOP","key":"queue","count":600}    |
			["LPOP","queue",600]                       |
			["RPOP","queue",600]                       | ?concurrency=4&flush=each
			["RPOP","queue",600]                       | ?atomic=batch
			["RPOP","queue",600]                       | ?retries=3
			""")
	void aCountedPopTakesNoMoreThanFits(String record, String settings) {
		fill("queue", 600, 10_000);
		boolean left = record.contains("LPOP");
		List<String> expected = new ArrayList<>(
				this.redis.lrange("queue", (left) ? 0 : -FITTING, (left) ? FITTING - 1 : -1));
		if (!left) {
			Collections.reverse(expected);
		}
		Answer answer = this.service.ndjson("/v1/jobs" + ((settings != null) ? settings : ""), record);
		JsonNode job = answer.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.max-popped-bytes=1048576");
		assertThat(job.at("/items/0/op").asString()).isEqualTo((left) ? "LPOP" : "RPOP");
		assertThat(job.at("/items/0/key").asString()).isEqualTo("queue");
		assertThat(strings(job.at("/items/0/reply"))).isEqualTo(expected);
		assertThat(this.redis.llen("queue")).isEqualTo(600 - FITTING);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&coalesce=off", "&flush=each&concurrency=4", "&atomic=batch" })
	void valuesThatNobodyWantsCountForNoLimit(String settings) {
		fill("queue", 600, 10_000);
		this.redis.set("string", "v".repeat(10_000));
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=none" + settings, "[\"LPOP\",\"queue\",400]", "[\"RPOP\",\"queue\"]",
					"[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\",500]", "[\"RPOP\",\"queue\"]",
					"[\"GETDEL\",\"string\"]", "[\"GETDEL\",\"string\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(7, 5, 2, 0, 0, 0));
		assertThat(report.at("/items")).isEmpty();
		assertThat(report.at("/itemsOmitted").asLong()).isZero();
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?concurrency=4&flush=each" })
	void nothingIsSentBehindAPopThatWasCutShort(String settings) {
		fill("queue", 600, 10_000);
		JsonNode job = this.service
			.ndjson("/v1/jobs" + settings, "[\"SET\",\"a\",\"1\"]", "[\"RPOP\",\"queue\",600]", "[\"SET\",\"b\",\"2\"]",
					"[\"RPOP\",\"queue\"]")
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(job.at("/nextIndex").asInt()).isEqualTo(2);
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "queue");
		assertThat(this.redis.llen("queue")).isEqualTo(600 - FITTING);
	}

	@Test
	void severalCountedPopsShareTheLimit() {
		fill("queue", 600, 10_000);
		JsonNode job = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(100, (i) -> "[\"RPOP\",\"queue\",7]"))
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job).applied()).isEqualTo(FITTING / 7 + 1);
		assertThat(this.redis.llen("queue")).isEqualTo(600 - FITTING);
		assertThat(job.get("items").valueStream().mapToInt((item) -> item.get("reply").size()).sum())
			.isEqualTo(FITTING);
	}

	@Test
	void aPopOfExactlyWhatFitsIsNotCutShort() {
		fill("queue", 64, LIMIT / 64);
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",100]").report();
		assertThat(report.at("/items/0/reply")).hasSize(64);
		fill("queue", 65, LIMIT / 64);
		JsonNode job = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",64]", "[\"RPOP\",\"queue\"]")
			.job(422, "stopped", "stopped");
		assertThat(job.at("/items/0/reply")).hasSize(64);
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.llen("queue")).isOne();
	}

	@Test
	void aPopTakesItsFirstValueHoweverLarge() {
		fill("queue", 3, 2 * LIMIT);
		JsonNode job = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",3]").job(422, "stopped", "stopped");
		assertThat(job.at("/items/0/reply")).hasSize(1);
		job = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\"]")
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",3]").report();
		assertThat(report.at("/items/0/reply")).hasSize(1);
		assertThat(this.redis.exists("queue")).isZero();
	}

	@Test
	void aCountedPopReadsAsItAlwaysDoes() {
		this.redis.set("text", "no list");
		this.redis.rpush("queue", "a", "b", "", "\u20ac");
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all", "[\"RPOP\",\"none\",5]", "[\"RPOP\",\"text\",500]",
					"{\"op\":\"LPOP\",\"key\":\"queue\",\"count\":900,\"id\":\"all\"}", "[\"RPOP\",\"queue\",900]",
					"[\"RPOP\",\"queue\",0]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 1, 3, 1, 0, 0));
		assertThat(report.at("/items/0/reply").isNull()).isTrue();
		assertThat(report.at("/items/1/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(report.at("/items/2/id").asString()).isEqualTo("all");
		assertThat(strings(report.at("/items/2/reply"))).containsExactly("a", "b", "", "\u20ac");
		assertThat(report.at("/items/3/reply").isNull()).isTrue();
	}

	@Test
	void aCountedPopShowsBytesAsItsRecordAsksFor() {
		this.redis.rpush("cXVldWU=", "not this one");
		this.redis.rpush("queue", "a", "b");
		JsonNode report = this.service.ndjson("/v1/jobs?encoding=base64", "[\"RPOP\",\"cXVldWU=\",\"OTAw\"]").report();
		assertThat(strings(report.at("/items/0/reply"))).containsExactly("Yg==", "YQ==");
		assertThat(report.at("/items/0/key").asString()).isEqualTo("cXVldWU=");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/60?key=queue", "/piperpop/60?key=queue&reliable=true", "/v1/jobs",
			"/v1/jobs?concurrency=4" })
	void aJobLooksAtAFewValuesBeforeItAsksForMany(String path) {
		fill("queue", 60, LIMIT / 5);
		Answer answer = (path.startsWith("/v1"))
				? this.service.upload(path, Service.NDJSON, Lines.of(60, (i) -> "[\"RPOP\",\"queue\"]"))
				: this.service.post(path);
		JsonNode job = answer.job(422, "stopped", "stopped");
		// Five values are a little less than the limit.
		assertThat(Answer.counts(job).applied()).isEqualTo(6);
		assertThat(this.redis.llen("queue")).isEqualTo(54);
	}

	@Test
	void aListWhoseValuesGrowIsAskedForNoMoreThanFourTimesWhatWasSeen() {
		fill("queue", 500, LIMIT / 5);
		this.redis.rpush("queue", "a", "b", "c", "d", "e");
		JsonNode job = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(500, (i) -> "[\"RPOP\",\"queue\"]"))
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job).applied()).isEqualTo(1 + 4 + 20);
	}

	@Test
	void popsOfAnEmptyListAreNotSentOneByOne() {
		JsonNode report = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(1000, (i) -> "[\"RPOP\",\"queue\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1000, 0, 1000, 0, 0, 0));
		assertThat(report.at("/timings/batches/count").asInt()).isLessThan(100);
	}

	@Test
	void emptyListsDoNotMakeValuesThatNobodySawSmall() {
		fill("queue", 100, 60_000);
		JsonNode job = this.service
			.upload("/v1/jobs", Service.NDJSON,
					Lines.of(300, (i) -> "[\"RPOP\",\"" + ((i < 200) ? "empty" : "queue") + "\"]"))
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job).noop()).isEqualTo(200);
		assertThat(Answer.counts(job).applied()).isEqualTo(LIMIT / 60_000 + 1);
	}

	@Test
	void smallValuesAreSoonPoppedInLargeBatches() {
		this.service.post("/listinput/queue?count=1000").report();
		JsonNode report = this.service.post("/piperpop/1000?key=queue").report();
		assertThat(report.get("values")).hasSize(1000);
		assertThat(report.at("/timings/batches/count").asInt()).isLessThan(10);
	}

	@Test
	void aTransactionIsNotCutShortToLookAtItsFirstValues() {
		this.redis.rpush("queue", "a", "b", "c");
		JsonNode report = this.service
			.ndjson("/v1/jobs?atomic=batch", "[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\",1]", "[\"SET\",\"k\",\"v\"]",
					"[\"RPOP\",\"queue\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
		assertThat(report.at("/timings/batches/count").asInt()).isOne();
	}

	private void fill(String list, int values, int bytes) {
		for (int i = 0; i < values; i++) {
			String number = Integer.toString(i);
			this.redis.rpush(list, number + "x".repeat(bytes - number.length()));
		}
	}

	private static List<String> strings(JsonNode array) {
		return IntStream.range(0, array.size()).mapToObj((i) -> array.get(i).asString()).toList();
	}

}
