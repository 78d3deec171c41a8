package io.pipeset.web.setting;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A key that SET or HSET writes expires after the time that its record names, or else
 * after that of the job.
 */
@ServiceTest
class TtlTests {

	private static final long LONGEST = 999_999_999;

	/** The most that options of commands take, by the bounds of Redis. */
	private static final long LONGEST_OPTION = 9_000_000_000_000_000L;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	TtlTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			{"op":"SET","key":"k","value":"v"}                     | 500
			{"op":"SET","key":"k","value":"v","ttl":90}            | 90
			["SET","k","v"]                                        | 500
			["SET","k","v","EX",90]                                | 90
			["SET","k","v","px","90000"]                           | 90
			["SET","k","v","NX"]                                   | 500
			["SET","k","v","keepttl"]                              | -1
			{"op":"HSET","key":"k","fields":{"f":"v"}}             | 500
			{"op":"HSET","key":"k","fields":{"f":"v"},"ttl":90}    | 90
			{"op":"HSET","key":"k","fields":{"f":"v"},"ttl":"2h"}  | 7200
			{"op":"SET","key":"k","value":"v","ttl":"PT2M"}        | 120
			["HSET","k","f","v","g","w"]                           | 500
			["LPUSH","k","a"]                                      | -1
			["SADD","k","a"]                                       | -1
			""")
	void theRecordsOwnWins(String record, long ttl) {
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=500&results=all", record).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(report.at("/items/0/key").asString()).isEqualTo("k");
		if (ttl > 0) {
			assertThat(this.redis.ttl("k")).isBetween(ttl - 60, ttl);
		}
		else {
			assertThat(this.redis.ttl("k")).isEqualTo(ttl);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					text/csv                 | /v1/jobs?op=SET&ttl=500   | key,value\\nk,v                  | 500
					text/csv                 | /v1/jobs?op=SET&ttl=500   | key,value,ttl\\nk,v,90           | 90
					text/csv                 | /v1/jobs?op=SET&ttl=500   | key,value,ttl\\nk,v,2m           | 120
					text/csv                 | /v1/jobs?op=SET&ttl=7d    | key,value\\nk,v                  | 604800
					text/csv                 | /v1/jobs?op=HSET&ttl=500  | key,f\\nk,v                      | 500
					text/plain               | /v1/jobs?ttl=500          | HSET k f v                        | 500
					text/plain               | /v1/jobs?ttl=500          | SET k v EX 90                     | 90
					application/x-redis-resp | /v1/jobs?ttl=500          | *3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$1\\r\\nv\\r\\n | 500
					""")
	void recordsOfEveryFormatExpire(String type, String path, String body, long ttl) {
		String text = body.replace("\\r", "\r").replace("\\n", "\n");
		assertThat(Answer.counts(this.service.post(path, type, text).report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.ttl("k")).isBetween(ttl - 60, ttl);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/20?ttl=500", "/pipehset/20?ttl=500&concurrency=3" })
	void generatedRecordsExpireToo(String path) {
		this.service.post(path).report();
		List<String> keys = this.redis.keys("*");
		assertThat(keys).hasSize(20);
		for (String key : keys) {
			assertThat(this.redis.ttl(key)).as(key).isBetween(440L, 500L);
		}
	}

	@ParameterizedTest
	@CsvSource({ "3600, 3600", "90s, 90", "1h, 3600", "7d, 604800", "PT1H, 3600", "60000ms, 60" })
	void theSettingIsSecondsOrADuration(String ttl, long seconds) {
		for (String path : List.of("/pipeset/1", "/pipehset/1")) {
			this.redis.flushall();
			JsonNode report = this.service.post(path + "?ttl=" + ttl).report();
			assertThat(report.at("/settings/ttl").asLong()).isEqualTo(seconds);
			assertThat(this.redis.ttl(this.redis.randomkey())).isBetween(Math.max(1, seconds - 60), seconds);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "10%", "10%25", "10" })
	void timesToLiveAreSpread(String jitter) throws IOException {
		for (String path : List.of("/pipeset/1000", "/pipehset/1000")) {
			this.redis.flushall();
			JsonNode settings;
			try (Wire wire = Wire.post(this.service, path + "?ttl=10h&ttlJitter=" + jitter)) {
				settings = wire.answer().report().get("settings");
			}
			assertThat(settings.at("/ttlJitter").asString()).isEqualTo("10%");
			assertThat(settings.at("/ttl").asLong()).isEqualTo(36_000);
			List<Long> ttls = this.redis.keys("*").stream().map(this.redis::ttl).toList();
			assertThat(ttls).hasSize(1000).allSatisfy((ttl) -> assertThat(ttl).isBetween(32_400L - 60, 39_600L));
			assertThat(ttls.stream().distinct()).hasSizeGreaterThan(1);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "51", "51%25", "-1", "ten", "", "%25", "10%25%25", "1.5" })
	void aShareOutOfItsBoundsIsRefusedByName(String jitter) {
		assertThat(this.service.post("/pipeset/1?ttl=1h&ttlJitter=" + jitter).refusal(400, "invalid-setting"))
			.contains("'ttlJitter'")
			.contains("0 to 50 percent");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(longs = { LONGEST + 1, 4_102_444_800L, 9_223_372_036_854_775L, Long.MAX_VALUE })
	void aTimeToLiveThatIsATimestampIsRefusedWithAPointer(long ttl) {
		assertRefused(this.service
			.ndjson("/v1/jobs", "{\"op\":\"HSET\",\"key\":\"k\",\"fields\":{\"f\":\"v\"},\"ttl\":" + ttl + "}",
					"{\"op\":\"SET\",\"key\":\"k\",\"value\":\"v\",\"ttl\":" + ttl + "}")
			.report(), 2, ttl, LONGEST);
		assertRefused(this.service.post("/v1/jobs?op=SET", "text/csv", "key,value,ttl\nk,v," + ttl).report(), 1, ttl,
				LONGEST);
		assertThat(this.service.post("/pipehset/1?ttl=" + ttl).refusal(400, "invalid-setting")).contains("'ttl'")
			.contains("1 to " + LONGEST)
			.contains("expireAt")
			.contains("'" + ttl + "'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(longs = { 9_223_372_036_854_775L, LONGEST_OPTION + 1, Long.MAX_VALUE })
	void whatRedisDoesNotTakeIsRefusedUnsent(long ttl) {
		assertRefused(this.service.ndjson("/v1/jobs", "[\"SET\",\"k\",\"v\",\"EX\"," + ttl + "]").report(), 1, ttl,
				LONGEST_OPTION);
		assertRefused(this.service.post("/v1/jobs", "text/plain", "SET k v EX " + ttl).report(), 1, ttl,
				LONGEST_OPTION);
		String digits = Long.toString(ttl);
		assertRefused(this.service
			.post("/v1/jobs", "application/x-redis-resp",
					"*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nEX\r\n$" + digits.length() + "\r\n" + digits
							+ "\r\n")
			.report(), 1, ttl, LONGEST_OPTION);
		assertThat(this.redis.dbsize()).isZero();
	}

	private static void assertRefused(JsonNode report, int records, long ttl, long longest) {
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, 0, 0, records, 0, 0));
		assertThat(report.at("/bytesSent").asLong()).isZero();
		for (JsonNode item : report.get("items")) {
			assertThat(item.at("/error/code").asString()).isEqualTo("MALFORMED");
			assertThat(item.at("/error/message").asString()).containsAnyOf("'ttl'", "EX")
				.contains("1 to " + longest)
				.contains(Long.toString(ttl));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					application/x-ndjson | /v1/jobs                           | {"op":"HSET","key":"k","fields":{"f":"v"},"ttl":999999999}
					application/x-ndjson | /v1/jobs                           | {"op":"SET","key":"k","value":"v","ttl":999999999}
					application/x-ndjson | /v1/jobs?ttl=999999999      | ["HSET","k","f","v"]
					application/x-ndjson | /v1/jobs?ttl=999999999      | ["SET","k","v"]
					text/csv             | /v1/jobs?op=SET                    | key,value,ttl\\nk,v,999999999
					text/csv             | /v1/jobs?op=HSET&ttl=999999999 | key,f\\nk,v
					text/plain           | /v1/jobs                           | SET k v PX 999999999000
					""")
	void theLongestTimeToLiveIsOneThatRedisTakes(String type, String path, String body) {
		assertThat(Answer.counts(this.service.post(path, type, body.replace("\\n", "\n")).report()))
			.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.ttl("k")).isBetween(LONGEST - 60, LONGEST);
	}

	@Test
	void aHashThatExpiresIsReportedAsTheHsetThatItIs() {
		this.redis.hset("k", "f", "old");
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all",
					"{\"op\":\"HSET\",\"key\":\"k\",\"fields\":{\"f\":\"v\",\"g\":\"w\"},\"ttl\":90,\"id\":\"row\"}",
					"[\"HSET\",\"other\",\"f\",\"v\"]")
			.report();
		assertThat(report.at("/items/0/op").asString()).isEqualTo("HSET");
		assertThat(report.at("/items/0/key").asString()).isEqualTo("k");
		assertThat(report.at("/items/0/id").asString()).isEqualTo("row");
		assertThat(report.at("/items/0/reply").asInt()).isOne();
		assertThat(report.at("/items/1/key").asString()).isEqualTo("other");
		assertThat(this.redis.hget("k", "f")).isEqualTo("v");
		assertThat(this.redis.ttl("other")).isEqualTo(-1);
	}

	@Test
	void aHashThatIsRefusedDoesNotExpire() {
		this.redis.rpush("list", "stays");
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"list\",\"f\",\"v\"]").report();
		assertThat(report.at("/items/0/op").asString()).isEqualTo("HSET");
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(report.at("/items/0/error/message").asString())
			.isEqualTo("WRONGTYPE Operation against a key holding the wrong kind of value");
		assertThat(this.redis.ttl("list")).isEqualTo(-1);
	}

	@Test
	void aHashOfMoreFieldsThanAScriptsStackHoldsExpires() {
		String fields = IntStream.range(0, 20_001)
			.mapToObj((i) -> "\"f" + i + "\":" + i)
			.collect(Collectors.joining(","));
		JsonNode report = this.service
			.ndjson("/v1/jobs?ttl=90&results=all", "{\"op\":\"HSET\",\"key\":\"k\",\"fields\":{" + fields + "}}")
			.report();
		assertThat(report.at("/items/0/reply").asInt()).isEqualTo(20_001);
		assertThat(this.redis.hlen("k")).isEqualTo(20_001);
		assertThat(this.redis.hget("k", "f20000")).isEqualTo("20000");
		assertThat(this.redis.ttl("k")).isBetween(30L, 90L);
	}

	@Test
	void aRedisThatHasForgottenTheScriptIsToldAgain() {
		for (int i = 0; i < 3; i++) {
			this.redis.scriptFlush();
			assertThat(
					Answer.counts(this.service.post("/pipehset/5000?ttl=90&flush=buffered:7&concurrency=2").report()))
				.isEqualTo(new Counts(5000, 5000, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isEqualTo(5000);
	}

	@Test
	void whatIsSentForAScriptCountsAsSent() {
		long without = this.service.ndjson("/v1/jobs", "[\"HSET\",\"k\",\"f\",\"v\"]")
			.report()
			.at("/bytesSent")
			.asLong();
		long with = this.service.ndjson("/v1/jobs?ttl=5", "[\"HSET\",\"k\",\"f\",\"v\"]")
			.report()
			.at("/bytesSent")
			.asLong();
		assertThat(with).isGreaterThan(without + 200);
	}

}
