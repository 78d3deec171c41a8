package io.pipeset.web.setting;

import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** An estimate says how much memory a load will need, before it is run. */
@ServiceTest
class EstimateTests {

	private static final String ESTIMATE = "?dryRun=true&estimate=true";

	private static final String NDJSON = "application/x-ndjson";

	@RegisterExtension
	static final OwnRedis redis = OwnRedis.start().as("loader");

	private final Service service;

	EstimateTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	@BeforeEach
	void empty() {
		redis.permitAll();
		redis.redis().client().flushall();
	}

	@AfterEach
	void noKeyIsLeft() {
		assertThat(redis.redis().client().keys("pipeset:estimate:*")).isEmpty();
		redis.redis().client().configSet("maxmemory", "0");
	}

	/** An outer bound, because Redis allocates tables and buffers in powers of two. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					strings      | 40000 | string | ["SET","key:%1$d","value %1$d"]
					expiring     | 40000 | string | ["SET","key:%1$d","value %1$d","EX","1000"]
					overwritten  | 40000 | string | {"op":"SET","key":"k:%2$d","value":"%1$d a rather long valueaaa"}
					hashes       | 20000 | hash   | {"op":"HSET","key":"h:%1$d","fields":{"name":"n%1$d","city":"Rome","age":%1$d}}
					fields       | 60000 | hash   | {"op":"HSET","key":"h:%2$d","fields":{"f%1$d":"v%1$d"}}
					hash-ttl     | 20000 | hash   | {"op":"HSET","key":"h:%1$d","fields":{"name":"n%1$d"},"ttl":1000}
					one-list     | 60000 | list   | ["RPUSH","list","an element of the list, the %1$dth"]
					sorted-sets  | 60000 | zset   | ["ZADD","z:%3$d","%1$d","member:%1$d"]
					small-zsets  | 60000 | zset   | ["ZADD","z:%2$d","%1$d","member:%1$d"]
					sets         | 60000 | set    | ["SADD","s:%3$d","%1$d"]
					pairs        | 20000 | string | ["MSET","a:%1$d","1","b:%1$d","a longer value than that"]
					""")
	void itIsCloseToWhatTheLoadWillNeed(String name, int records, String type, String record) {
		IntFunction<String> line = (i) -> String.format(Locale.ROOT, record, i, i % 6000, i % 12);
		String body = IntStream.range(0, records).mapToObj(line).collect(Collectors.joining("\n"));
		JsonNode estimate = report(ESTIMATE, body).get("estimate");
		assertThat(redis.redis().client().dbsize()).as("nothing was written").isZero();
		long before = used();
		JsonNode loaded = report("", body);
		assertThat(Answer.counts(loaded).errors()).isZero();
		long needed = used() - before;
		assertThat(estimate.get("bytes").asLong()).as("bytes of %s, which need %d", name, needed)
			.isBetween(needed * 3 / 4, needed * 4 / 3);
		assertThat(estimate.at("/types/" + type + "/bytes").asLong()).isEqualTo(estimate.get("bytes").asLong());
		long keys = redis.redis().client().dbsize();
		assertThat(estimate.at("/types/" + type + "/keys").asLong()).isBetween(keys * 4 / 5, keys * 5 / 4);
		assertThat(estimate.get("sampled").asLong()).isBetween(Math.min(50L, records), 1000L);
		assertThat(estimate.get("usedBytes").asLong()).isPositive();
		assertThat(estimate.has("maxBytes")).isFalse();
		assertThat(estimate.has("fits")).isFalse();
	}

	/** The sample has a part of the keys, and their hashes decide which. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			10000 | 3 | ["SET","%2$s:%1$d","value %1$d"]   | ["ZADD","%2$s:board","%1$d","player:%1$d"]
			20000 | 1 | ["ZADD","%2$s:%1$d","%1$d","m"]    | ["ZADD","%2$s:board","%1$d","player:%1$d"]
			20000 | 1 | ["HSET","%2$s:%3$d","f%1$d","v"]   | ["HSET","%2$s:%3$d","g%1$d","v"]
			100   | 9 | ["HSET","%2$s:%3$d","%1$d","%4$s"] | ["SET","%2$s:big:%1$d","%4$s%4$s%4$s"]
			""")
	void fewAndLargeKeysAreMeasuredForThemselves(int large, int others, String small, String record) {
		String value = "x".repeat(3000);
		for (String prefix : List.of("a", "key", "user", "session")) {
			IntFunction<String> lines = (i) -> IntStream.range(i * others, (i + 1) * others)
				.mapToObj((j) -> String.format(Locale.ROOT, small, j, prefix, j % 100, value) + "\n")
				.collect(Collectors.joining()) + String.format(Locale.ROOT, record, i, prefix, i % 100, value);
			String body = IntStream.range(0, large).mapToObj(lines).collect(Collectors.joining("\n"));
			redis.redis().client().flushall();
			long estimated = report(ESTIMATE, body).at("/estimate/bytes").asLong();
			long before = used();
			assertThat(Answer.counts(report("", body)).errors()).isZero();
			long needed = used() - before;
			assertThat(estimated).as("bytes of %s, which need %d", prefix, needed)
				.isBetween(needed * 3 / 4, needed * 5 / 4);
		}
	}

	/** The sample has room for about 20 of the 100 records. */
	@Test
	void aSampleThatSaysTooLittleIsLeftOut() {
		IntFunction<String> line = (i) -> IntStream.range(0, 2000)
			.mapToObj((j) -> "\"k:" + i + ":" + j + "\",\"v\"")
			.collect(Collectors.joining(",", "[\"MSET\",", "]\n"));
		JsonNode report = report(ESTIMATE, IntStream.range(0, 100).mapToObj(line).collect(Collectors.joining()));
		assertThat(report.has("estimate")).isFalse();
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("NOT_ESTIMATED");
		assertThat(report.at("/warnings/0/detail").asString()).contains("25 %");
	}

