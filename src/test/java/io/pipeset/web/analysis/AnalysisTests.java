package io.pipeset.web.analysis;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
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

/** An analysis counts every key once, by its type, prefix, age and size. */
@ServiceTest
class AnalysisTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	AnalysisTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aSmallKeyspaceIsExact() {
		this.redis.set("user:1:name", "a");
		this.redis.set("user:2:name", "b".repeat(5000));
		this.redis.hset("user:1", Map.of("a", "1", "b", "2"));
		this.redis.rpush("list", "1", "2", "3");
		this.redis.sadd("tags:all", "x", "y");
		this.redis.zadd("scores:", 1, "a");
		this.redis.xadd("events:1", Map.of("a", "b"));
		this.redis.pexpire("user:1", 50_000);
		this.redis.pexpire("list", 3_000_000);
		this.redis.pexpire("tags:all", 80_000_000);
		this.redis.pexpire("scores:", 500_000_000);
		this.redis.pexpire("events:1", 5_000_000_000L);
		JsonNode analysis = analysis("/v1/analyses?top=2");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(7);
		assertThat(analysis.at("/vanished").asLong()).isZero();
		assertThat(counts(analysis, "types", "type"))
			.isEqualTo(Map.of("string", 2L, "hash", 1L, "list", 1L, "set", 1L, "zset", 1L, "stream", 1L));
		assertThat(counts(analysis, "prefixes", "prefix"))
			.isEqualTo(Map.of("user:", 3L, "tags:", 1L, "scores:", 1L, "events:", 1L, "(none)", 1L));
		assertThat(analysis.at("/prefixes/0/prefix").asString()).isEqualTo("user:");
		assertThat(analysis.at("/prefixes/0/types")).hasToString("{\"string\":2,\"hash\":1}");
		assertThat(analysis.at("/prefixes/0/withoutTtl").asLong()).isEqualTo(2);
		assertThat(analysis.at("/prefixesOmitted").asLong()).isZero();
		assertThat(counts(analysis, "ttls", "within"))
			.isEqualTo(Map.of("1m", 1L, "1h", 1L, "1d", 1L, "7d", 1L, "longer", 1L, "never", 2L));
		long bytes = 0;
		for (String key : this.redis.keys("*")) {
			bytes += this.redis.memoryUsage(key);
		}
		assertThat(analysis.at("/bytes").asLong()).isEqualTo(bytes);
		assertThat(analysis.at("/largest/0")).hasToString(
				"{\"key\":\"user:2:name\",\"type\":\"string\",\"bytes\":%d,\"elements\":5000,\"ttlMillis\":null}"
					.formatted(this.redis.memoryUsage("user:2:name")));
		assertThat(analysis.get("largest")).hasSize(2);
		assertThat(analysis.at("/types/0/type").asString()).isEqualTo("string");
		assertThat(analysis.at("/types/0/largestBytes").asLong()).isEqualTo(this.redis.memoryUsage("user:2:name"));
		assertThat(analysis.at("/sizes/0/upToBytes").asLong()).isEqualTo(64);
		assertThat(analysis.get("sizes").get(analysis.get("sizes").size() - 1).at("/upToBytes").asLong())
			.isEqualTo(8192);
		assertThat(analysis.has("restarts")).isFalse();
	}

	@Test
	void lengthsAreThoseOfTheirTypes() {
		this.redis.hset("hash", Map.of("a", "1".repeat(6000), "b", "2"));
		this.redis.rpush("list", "1".repeat(5000), "2", "3");
		this.redis.sadd("set", "x".repeat(4000), "y", "z", "a");
		this.redis.zadd("zset", 1, "a".repeat(3000));
		this.redis.zadd("zset", 1, "b");
		this.redis.zadd("zset", 1, "c");
		this.redis.set("string", "x".repeat(2000));
		this.redis.xadd("stream", Map.of("a", "b"));
		Map<String, Long> elements = new LinkedHashMap<>();
		analysis("/v1/analyses").get("largest")
			.forEach((key) -> elements.put(key.get("type").asString(), key.get("elements").asLong()));
		assertThat(elements)
			.isEqualTo(Map.of("hash", 2L, "list", 3L, "set", 4L, "zset", 3L, "string", 2000L, "stream", 1L));
	}

	@ParameterizedTest
	@CsvSource({ "1", "7", "1000", "5000" })
	void aLargeKeyspaceIsAsAnotherCountFindsIt(int scanCount) {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		Map<String, Long> prefixes = new TreeMap<>();
		Map<String, Long> types = new HashMap<>();
		StringBuilder records = new StringBuilder();
		for (int key = 0; key < 3000; key++) {
			int parts = random.nextInt(4);
			StringBuilder name = new StringBuilder();
			for (int part = 0; part < parts; part++) {
				name.append("p").append(random.nextInt(5)).append("::");
			}
			String prefix = (parts < 2) ? "(none)" : name.substring(0, 8);
			prefixes.merge(prefix, 1L, Long::sum);
			name.append(key);
			boolean hash = random.nextInt(3) == 0;
			types.merge((hash) ? "hash" : "string", 1L, Long::sum);
			records.append((hash) ? "{\"op\":\"HSET\",\"key\":\"" + name + "\",\"fields\":{\"a\":\"1\"}}\n"
					: "{\"op\":\"SET\",\"key\":\"" + name + "\",\"value\":\"1\"}\n");
		}
		this.service.post("/v1/jobs", Service.NDJSON, records.toString()).report();
		JsonNode analysis = analysis("/v1/analyses?separator=::&depth=2&scanCount=" + scanCount);
		assertThat(analysis.at("/keys").asLong()).as("seed %d", seed).isEqualTo(3000);
		assertThat(counts(analysis, "prefixes", "prefix")).as("seed %d", seed).isEqualTo(prefixes);
		assertThat(counts(analysis, "types", "type")).as("seed %d", seed).isEqualTo(types);
	}

	@Test
	void onlyTheKeysThatAreAskedForCount() {
		this.redis.set("a:1", "x");
		this.redis.set("ä:1", "x");
		this.redis.hset("a:2", "a", "b");
		assertThat(analysis("/v1/analyses?match=a:*").at("/keys").asLong()).isEqualTo(2);
		assertThat(analysis("/v1/analyses?type=hash").at("/keys").asLong()).isEqualTo(1);
		assertThat(analysis("/v1/analyses?match=%C3%A4*&type=string").at("/prefixes/0/prefix").asString())
			.isEqualTo("ä:");
		JsonNode none = analysis("/v1/analyses?match=b*");
		assertThat(none.at("/keys").asLong()).isZero();
		assertThat(none.get("types")).isEmpty();
		assertThat(none.get("largest")).isEmpty();
	}

	@Test
	void withoutMemoryBytesAreLeftOutAndTheAnswerSaysSo() {
		this.redis.set("a:1", "x");
		JsonNode analysis = analysis("/v1/analyses?memory=false&rateLimit=1000000");
		assertThat(analysis.at("/bytesLeftOut").asString()).contains("memory=false");
		assertThat(analysis.has("bytes")).isFalse();
		assertThat(analysis.has("sizes")).isFalse();
		assertThat(analysis.has("largest")).isFalse();
		assertThat(analysis.at("/prefixes/0"))
			.hasToString("{\"prefix\":\"a:\",\"keys\":1,\"types\":{\"string\":1},\"withoutTtl\":1}");
		assertThat(analysis.at("/types/0")).hasToString("{\"type\":\"string\",\"keys\":1}");
	}

	@Test
	void keysThatAreNotUtf8AreShownAsBase64() {
		this.redis.eval("redis.call('SET', 'b\\255:a', 1)", ScriptOutputType.STATUS);
		JsonNode analysis = analysis("/v1/analyses");
		assertThat(analysis.at("/prefixes/0/prefix")).hasToString("{\"base64\":\"Yv86\"}");
		assertThat(analysis.at("/largest/0/key")).hasToString("{\"base64\":\"Yv86YQ==\"}");
		assertThat(csv("/v1/analyses").text()).contains("\r\n\"{\"\"base64\"\":\"\"Yv86\"\"}\",1,");
	}

	@Test
	void csvHasALineForEachPrefixAndAColumnForEachType() {
		this.redis.set("say \"a,b\":1", "x");
		this.redis.hset("h:1", "a", "b");
		Answer answer = csv("/v1/analyses");
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.header("Content-Type")).isEqualTo("text/csv;charset=UTF-8");
		List<String> lines = List.of(answer.text().split("\r\n"));
		assertThat(lines.get(0)).isIn("prefix,keys,bytes,withoutTtl,string,hash",
				"prefix,keys,bytes,withoutTtl,hash,string");
		assertThat(lines).hasSize(3).anyMatch((line) -> line.startsWith("\"say \"\"a,b\"\":\",1,"));
		assertThat(csv("/v1/analyses?memory=false").text()).contains("h:,1,,1,");
		Answer json = this.service.send(this.service.request("/v1/analyses")
			.header("Accept", "application/json, text/csv;q=0.5")
			.POST(BodyPublishers.noBody()));
		assertThat(json.header("Content-Type")).isEqualTo("application/json");
	}

	@Test
	void aPrefixThatIsCalledLikeNoneOrOthersIsNotTakenForThem() {
		this.redis.set("(none)x", "x");
		this.redis.set("(other)x", "x");
		this.redis.set("x", "x");
		JsonNode analysis = analysis("/v1/analyses?separator=)");
		assertThat(analysis.get("prefixes").valueStream().map((prefix) -> prefix.get("prefix").toString()))
			.containsExactlyInAnyOrder("\"(none)\"", "{\"base64\":\"KG5vbmUp\"}", "{\"base64\":\"KG90aGVyKQ==\"}");
		assertThat(csv("/v1/analyses?separator=)").text().lines().skip(1)).hasSize(3)
			.anyMatch((line) -> line.startsWith("(none),1,"))
			.anyMatch((line) -> line.startsWith("\"{\"\"base64\"\":\"\"KG5vbmUp\"\"}\",1,"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'",
			"{\"base64\":" })
	void aCellOfCsvIsNoFormula(String begin) {
		this.redis.set(begin + "1+1;=2~x", "x");
		List<String> lines = List.of(csv("/v1/analyses?memory=false&separator=~").text().split("\r\n"));
		String text = "'" + begin + "1+1;=2~";
		assertThat(lines).element(1).isEqualTo("\"" + text.replace("\"", "\"\"") + "\",1,,1,1");
		assertThat(analysis("/v1/analyses?separator=~").at("/prefixes/0/prefix").asString())
			.isEqualTo(begin + "1+1;=2~");
	}

	@ParameterizedTest
	@ValueSource(strings = { "string", "stream", "ReJSON-RL", "MBbloom--", "vectorset", "tair_hash" })
	void aTypeMayBeThatOfAModule(String type) {
		this.redis.set("a:1", "x");
		if (isKnown(type)) {
			assertThat(analysis("/v1/analyses?type=" + type).at("/keys").asInt())
				.isEqualTo((type.equals("string")) ? 1 : 0);
		}
		else {
			assertThat(this.service.post("/v1/analyses?type=" + type)
				.problem(503, "redis-refuses")
				.at("/detail")
				.asString()).contains("Redis refused SCAN: ERR unknown type name '" + type + "'");
		}
	}

	/** Valkey refuses a type that none of its modules has. */
	private boolean isKnown(String type) {
		try {
			this.redis.scan(KeyScanArgs.Builder.type(type));
			return true;
		}
		catch (RedisCommandExecutionException ex) {
			assertThat(ex).hasMessageContaining("unknown type name");
			return false;
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					depth=0           | invalid-setting | 'depth' must be 1 to 8, not '0'
					depth=x           | invalid-setting | 'depth' must be a whole number from 1 to 8, not 'x'
					top=1001          | invalid-setting | 'top' must be 0 to 1000, not '1001'
					type=banana       | invalid-setting | 'type' must be string, list, set, zset, hash or stream, or the 9 letters
					type=HASH         | invalid-setting | 'type' must be string
					type=ReJSON.RL    | invalid-setting | not 'ReJSON.RL'
					type=             | invalid-setting | 'type' must be string
					samples=0         | invalid-setting | 'samples' must be 1 to 1000, not '0'
					scanCount=100001  | invalid-setting | 'scanCount' must be 1 to 100000, not '100001'
					memory=yes        | invalid-setting | 'memory' must be true or false
					separator=        | invalid-setting | 'separator' must be a text of 1 to 1024 bytes
					rateLimit=0       | invalid-setting | 'rateLimit' must be a whole number of keys per second
					timeout=1d        | invalid-setting | 'timeout' must be a duration from 1ms to 1h
					batchSize=5       | unknown-setting | available are match, type, separator, depth, top, memory, samples, scanCount, rateLimit, timeout
					""")
	void aSettingThatIsNotAllowedIsRefused(String query, String type, String detail) {
		assertThat(this.service.post("/v1/analyses?" + query).refusal(400, type)).contains(detail);
	}

	@Test
	void aBodyIsRefused() {
		assertThat(this.service.ndjson("/v1/analyses", "{}").refusal(400, "unexpected-body"))
			.contains("without a body");
	}

	private JsonNode analysis(String path) {
		Answer answer = this.service.post(path);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return checked(answer.json(), "completed");
	}

	private Answer csv(String path) {
		return this.service.send(this.service.request(path).header("Accept", "text/csv").POST(BodyPublishers.noBody()));
	}

	/** The lists of an analysis add up to its keys. */
	static JsonNode checked(JsonNode analysis, String state) {
		assertThat(analysis.at("/state").asString()).isEqualTo(state);
		long keys = analysis.get("keys").asLong();
		for (String list : List.of("types", "prefixes", "ttls", "sizes")) {
			if (analysis.has(list)) {
				assertThat(StreamSupport.stream(analysis.get(list).spliterator(), false)
					.mapToLong((entry) -> entry.get("keys").asLong())
					.sum()).as(list).isEqualTo(keys);
			}
		}
		return analysis;
	}

	static Map<String, Long> counts(JsonNode analysis, String list, String name) {
		Map<String, Long> counts = new TreeMap<>();
		analysis.get(list).forEach((entry) -> counts.put(entry.get(name).asString(), entry.get("keys").asLong()));
		return counts;
	}

}
