package io.pipeset.web.setting;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.OperationFinder;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.request.JobSettings;
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

/** A key expires at the timestamp that its record or the job names. */
@ServiceTest
class ExpireAtTests {

	private static final String CSV = "text/csv";

	/** The beginning of the year 2100, in seconds. */
	private static final long TIMESTAMP = 4_102_444_800L;

	/** Timestamps as one finds them in files. */
	private static final String TOKENS = """
			key,value,expires_at
			epoch-s,a,4102444800
			epoch-ms,b,4102444800000
			iso,c,2100-01-01T00:00:00Z
			iso-offset,d,2100-01-01T01:00:00+01:00
			past,e,1500000000
			never,f,-1
			none,g,
			local,h,2100-01-01 00:00:00
			""";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ExpireAtTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	/** Such a job is found by the next process, which takes its settings once more. */
	@ParameterizedTest
	@ValueSource(strings = { "ttl", "expireAt" })
	void aTemplateTakesThePlaceOfTheDefaultTimeToLive(String setting) {
		JobSettings defaults = JobSettings.of(Map.of("ttl", List.of("3600")), null);
		Map<String, String> query = Map.of("op", "SET", "key", "{k}", "value", "{v}", setting, "{t}");
		JobSettings settings = defaults.with(query::get, "/v1/jobs", null, OperationFinder.TABLE);
		assertThat(settings.records().recordDefaults().ttl()).isNull();
		assertThat(JobSettings.of(settings.toTexts(), settings.records().operation()).toTexts())
			.isEqualTo(settings.toTexts());
	}