	@Test
	void itDoesNotSayThatKeysFitWhichMayNeedMore() {
		redis.redis().client().configSet("maxmemory", String.valueOf(used() + 3_000_000));
		JsonNode estimate = report(ESTIMATE, lines(10) + "\n[\"SETBIT\",\"bits\",\"99999999\",\"1\"]").get("estimate");
		assertThat(estimate.has("maxBytes")).isTrue();
		assertThat(estimate.has("fits")).isFalse();
	}

	private long used() {
		String info = redis.redis().client().info("memory");
		return Long.parseLong(info.replaceAll("(?s).*used_memory_dataset:(\\d+).*", "$1"))
				+ Long.parseLong(info.replaceAll("(?s).*used_memory_overhead:(\\d+).*", "$1"));
	}

	private JsonNode report(String query, String body) {
		return this.service.post("/v1/jobs" + query, NDJSON, body).report();
	}

	@Test
	void itSaysWhetherTheKeysFit() {
		redis.redis().client().configSet("maxmemory", String.valueOf(used() + 3_000_000));
		JsonNode small = report(ESTIMATE, lines(1000)).get("estimate");
		assertThat(small.get("fits").asBoolean()).isTrue();
		assertThat(small.get("maxBytes").asLong()).isGreaterThan(small.get("usedBytes").asLong());
		assertThat(report(ESTIMATE, lines(100_000)).at("/estimate/fits").asBoolean()).isFalse();
	}

	@Test
	void aFullRedisIsNotMeasured() {
		redis.redis().client().configSet("maxmemory", "1");
		JsonNode report = report(ESTIMATE, lines(10));
		assertThat(report.has("estimate")).isFalse();
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("NOT_ESTIMATED");
		assertThat(report.at("/warnings/0/detail").asString()).contains("OOM");
		assertThat(report.get("state").asString()).isEqualTo("completed");
	}

	@Test
	void aUserThatMayNotDoItIsTold() {
		redis.forbid(CommandType.EVAL);
		JsonNode report = report(ESTIMATE, lines(10));
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("NOT_ESTIMATED");
		assertThat(report.at("/warnings/0/detail").asString()).contains("NOPERM", "pipeset:*");
		redis.permit(AclSetuserArgs.Builder.reset().allCommands().keyPattern("app:*"));
		assertThat(report(ESTIMATE, lines(10)).at("/warnings/0/code").asString()).isEqualTo("NOT_ESTIMATED");
	}

	@Test
	void aRecordThatRedisWouldRefuseIsLeftOut() {
		JsonNode estimate = report(ESTIMATE, "[\"SET\",\"a\",\"b\"]\n[\"INCR\",\"a\"]\n[\"LPUSH\",\"a\",\"1\"]\n")
			.get("estimate");
		assertThat(estimate.at("/types/string/keys").asLong()).isOne();
		assertThat(estimate.get("types")).hasSize(1);
		assertThat(report(ESTIMATE, "").at("/estimate/bytes").asLong(-1)).isZero();
		assertThat(report(ESTIMATE, "[\"DEL\",\"a\"]").at("/estimate/bytes").asLong(-1)).isZero();
	}

	/** Redis allocates 3.5 MB for a string of 3 MB and its header. */
	@Test
	void largeRecordsCount() {
		String value = "x".repeat(3 << 20);
		JsonNode estimate = report(ESTIMATE, "[\"SET\",\"a\",\"" + value + "\"]\n[\"SET\",\"b\",\"" + value + "\"]\n")
			.get("estimate");
		assertThat(estimate.get("bytes").asLong()).isBetween((7L << 20) - 10_000, (7L << 20) + 10_000);
	}

	@Test
	void recordsThatFillTheSampleCount() {
		String value = "x".repeat(1 << 20);
		String body = IntStream.range(0, 15)
			.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"" + value + "\"]")
			.collect(Collectors.joining("\n"));
		assertThat(report(ESTIMATE, body).at("/estimate/bytes").asLong()).isBetween(15L << 20, 20L << 20);
	}

	@Test
	void itIsOnlyForDryRuns() {
		assertThat(this.service.post("/v1/jobs?estimate=true", NDJSON, lines(1)).refusal(400, "invalid-setting"))
			.contains("'estimate'", "dryRun=true");
		assertThat(this.service.post("/v1/jobs?from=scan&match=*&op=DEL&dryRun=true&estimate=true")
			.refusal(400, "unknown-setting")).contains("'estimate'");
	}

	private static String lines(int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> "[\"SET\",\"k:" + i + "\",\"v\"]")
			.collect(Collectors.joining("\n"));
	}

}
