package io.pipeset.web.sweep;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
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

/** The keys that SCAN finds are the records of a job. */
@ServiceTest
class SweepTests {

	private static final String SWEEP = "/v1/jobs?from=scan";

	private static final int MANY = 20_000;

	/**
	 * Keys that stay, so that Redis does not shrink its table meanwhile and report keys
	 * twice.
	 */
	private static final int STAYING = 5000;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	SweepTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "&op=UNLINK", "&op=DEL&concurrency=4", "&op=UNLINK&coalesce=off&batchSize=100",
			"&op=UNLINK&atomic=batch&batchSize=700", "&op=DEL&flush=each&results=none" })
	void theKeysThatMatchAreRemovedAndNoOthers(String settings) {
		fill("cache:", MANY);
		fill("user:", STAYING);
		JsonNode report = this.service.post(SWEEP + "&match=cache:*" + settings).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(MANY, MANY, 0, 0, 0, 0));
		assertThat(report.at("/scan/restarts").asInt(-1)).isZero();
		assertThat(this.redis.keys("*")).hasSize(STAYING).allMatch((key) -> key.startsWith("user:"));
	}

	@Test
	void theReportSaysWhatWasLookedFor() {
		JsonNode report = this.service.post(SWEEP + "&match=a*&type=zset&limit=7&op=UNLINK").report();
		JsonNode settings = report.get("settings");
		assertThat(List.of(settings.at("/from").asString(), settings.at("/match").asString(),
				settings.at("/type").asString(), settings.at("/limit").asString(), settings.at("/op").asString()))
			.containsExactly("scan", "a*", "zset", "7", "UNLINK");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(this.service.post("/pipeset/1").report().has("scan")).isFalse();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 999, 1000, 1001, 12_345 })
	void noMoreKeysAreTakenThanTheLimitSays(int limit) {
		fill("cache:", MANY);
		JsonNode report = this.service.post(SWEEP + "&match=*&op=UNLINK&limit=" + limit).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(limit, limit, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(MANY - limit);
	}

	@Test
	void aLimitBeyondTheKeysTakesThemAll() {
		fill("cache:", 100);
		this.redis.set("pipeset:own", "v");
		JsonNode report = this.service.post(SWEEP + "&match=*&op=UNLINK&limit=101").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(this.redis.keys("*")).containsExactly("pipeset:own");
	}

	@Test
	void aDryRunListsTheKeysAndChangesNothing() {
		fill("cache:", 300);
		this.redis.rpush("cache:list", "a");
		JsonNode report = this.service.post(SWEEP + "&match=cache:*&type=string&op=UNLINK&dryRun=true&results=all")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(300, 0, 0, 0, 0, 300));
		Set<String> listed = new TreeSet<>();
		for (JsonNode item : report.get("items")) {
			assertThat(item.at("/status").asString()).isEqualTo("unprocessed");
			listed.add(item.at("/key").asString());
		}
		assertThat(listed).hasSize(300).doesNotContain("cache:list").isSubsetOf(this.redis.keys("*"));
		assertThat(this.redis.dbsize()).isEqualTo(301);
	}

	@Test
	void aTypeLeavesOutTheKeysOfOthers() {
		Map<String, Runnable> types = new LinkedHashMap<>();
		types.put("string", () -> this.redis.set("k:string", "v"));
		types.put("list", () -> this.redis.rpush("k:list", "v"));
		types.put("set", () -> this.redis.sadd("k:set", "v"));
		types.put("zset", () -> this.redis.zadd("k:zset", 1, "v"));
		types.put("hash", () -> this.redis.hset("k:hash", "f", "v"));
		types.put("stream", () -> this.redis.xadd("k:stream", "f", "v"));
		types.values().forEach(Runnable::run);
		Set<String> left = new TreeSet<>(this.redis.keys("*"));
		assertThat(left).hasSize(6);
		for (String type : types.keySet()) {
			JsonNode report = this.service.post(SWEEP + "&match=k:*&op=UNLINK&results=all&type=" + type).report();
			assertThat(report.at("/items/0/key").asString()).isEqualTo("k:" + type);
			assertThat(report.at("/items/0/reply").asInt()).isEqualTo(1);
			assertThat(report.get("items")).hasSize(1);
			left.remove("k:" + type);
			assertThat(this.redis.keys("*")).containsExactlyInAnyOrderElementsOf(left);
		}
	}

	@Test
	void expireAndPersistReachEachKey() {
		fill("cache:", 3000);
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=cache:*&op=EXPIRE&ttl=5000&concurrency=3").report()))
			.isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		assertThat(keysThatExpire(4000, 5000)).isEqualTo(3000);
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=cache:*&op=PERSIST").report()))
			.isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		assertThat(keysThatExpire(-1, -1)).isEqualTo(3000);
	}

	@Test
	void anExpiryIsGivenToThoseKeysAloneThatHaveNone() {
		for (int i = 1; i <= 3; i++) {
			this.redis.set("pre:" + i, "x");
		}
		this.redis.setex("pre:kept", 600, "x");
		this.redis.hset("pre:h", "a", "b");
		JsonNode report = this.service.post(SWEEP + "&match=pre:*&op=EXPIRE&ttl=86400&ttlJitter=10&args=NX&results=all")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 4, 1, 0, 0, 0));
		assertThat(report.at("/settings/args").toString()).isEqualTo("[\"NX\"]");
		assertThat(this.redis.ttl("pre:kept")).isBetween(540L, 600L);
		for (String key : List.of("pre:1", "pre:2", "pre:3", "pre:h")) {
			assertThat(this.redis.ttl(key)).as(key).isBetween(77_700L, 95_040L);
		}
		for (JsonNode item : report.get("items")) {
			boolean kept = item.get("key").asString().equals("pre:kept");
			assertThat(item.get("status").asString()).isEqualTo((kept) ? "noop" : "applied");
			assertThat(item.get("reply").asInt(-1)).isEqualTo((kept) ? 0 : 1);
		}
	}

	@ParameterizedTest
	@CsvSource({ "op=EXPIRE&ttl=60&args=XX, 1", "op=EXPIRE&ttl=60&args=gt, 0", "op=EXPIRE&ttl=60&args=LT, 2",
			"op=EXPIRE&ttl=60&args=XX&args=LT, 1", "op=EXPIRE&ttl=60, 2", "op=PERSIST, 1",
			"op=PERSIST&atomic=batch&batchSize=1, 1" })
	void aKeyThatIsLeftAloneIsANoop(String sweep, int applied) {
		this.redis.set("forever", "x");
		this.redis.setex("short", 600, "x");
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=*&" + sweep).report()))
			.isEqualTo(new Counts(2, applied, 2 - applied, 0, 0, 0));
	}

	@Test
	void elsewhereTheSameRepliesTellTheSame() {
		assertThat(Answer.counts(
				this.service.ndjson("/v1/jobs", "[\"EXPIRE\",\"none\",60,\"NX\"]", "[\"PERSIST\",\"none\"]").report()))
			.isEqualTo(new Counts(2, 1, 1, 0, 0, 0));
	}

	@Test
	void expiriesAreSpread() {
		fill("cache:", 1000);
		this.service.post(SWEEP + "&match=cache:*&op=EXPIRE&ttl=10h&ttlJitter=50").report();
		assertThat(keysThatExpire(18_000 - 60, 54_000)).isEqualTo(1000);
		assertThat(this.redis.keys("*").stream().map(this.redis::ttl).distinct()).hasSizeGreaterThan(10);
	}

	@Test
	void theServicesOwnKeysAreNoRecords() {
		this.service.post("/listinput/queue?count=3").report();
		JsonNode popped = this.service.post("/piperpop/2?key=queue&reliable=true").report();
		long own = this.redis.keys("pipeset:*").size();
		assertThat(own).isPositive();
		fill("cache:", 10);
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=*&op=UNLINK").report()))
			.isEqualTo(new Counts(11, 11, 0, 0, 0, 0));
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=pipeset:*&op=DEL").report()).received()).isZero();
		assertThat(this.redis.keys("*")).hasSize((int) own).allMatch((key) -> key.startsWith("pipeset:"));
		String id = popped.get("jobId").asString();
		assertThat(this.service.post("/v1/jobs/" + id + "/ack").status()).isEqualTo(204);
	}

	@Test
	void keysMayHaveAnyBytes() {
		this.redis.eval("redis.call('SET', '\\255\\254\\0k', 'v') return 1", ScriptOutputType.INTEGER);
		this.redis.set("größe:1", "v");
		this.redis.set("grosse:1", "v");
		JsonNode listed = this.service.post(SWEEP + "&match=*k&op=UNLINK&dryRun=true&results=all").report();
		assertThat(listed.at("/items/0/key/base64").asString()).isEqualTo("//4Aaw==");
		JsonNode report = this.service
			.post(SWEEP + "&op=UNLINK&match=" + URLEncoder.encode("größe:*", StandardCharsets.UTF_8))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.exists("größe:1")).isZero();
		report = this.service.post(SWEEP + "&op=UNLINK&match=*k&encoding=base64&results=all").report();
		assertThat(report.at("/items/0/key").asString()).isEqualTo("//4Aaw==");
		assertThat(this.redis.keys("*")).containsExactly("grosse:1");
	}

	@Test
	void keysThatAreLongAreAskedForInSmallerPages() {
		String longest = "x".repeat(15_000);
		for (int i = 0; i < 500; i++) {
			this.redis.set("long:" + i + longest, "v");
		}
		fill("short:", STAYING);
		this.redis.configResetstat();
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=long:*&op=UNLINK").report()))
			.isEqualTo(new Counts(500, 500, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(STAYING);
		// A page of 128 KB has eight such keys.
		assertThat(scans(this.redis)).isGreaterThan(500 / 8);
	}

	@Test
	void aKeyBeyondTheLimitOfKeysIsRejectedAndTheOthersGo() {
		fill("cache:", 100);
		fill("user:", STAYING);
		this.redis.set("cache:" + "x".repeat(1 << 20), "v");
		JsonNode report = this.service.post(SWEEP + "&match=cache:*&op=UNLINK").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(101, 100, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("TOO_LARGE");
		assertThat(this.redis.dbsize()).isEqualTo(STAYING + 1);
	}

	@Test
	void aDatabaseCanBeEmptied() {
		fill("cache:", MANY);
		Counts counts = Answer.counts(this.service.post(SWEEP + "&match=*&op=UNLINK").report());
		// Redis shrinks its table meanwhile, and may then report a key twice.
		assertThat(counts.applied()).isEqualTo(counts.received()).isGreaterThanOrEqualTo(MANY);
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					?from=upload&match=*&op=UNLINK                | 'from' must be scan, url or query, not 'upload'
					?from=&match=*&op=UNLINK                      | 'from' must be scan, url or query, not ''
					?from=scan&op=UNLINK                          | 'match' is missing
					?from=scan&match=&op=UNLINK                   | 'match' must be a glob-style pattern such as cache:*, not ''
					?from=scan&match=*                            | 'op' is missing: from=scan needs one of DEL, UNLINK, EXPIRE, PERSIST
					?from=scan&match=*&op=RPOP                    | 'op' must be one of DEL, UNLINK, EXPIRE, PERSIST with from=scan, not 'RPOP'
					?from=scan&match=*&op=EXPIRE                  | 'ttl' is missing
					?from=scan&match=*&op=EXPIRE&ttl=0            | 'ttl' must be a whole number of seconds from 1
					?from=scan&match=*&op=UNLINK&ttl=60           | only for op=EXPIRE, not 'UNLINK'
					?from=scan&match=*&op=UNLINK&ttlJitter=5      | 'ttlJitter' has a meaning with from=scan only for op=EXPIRE, not 'UNLINK'
					?from=scan&match=*&op=EXPIRE&ttl={t}          | 'ttl' is a template, which only an upload of rows or objects can fill in
					?from=scan&match=*&op=UNLINK&args=NX          | 'args' has a meaning with from=scan only for op=EXPIRE, not 'UNLINK'
					?from=scan&match=*&op=EXPIRE&ttl=60&args=CH   | 'args' is refused: EXPIRE's option 'CH' is not supported; allowed are NX, XX, GT and LT
					?from=scan&match=*&op=EXPIRE&ttl=60&args=     | 'args' is refused: EXPIRE's option '' is not supported
					?from=scan&match=*&op=EXPIRE&ttl=60&args=NX&args=XX | 'args' is refused: EXPIRE takes NX or XX, not both
					?from=scan&match=*&op=UNLINK&type=json        | 'type' must be string, list, set, zset, hash or stream, not 'json'
					?from=scan&match=*&op=UNLINK&limit=0          | 'limit' must be a whole number of records from 1 to 1000000000000, not '0'
					?from=scan&match=*&op=UNLINK&limit=1000000000001 | not '1000000000001'
					?from=scan&match=*&op=UNLINK&limit=-1         | not '-1'
					?match=*&op=UNLINK                            | 'match' has a meaning only with from=scan
					?type=list                                    | 'type' has a meaning only with from=scan
					?limit=5                                      | 'limit' has a meaning only with from=scan
					?from=scan&match=*&match=a&op=UNLINK          | 'match' is given more than once
					?from=scan&match=%FF&op=UNLINK                | not UTF-8
					""")
	void aSweepThatCannotBeMeantIsRefused(String query, String detail) {
		this.redis.set("a", "v");
		assertThat(this.service.post("/v1/jobs" + query.replace("{", "%7B").replace("}", "%7D"))
			.refusal(400, "invalid-setting")).contains(detail);
		assertThat(this.redis.ttl("a")).isEqualTo(-1);
	}

	@Test
	void otherSettingsOfASweepAreRefusedByName() {
		assertThat(this.service.post(SWEEP + "&match=*&op=UNLINK&macth=a*").refusal(400, "unknown-setting"))
			.contains("'macth'")
			.contains("available are from, match, type, limit, op, ttl");
		assertThat(this.service.post("/pipeset/1?match=*").refusal(400, "unknown-setting")).contains("'match'");
		assertThat(this.service.post(SWEEP + "&match=*&op=EXPIRE&expireAt=4102444800").refusal(400, "unknown-setting"))
			.startsWith("The setting 'expireAt' is for /v1/jobs, /pipeset, /pipehset, not for /v1/jobs?from=scan");
	}

	@Test
	void aBodyBesideASweepIsRefused() {
		this.redis.set("a", "v");
		assertThat(this.service.ndjson(SWEEP + "&match=*&op=UNLINK", "{\"key\":\"a\"}").refusal(400, "unexpected-body"))
			.contains("from=scan");
		assertThat(this.redis.exists("a")).isEqualTo(1);
	}

	private void fill(String prefix, int keys) {
		this.redis.eval("for i = 1, ARGV[2] do redis.call('SET', ARGV[1] .. i, 'v') end return 1",
				ScriptOutputType.INTEGER, new String[0], prefix, String.valueOf(keys));
	}

	private long keysThatExpire(int least, int most) {
		return this.redis.eval("""
				local n = 0
				for _, key in ipairs(redis.call('KEYS', '*')) do
				  local ttl = redis.call('TTL', key)
				  if ttl >= tonumber(ARGV[1]) and ttl <= tonumber(ARGV[2]) then n = n + 1 end
				end
				return n""", ScriptOutputType.INTEGER, new String[0], String.valueOf(least), String.valueOf(most));
	}

	/** How often Redis has run SCAN since its statistics were reset. */
	static long scans(RedisCommands<String, String> redis) {
		return redis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_scan:calls="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^[^=]*=(\\d+).*", "$1")))
			.sum();
	}

}
