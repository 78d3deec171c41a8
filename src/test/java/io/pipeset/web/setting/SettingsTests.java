package io.pipeset.web.setting;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
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

/** Every setting has its effect or is refused by its name; none is ignored. */
@ServiceTest
class SettingsTests {

	private static final String RECORD = "[\"SET\",\"k\",\"v\"]";

	private static final List<String> CALLS = List.of("/v1/jobs?", "/pipeset/1?", "/pipehset/1?", "/piperpop/1?",
			"/listinput/list?count=1&");

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	SettingsTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource({ "batchSize, 0, 1 to 100000", "batchSize, 100001, 1 to 100000", "batchSize, -1, 1 to 100000",
			"batchSize, ten, 1 to 100000", "batchSize, 1.5, 1 to 100000", "batchSize, '', 1 to 100000",
			"batchSize, 99999999999, 1 to 100000", "flush, sometimes, 'each, close or buffered:N'",
			"flush, buffered, 1 to 100000", "flush, buffered:0, 1 to 100000", "flush, buffered:100001, 1 to 100000",
			"flush, buffered:-1, 1 to 100000", "flush, '', 'each, close or buffered:N'", "concurrency, 0, 1 to 16",
			"concurrency, 17, 1 to 16", "concurrency, many, 1 to 16", "timeout, 30, 1ms to 1h",
			"timeout, 0s, 1ms to 1h", "timeout, 2h, 1ms to 1h", "timeout, -5s, 1ms to 1h", "timeout, PT-1S, 1ms to 1h",
			"timeout, 30, such as 30s", "timeout, %2B30, such as 30s", "timeout, %2B30s, such as 30s",
			"timeout, PT%2B30S, such as 30s", "timeout, -PT-30S, such as 30s", "timeout, PT1M-30S, such as 30s",
			"timeout, soon, 1ms to 1h", "timeout, 1us, 1ms to 1h", "timeout, 999999999999999999d, 1ms to 1h",
			"maxErrors, -1, 0 or more", "maxErrors, few, 0 or more", "results, some, 'errors, all or none'",
			"results, '', 'errors, all or none'", "encoding, utf-8, utf8 or base64", "encoding, BASE64, utf8 or base64",
			"rateLimit, 0, 1 to 1000000000", "rateLimit, 1.5, 1 to 1000000000",
			"rateLimit, 1000000001, 1 to 1000000000", "dryRun, yes, true or false", "dryRun, '', true or false",
			"atomic, job, none or batch", "atomic, BATCH, none or batch", "results, ALL, 'errors, all or none'",
			"results, Errors, 'errors, all or none'", "flush, EACH, 'each, close or buffered:N'",
			"flush, Buffered:5, 'each, close or buffered:N'", "dryRun, TRUE, true or false" })
	void aRefusedValueNamesTheSettingTheValueAndWhatIsAllowed(String setting, String value, String allowed) {
		this.redis.lpush("mylist9", "stays");
		for (String call : CALLS) {
			String detail = post(call + setting + "=" + value).refusal(400, "invalid-setting");
			assertThat(detail).contains("'" + setting + "'")
				.contains("'" + value.replace("%2B", "+") + "'")
				.contains(allowed);
		}
		assertThat(this.redis.keys("*")).containsExactly("mylist9");
		assertThat(this.redis.llen("mylist9")).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "", "GET" })
	void anUnknownOperationIsRefusedInAShortSentence(String operation) {
		Answer answer = post("/v1/jobs?op=" + operation);
		assertThat(answer.refusal(400, "invalid-setting")).contains("'op'")
			.contains("'" + operation + "'")
			.hasSizeLessThan(300);
		assertThat(operation.isEmpty() || answer.json().get("allowed").toString().contains("\"SET\"")).isTrue();
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "0, 1 to 999999999", "-1, 1 to 999999999", "1500ms, 1 to 999999999",
			"soon, such as 90s, 1h, 7d or PT1H", "1000000000, 1 to 999999999" })
	void aRefusedTtlNamesTheValueAndWhatIsAllowed(String ttl, String allowed) {
		for (String call : CALLS.subList(0, 3)) {
			assertThat(post(call + "ttl=" + ttl).refusal(400, "invalid-setting")).contains("'ttl'")
				.contains("'" + ttl + "'")
				.contains(allowed);
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "batchsize, batchSize", "batch_size, batchSize", "BATCHSIZE, batchSize", "dryrun, dryRun" })
	void anUnknownSettingIsRefusedWithTheNearestOne(String setting, String nearest) {
		for (String call : CALLS) {
			for (String given : List.of(setting + "=5", setting + "=5&" + setting + "=5")) {
				assertThat(post(call + given).refusal(400, "unknown-setting")).isEqualTo("There is no setting '"
						+ setting + "' here; the nearest is '" + nearest + "', and case matters");
			}
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void anUnknownSettingThatIsLikeNoneIsRefusedWithTheKnownOnes() {
		for (String call : CALLS) {
			assertThat(post(call + "pipeline=5").refusal(400, "unknown-setting")).contains("'pipeline'")
				.contains("batchSize")
				.contains("maxErrors");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/1?op=HSET, op", "/pipehset/1?op=SET, op", "/piperpop/1?op=SET, op",
			"/listinput/list?op=SET, op", "/pipeset/1?count=2, count", "/v1/jobs?count=1, count",
			"/piperpop/1?count=5, count", "/listinput/list?key=k, key", "/piperpop/1?ttl=5, ttl",
			"/listinput/list?ttl=5, ttl" })
	void aSettingWithoutAMeaningHereIsRefusedByName(String path, String setting) {
		assertThat(post(path).refusal(400, "unknown-setting")).contains("'" + setting + "'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1", "/pipehset/1", "/listinput/list", "/v1/jobs" })
	void onlyPiperpopIsReliable(String path) {
		assertThat(post(path + "?until=empty").refusal(400, "not-available")).contains("'until'");
		assertThat(post(path + "?reliable=true").refusal(400, "not-available")).contains("'reliable'");
		assertThat(post(path + "?receiptTtl=60s").refusal(400, "not-available")).contains("'receiptTtl'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "until=full, until", "until=, until", "reliable=yes, reliable", "reliable=TRUE, reliable",
			"reliable=, reliable", "receiptTtl=60s, receiptTtl", "reliable=false&receiptTtl=60s, receiptTtl",
			"reliable=true&receiptTtl=999ms, receiptTtl", "reliable=true&receiptTtl=0s, receiptTtl",
			"reliable=true&receiptTtl=-5s, receiptTtl", "reliable=true&receiptTtl=86401s, receiptTtl",
			"reliable=true&receiptTtl=P2D, receiptTtl", "reliable=true&receiptTtl=60, receiptTtl",
			"reliable=true&receiptTtl=soon, receiptTtl", "reliable=true&receiptTtl=99999999999999999999h, receiptTtl" })
	void whatIsNoTimeForAReceiptIsRefusedByName(String settings, String setting) {
		assertThat(post("/piperpop/1?" + settings).refusal(400, "invalid-setting")).contains("'" + setting + "'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "1s", "24h", "PT24H", "86400s", "1000ms" })
	void aReceiptLastsFromASecondToADay(String ttl) {
		JsonNode settings = post("/piperpop/1?reliable=true&receiptTtl=" + ttl).report().get("settings");
		assertThat(settings.at("/reliable").asBoolean()).isTrue();
		assertThat(settings.at("/receiptTtl").asString())
			.isEqualTo((ttl.contains("24") || ttl.startsWith("8")) ? "86400s" : "1s");
	}

	@ParameterizedTest
	@ValueSource(strings = { "batchSize=5&batchSize=6", "batchSize=5&batchSize=5", "flush=each&x=1&flush=close",
			"batch%53ize=5&batchSize=5" })
	void aRepeatedSettingIsRefusedByName(String settings) {
		for (String call : CALLS) {
			assertThat(post(call + settings).refusal(400, "invalid-setting")).contains("more than once")
				.containsAnyOf("'batchSize'", "'flush'");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "key=%FF", "key=list%C3", "key=%ED%A0%80", "k%FFy=list" })
	void aQueryThatIsNoUtf8NamesNoOtherKey(String query) {
		this.redis.lpush("\uFFFD", "stays");
		assertThat(this.service.post("/piperpop/1?" + query).refusal(400, "invalid-setting")).contains("UTF-8")
			.contains(query.startsWith("key=") ? "The value of 'key'" : "A name");
		assertThat(this.redis.llen("\uFFFD")).isOne();
	}

	@Test
	void aKeyOfAQueryIsDecodedOnce() {
		this.redis.lpush("a b+c%d é", "value");
		assertThat(Answer.strings(this.service.post("/piperpop/1?key=a+b%2Bc%25d%20%C3%A9").report().get("values")))
			.containsExactly("value");
	}

	@Test
	void aRepeatedKeyOrCountIsRefused() {
		post("/piperpop/1?key=a&key=b").refusal(400, "invalid-setting");
		post("/listinput/list?count=1&count=2").refusal(400, "invalid-setting");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theReportEchoesTheDefaultsInEffect() {
		JsonNode settings = post("/v1/jobs").report().get("settings");
		assertThat(settings.at("/batchSize").asInt()).isEqualTo(100_000);
		assertThat(settings.at("/flush").asString()).isEqualTo("buffered:1000");
		assertThat(settings.at("/concurrency").asInt()).isOne();
		assertThat(settings.at("/timeout").asString()).isEqualTo("10s");
		assertThat(settings.at("/results").asString()).isEqualTo("errors");
		for (String absent : List.of("maxErrors", "op", "ttl", "encoding", "rateLimit", "atomic", "dryRun")) {
			assertThat(settings.has(absent)).as(absent).isFalse();
		}
	}

	@Test
	void theReportEchoesTheSettingsAsked() {
		JsonNode settings = post(
				"/v1/jobs?batchSize=7&flush=buffered:3&concurrency=2&timeout=1500ms&maxErrors=9&results=all&op=HSET"
						+ "&ttl=60&encoding=base64&rateLimit=1000000&dryRun=true")
			.report()
			.get("settings");
		assertThat(settings.at("/batchSize").asInt()).isEqualTo(7);
		assertThat(settings.at("/flush").asString()).isEqualTo("buffered:3");
		assertThat(settings.at("/concurrency").asInt()).isEqualTo(2);
		assertThat(settings.at("/timeout").asString()).isEqualTo("1500ms");
		assertThat(settings.at("/maxErrors").asInt()).isEqualTo(9);
		assertThat(settings.at("/results").asString()).isEqualTo("all");
		assertThat(settings.at("/op").asString()).isEqualTo("HSET");
		assertThat(settings.at("/ttl").asInt()).isEqualTo(60);
		assertThat(settings.at("/encoding").asString()).isEqualTo("base64");
		assertThat(settings.at("/rateLimit").asInt()).isEqualTo(1_000_000);
		assertThat(settings.at("/dryRun").asBoolean()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "30s, 30s", "PT2S, 2s", "PT0.5S, 500ms", "1m, 60s", "1h, 3600s", "1ms, 1ms" })
	void aTimeoutIsADurationOfEitherStyle(String timeout, String echoed) {
		assertThat(this.service.post("/pipeset/0?timeout=" + timeout).report().at("/settings/timeout").asString())
			.isEqualTo(echoed);
	}

	@ParameterizedTest
	@ValueSource(strings = { "batchSize=1", "batchSize=100000", "flush=buffered:1", "flush=buffered:100000",
			"concurrency=1", "concurrency=16", "maxErrors=0", "results=none", "rateLimit=1000000000", "encoding=utf8",
			"dryRun=false", "atomic=none", "atomic=batch", "atomic=batch&batchSize=10000" })
	void theBoundsThemselvesAreAllowed(String setting) {
		for (String call : CALLS) {
			post(call + setting).report();
		}
		assertThat(this.redis.get("k")).isEqualTo("v");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/analyses", "/v1/tunings", "/v1/jobs/01a20347-d60e-7396-9c73-7157c8413711/ack" })
	void aHeaderWithoutAMeaningIsRefusedByName(String path) {
		assertThat(this.service
			.send(this.service.request(path).header("Idempotency-Key", "one").POST(BodyPublishers.noBody()))
			.refusal(400, "not-available")).contains("'Idempotency-Key'", path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "respond-async, wait=10", "return=minimal, RESPOND-ASYNC",
			"a=\"x, y\";b=2 , respond-async;c", "respond-async=\"\"", "wait=10; respond-async, respond-async" })
	void thePreferenceNotToWaitIsFoundAmongOthers(String preferences) {
		Answer answer = preferring(preferences);
		assertThat(answer.status()).isEqualTo(202);
		assertThat(answer.header("Preference-Applied")).isEqualTo("respond-async");
		await().until(() -> this.redis.dbsize() == 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "return=minimal", "handling=lenient; wait=10, wait=100", "x-respond-async",
			"a=\"x, respond-async\"", "a=\"\\\", respond-async\"", "wait=10; respond-async", "", ", ,",
			"respond async" })
	void anotherPreferenceIsIgnored(String preferences) {
		preferring(preferences).report();
		assertThat(this.redis.dbsize()).isOne();
	}

	private Answer preferring(String preferences) {
		return this.service.send(this.service.request("/pipeset/1")
			.header("Prefer", "handling=strict")
			.header("Prefer", preferences)
			.POST(BodyPublishers.noBody()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "br", "deflate", "gzip, gzip", "gzip, identity" })
	void aContentEncodingIsRefusedByName(String encoding) {
		for (String path : List.of("/v1/jobs", "/pipeset/1")) {
			assertThat(this.service
				.send(this.service.request(path)
					.header("Content-Encoding", encoding)
					.header("Content-Type", Service.NDJSON)
					.POST(BodyPublishers.ofString(RECORD)))
				.refusal(415, "unsupported-content-encoding")).contains("'" + encoding + "'");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	private Answer post(String path) {
		return (path.startsWith("/v1")) ? this.service.ndjson(path, RECORD) : this.service.post(path);
	}

}
