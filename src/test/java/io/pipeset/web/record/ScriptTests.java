package io.pipeset.web.record;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Scripts are loaded by their text and run by their SHA1, once each and in order. */
@ServiceTest(properties = { "pipeset.security.scripts=true", "pipeset.scripts.max-bytes=1KB",
		"pipeset.scripts.max-count=3" })
class ScriptTests {

	private static final TestRedis server = TestRedis.start();

	private static final String PUSH = "return redis.call('RPUSH', KEYS[1], ARGV[1])";

	private final Service service;

	private final RedisCommands<String, String> redis = server.client();

	ScriptTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		server.register(registry);
	}

	@AfterAll
	static void end() {
		server.close();
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
		this.redis.scriptFlush();
	}

	@Test
	void aScriptWhoseChunksAreNoneIsMalformed() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/scripts", "Transfer-Encoding: chunked")) {
			wire.send("8\r\nreturn 1\r\nnonsense\r\n").answer().refusal(400, "malformed-body");
		}
		assertThat(this.redis.scriptExists(this.redis.digest("return 1"))).containsExactly(false);
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/plain", "text/x-lua", "application/x-www-form-urlencoded", "application/json", "x",
			"*/*" })
	void theTypeOfAScriptSaysNothing(String type) {
		assertThat(this.service.post("/v1/scripts", type, PUSH).json().at("/sha").asString())
			.isEqualTo(this.redis.digest(PUSH));
	}

	@Test
	void aScriptThatIsEncodedInAnyStepIsRefused() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/scripts", "Content-Length: 8", "Content-Encoding: identity",
				"Content-Encoding: gzip")) {
			assertThat(wire.send("return 1").answer().refusal(415, "unsupported-content-encoding"))
				.contains("'identity, gzip'");
		}
	}

	@Test
	void aScriptIsLoadedIntoRedisAndRunsByTheAnsweredSha() {
		String sha = load(PUSH);
		assertThat(sha).isEqualTo(this.redis.digest(PUSH));
		assertThat(this.redis.scriptExists(sha)).containsExactly(true);
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all", "[\"EVALSHA\",\"" + sha + "\",1,\"list\",\"a\"]",
					"{\"op\":\"EVALSHA\",\"args\":[\"" + sha.toUpperCase(Locale.ROOT) + "\",1,\"list\",\"b\"]}")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(report.at("/items/1/reply").asInt()).isEqualTo(2);
		assertThat(report.at("/items/1/key").asString()).isEqualTo("list");
		assertThat(this.redis.lrange("list", 0, -1)).containsExactly("a", "b");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			return 5                                                          | 5
			return {1, {'a', false}, 'b'}                                     | [1,["a",null],"b"]
			return nil                                                        | null
			return redis.status_reply('FINE')                                 | "FINE"
			redis.setresp(3) return {map = {a = 1}}                           | {"a":1}
			redis.setresp(3) return {double = 2.5}                            | 2.5
			redis.setresp(3) return {set = {x = true}}                        | ["x"]
			redis.setresp(3) return true                                      | true
			return '\\255'                                                    | {"base64":"/w=="}
			""")
	void whatAScriptAnswersHasItsJson(String script, String reply) {
		JsonNode item = run(load(script)).at("/items/0");
		assertThat(item.at("/status").asString()).isEqualTo("applied");
		assertThat(item.get("reply").toString()).isEqualTo(reply);
		assertThat(item.has("key")).isFalse();
	}

	@Test
	void anErrorOfAScriptIsItsCode() {
		JsonNode item = run(load("return redis.error_reply('MINE went wrong')")).at("/items/0");
		assertThat(item.at("/status").asString()).isEqualTo("rejected");
		assertThat(item.at("/error/message").asString()).contains("MINE went wrong");
	}

	@Test
	void aScriptThatIsKnownToNobodyIsRejectedAndOneThatIsKnownToRedisRuns() {
		JsonNode item = run("0".repeat(40)).at("/items/0");
		assertThat(item.at("/error/code").asString()).isEqualTo("NOSCRIPT");
		assertThat(item.at("/error/retryable").asBoolean()).isTrue();
		assertThat(run(this.redis.scriptLoad("return 'loaded by others'")).at("/items/0/reply").asString())
			.isEqualTo("loaded by others");
	}

	@Test
	void aScriptThatIsKnownToNobodyIsNotWaitedForBesideOneThatIs() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?retries=3&timeout=1m", "[\"EVALSHA\",\"" + load(PUSH) + "\",1,\"list\",1]",
					"[\"EVALSHA\",\"" + "0".repeat(40) + "\",1,\"k\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(this.service.get("/actuator/metrics/pipeset.retries?tag=reason:noscript").status()).isEqualTo(404);
	}

	@Test
	void aScriptThatRedisHasForgottenIsLoadedAgain() {
		String sha = load(PUSH);
		this.redis.scriptFlush();
		String[] records = IntStream.range(0, 3000)
			.mapToObj((i) -> "[\"EVALSHA\",\"" + sha + "\",1,\"k" + i % 7 + "\"," + i + "]")
			.toArray(String[]::new);
		JsonNode report = this.service.ndjson("/v1/jobs?concurrency=4&flush=buffered:10", records).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		for (int key = 0; key < 7; key++) {
			int first = key;
			assertThat(this.redis.lrange("k" + key, 0, -1)).containsExactlyElementsOf(
					IntStream.range(0, 3000).filter((i) -> i % 7 == first).mapToObj(Integer::toString).toList());
		}
	}

	@Test
	void whileScriptsAreForgottenAgainAndAgainNoRecordRunsTwiceOrOutOfOrder() {
		String sha = load(PUSH);
		int records = 30_000;
		CompletableFuture<Answer> answer = this.service
			.sendAsync(this.service.uploading("/v1/jobs?flush=buffered:50&results=none", Service.NDJSON,
					Lines.of(records, (i) -> "[\"EVALSHA\",\"" + sha + "\",1,\"list\"," + i + "]")));
		while (!answer.isDone()) {
			this.redis.scriptFlush();
		}
		Counts counts = Answer.counts(answer.join().report());
		assertThat(counts.applied() + counts.rejected()).isEqualTo(records);
		List<Integer> ran = this.redis.lrange("list", 0, -1).stream().map(Integer::valueOf).toList();
		assertThat(ran).hasSize((int) counts.applied()).isSorted().doesNotHaveDuplicates();
		assertThat(counts.applied()).isPositive();
	}

	@Test
	void aScriptThatMayUseAnyKeyRunsBetweenTheRecordsBeforeAndAfterIt() {
		String sha = load("local n = 0 for i = 0, 19 do n = n + redis.call('LLEN', 'k' .. i) end return n");
		List<String> lines = new ArrayList<>();
		for (int round = 0; round < 15; round++) {
			for (int key = 0; key < 20; key++) {
				lines.add("[\"LPUSH\",\"k" + key + "\",1]");
			}
			lines.add("[\"EVALSHA\",\"" + sha + "\"," + ((round % 2 == 0) ? "0" : "2,\"k0\",\"k1\"") + "]");
		}
		JsonNode items = this.service
			.ndjson("/v1/jobs?concurrency=4&batchSize=3&results=all", lines.toArray(String[]::new))
			.report()
			.get("items");
		for (int round = 0; round < 15; round++) {
			assertThat(items.get(round * 21 + 20).at("/reply").asInt()).isEqualTo(20 * (round + 1));
		}
	}

	@Test
	void ofManyScriptsThoseUsedLastAreKept() {
		String first = load("return 1");
		String second = load("return 2");
		load("return 3");
		run(first);
		load("return 4");
		this.redis.scriptFlush();
		assertThat(run(first).at("/items/0/status").asString()).isEqualTo("applied");
		this.redis.scriptFlush();
		assertThat(run(second).at("/items/0/error/code").asString()).isEqualTo("NOSCRIPT");
	}

	@Test
	void aTextThatDoesNotCompileIsRefusedWithWhatRedisSays() {
		assertThat(post("return (").refusal(400, "invalid-script")).contains("Redis refuses the script")
			.contains("user_script");
	}

	@Test
	void noTextOrTooMuchOfItIsRefused() {
		assertThat(post("").refusal(400, "invalid-script")).contains("--data-binary");
		assertThat(post("return '" + "x".repeat(1024) + "'").refusal(413, "limit")).contains("1024")
			.contains("pipeset.scripts.max-bytes");
		post("return '" + "x".repeat(1024 - "return ''".length()) + "'").json();
		assertThat(
				this.service.send(this.service.request("/v1/scripts?ttl=5").POST(BodyPublishers.ofString("return 1")))
					.refusal(400, "unknown-setting"))
			.contains("'ttl'");
		assertThat(this.service
			.send(this.service.request("/v1/scripts")
				.header("Content-Encoding", "gzip")
				.POST(BodyPublishers.ofString("return 1")))
			.refusal(415, "unsupported-content-encoding")).contains("'gzip'");
		assertThat(this.service.get("/v1/scripts").refusal(405, "method-not-allowed")).isNotBlank();
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/plain", "application/x-www-form-urlencoded", "application/octet-stream" })
	void theTextIsTheBodyWhateverItsType(String type) {
		assertThat(this.service.post("/v1/scripts", type, "return a=1 and 5").status()).isEqualTo(400);
		String sha = this.service.post("/v1/scripts", type, "return ARGV[1]==nil").json().at("/sha").asString();
		assertThat(run(sha).at("/items/0/reply").asInt()).isOne();
	}

	@Test
	void withoutRedisTheAnswerSaysSo() {
		server.kill();
		try {
			Answer answer = post("return 1");
			assertThat(answer.refusal(503, "redis-unreachable")).contains("spring.data.redis");
			assertThat(answer.header("Retry-After")).isNotBlank();
		}
		finally {
			server.restart();
		}
	}

	private JsonNode run(String sha) {
		return this.service.ndjson("/v1/jobs?results=all", "[\"EVALSHA\",\"" + sha + "\",0]").report();
	}

	private String load(String script) {
		Answer answer = post(script);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return answer.json().at("/sha").asString();
	}

	private Answer post(String script) {
		return this.service.send(this.service.request("/v1/scripts").POST(BodyPublishers.ofString(script)));
	}

}