	@ParameterizedTest
	@ValueSource(strings = { "op=SET&key=%7Bkey%7D&value=%7Bvalue%7D", "op=HSET&key=%7Bkey%7D&fields=value" })
	void aColumnOfTimestampsIsTaken(String mapping) {
		for (String nulls : List.of("skip", "empty")) {
			this.redis.flushall();
			JsonNode report = this.service
				.post("/v1/jobs?" + mapping + "&expireAt=%7Bexpires_at%7D&nulls=" + nulls, CSV, TOKENS)
				.report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(8, 6, 0, 2, 0, 0));
			for (String key : List.of("epoch-s", "epoch-ms", "iso", "iso-offset")) {
				assertThat(this.redis.expiretime(key)).as(key).isEqualTo(TIMESTAMP);
			}
			assertThat(this.redis.exists("past")).isZero();
			assertThat(this.redis.expiretime("none")).isEqualTo(-1);
			assertThat(report.get("items").valueStream().map((item) -> item.get("key").asString()))
				.containsExactly("never", "local");
			for (JsonNode item : report.get("items")) {
				assertThat(item.at("/error/code").asString()).isEqualTo("MALFORMED");
				assertThat(item.at("/error/message").asString()).startsWith("'expireAt' takes a timestamp")
					.contains("with a zone")
					.contains("for never, leave it out");
			}
			assertThat(report.at("/items/0/error/message").asString()).endsWith(", not '-1'");
			assertThat(report.at("/items/1/error/message").asString()).endsWith(", not '2100-01-01 00:00:00'");
		}
	}

	@Test
	void aColumnOfTimestampsIsNotTakenForTimesToLive() {
		JsonNode report = this.service
			.post("/v1/jobs?op=SET&key=%7Bkey%7D&value=%7Bvalue%7D&ttl=%7Bexpires_at%7D&nulls=empty", CSV, TOKENS)
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(8, 2, 0, 6, 0, 0));
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("none", "never");
		for (JsonNode item : report.get("items")) {
			assertThat(item.at("/error/message").asString()).contains("1 to 999999999", "expireAt");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					application/x-ndjson |                             | {"op":"SET","key":"k","value":"v","expireAt":4102444800}
					application/x-ndjson |                             | {"op":"HSET","key":"k","fields":{"f":"v"},"expireAt":"2100-01-01T00:00:00Z"}
					application/json     |                             | [{"op":"SET","key":"k","value":"v","expireAt":"4102444800.0"}]
					application/x-ndjson | ttl=60                      | {"op":"SET","key":"k","value":"v","expireAt":4102444800}
					application/x-ndjson | expireAt=4102444800         | ["SET","k","v"]
					application/x-ndjson | expireAt=4102444800         | ["HSET","k","f","v"]
					application/x-ndjson | expireAt=2100-01-01T01:00:00%2B01:00 | ["SET","k","v"]
					text/plain           | expireAt=4102444800000      | SET k v
					text/plain           | expireAt=60                 | SET k v EXAT 4102444800
					text/csv             | op=SET                      | key,value,expireAt\\nk,v,4102444800
					text/csv             | op=SET                      | key,value,ttl,expireAt\\nk,v,,4102444800
					text/csv             | op=HSET&expireAt=4102444800 | key,f\\nk,v
					text/tab-separated-values | op=SET                 | key\\tvalue\\texpireAt\\nk\\tv\\t2100-01-01T00:00:00Z
					application/x-redis-resp | expireAt=4102444800     | *3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$1\\r\\nv\\r\\n
					""")
	void recordsOfEveryFormatExpire(String type, String query, String body) {
		String text = body.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t");
		String path = "/v1/jobs" + ((query != null) ? "?" + query : "");
		assertThat(Answer.counts(this.service.post(path, type, text).report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.expiretime("k")).isEqualTo(TIMESTAMP);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/20", "/pipehset/20" })
	void generatedRecordsExpireToo(String path) {
		JsonNode report = this.service.post(path + "?expireAt=4102444800.25").report();
		assertThat(report.at("/settings/expireAt").asString()).isEqualTo("2100-01-01T00:00:00.250Z");
		assertThat(this.redis.keys("*")).hasSize(20)
			.allSatisfy((key) -> assertThat(this.redis.pexpiretime(key)).isEqualTo(TIMESTAMP * 1000 + 250));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			{"op":"SET","key":"k","value":"v","expireAt":4102444800}   | ["SET","k","v","EXAT","4102444800"]
			{"op":"SET","key":"k","value":"v","expireAt":4102444800.5} | ["SET","k","v","PXAT","4102444800500"]
			{"op":"SET","key":"k","value":"v","expireAt":1500000000}   | ["SET","k","v","EXAT","1500000000"]
			""")
	void aDryRunShowsTheCommandAsItIsSent(String record, String command) {
		JsonNode report = this.service.ndjson("/v1/jobs?dryRun=true&results=all", record).report();
		assertThat(report.at("/items/0/command").toString()).isEqualTo(command);
	}

	@Test
	void aHashKeepsItsFieldsOnlyUntilTheTimestamp() {
		this.redis.rpush("list", "stays");
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all&expireAt=4102444800.007", "[\"HSET\",\"k\",\"f\",\"v\"]",
					"[\"HSET\",\"list\",\"f\",\"v\"]")
			.report();
		assertThat(report.at("/items/0/op").asString()).isEqualTo("HSET");
		assertThat(this.redis.pexpiretime("k")).isEqualTo(TIMESTAMP * 1000 + 7);
		assertThat(report.at("/items/1/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(this.redis.ttl("list")).isEqualTo(-1);
	}

	@Test
	void twoExpiriesAreRefusedByName() {
		String path = "/v1/jobs?op=SET";
		assertThat(this.service.ndjson(path + "&ttl=5&expireAt=4102444800", "[\"SET\",\"k\",\"v\"]")
			.refusal(400, "invalid-setting")).contains("'expireAt'", "'ttl'");
		JsonNode report = this.service.post(path, CSV, "key,value,ttl,expireAt\nk,v,5,4102444800\n").report();
		assertThat(report.at("/items/0/error/message").asString())
			.isEqualTo("columns 'ttl' and 'expireAt' are two expiries: a row takes one of them");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "0", "-1", "soon", "2100-01-01T00:00:00", "2100-01-01T00:00:00+01:00", "4102444800000000" })
	void aValueThatIsNoTimestampIsRefusedByName(String value) {
		assertThat(this.service.post("/pipeset/1?expireAt=" + value).refusal(400, "invalid-setting"))
			.startsWith("'expireAt' must be a timestamp after 1970: ISO 8601 with a zone such as 2100-01-01T00:00:00Z")
			.endsWith(", not '" + value.replace('+', ' ') + "'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/500", "/pipehset/500" })
	void timestampsAreSpreadOverAShareOfTheTimeThatIsLeft(String path) {
		long now = Instant.now().getEpochSecond();
		this.service.post(path + "?ttlJitter=10&expireAt=" + (now + 100_000)).report();
		TreeSet<Long> timestamps = new TreeSet<>();
		this.redis.keys("*").forEach((key) -> timestamps.add(this.redis.expiretime(key)));
		assertThat(timestamps).hasSizeGreaterThan(1)
			.allSatisfy((timestamp) -> assertThat(timestamp).isBetween(now + 90_000, now + 110_000));
	}

	@Test
	void aTimestampThatHasPassedIsNotMoved() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?dryRun=true&results=all&ttlJitter=50&expireAt=1500000000", "[\"SET\",\"k\",\"v\"]")
			.report();
		assertThat(report.at("/items/0/command/4").asString()).isEqualTo("1500000000");
	}

	@Test
	void anItemOfAHashCanBePostedAgain() {
		this.redis.set("k", "a string");
		Answer accepted = this.service.send(this.service.request("/v1/jobs")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers
				.ofString("{\"op\":\"HSET\",\"key\":\"k\",\"fields\":{\"f\":\"v\"},\"expireAt\":4102444800.5}\n")));
		String location = accepted.header("Location");
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("completed"));
		String items = this.service.get(location + "/items").text();
		assertThat(items).contains("\"expireAt\":\"2100-01-01T00:00:00.500Z\"");
		this.redis.del("k");
		this.service.post("/v1/jobs", Service.NDJSON, items).report();
		assertThat(this.redis.pexpiretime("k")).isEqualTo(TIMESTAMP * 1000 + 500);
	}

}
