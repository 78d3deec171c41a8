package io.pipeset.web.analysis;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An analysis survives the loss of its connection, counts no page twice, begins again
 * with a Redis that was started anew, and writes nothing.
 */
@ServiceTest(properties = { "pipeset.limits.max-prefixes=3", "pipeset.pipeline.max-connections=1",
		"pipeset.pipeline.connect-timeout=10s", "pipeset.limits.shutdown-grace=0s", "pipeset.memory.budget=16MB" })
class AnalysisFaultTests {

	private static final int KEYS = 3000;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy().as("analyst");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	AnalysisFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void fill() {
		own.permitAll();
		redis.client().flushall();
		this.service.post("/pipeset/" + KEYS).report();
		// From here on the pool has a connection that knows its server.
		analysis("?match=none");
	}

	@Test
	void aLostConnectionCostsNoKeyAndCountsNoneTwice() throws Exception {
		for (int bytes : new int[] { 0, 1, 3 }) {
			CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 2000 + 7 * bytes, bytes);
			CompletableFuture<Answer> answer = begin("?scanCount=100&timeout=1m");
			cut.get(1, TimeUnit.MINUTES).reset();
			JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
			assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
			assertThat(analysis.has("restarts")).isFalse();
		}
	}

	@Test
	void aRedisThatWasStartedAnewIsLookedThroughFromItsBeginning() throws Exception {
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 2000, 0);
		CompletableFuture<Answer> answer = begin("?scanCount=100&timeout=1m");
		ProxyLink link = cut.get(1, TimeUnit.MINUTES);
		proxy.stopAll();
		redis.restart();
		own.permitAll();
		for (int key = 0; key < 50; key++) {
			redis.client().hset("new:" + key, "a", "b");
		}
		link.reset();
		proxy.heal();
		JsonNode analysis = AnalysisTests.checked(answer.get(2, TimeUnit.MINUTES).json(), "completed");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(50);
		assertThat(analysis.at("/restarts").asInt()).isOne();
		assertThat(AnalysisTests.counts(analysis, "prefixes", "prefix")).isEqualTo(Map.of("new:", 50L));
	}

	@Test
	void aServerThatNoLongerTellsItsLifeIsLookedThroughFromItsBeginning() throws Exception {
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 2000, 0);
		CompletableFuture<Answer> answer = begin("?scanCount=100&timeout=1m");
		ProxyLink link = cut.get(1, TimeUnit.MINUTES);
		own.forbid(CommandType.INFO);
		try {
			link.reset();
			JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
			assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
			assertThat(analysis.at("/restarts").asInt()).isOne();
		}
		finally {
			askForLivesAgain();
		}
	}

	@Test
	void aRestartWhileAnotherJobHasTheConnectionIsNoticedWithoutThePermissionForInfo() throws Exception {
		try {
			own.forbid(CommandType.INFO);
			proxy.resetAll();
			analysis("?match=none&timeout=1m");
			CompletableFuture<ProxyLink> begun = proxy.stopAt(Way.REPLIES, 50, 0);
			CompletableFuture<Answer> answer = begin("?rateLimit=100&timeout=1m");
			begun.get(1, TimeUnit.MINUTES).goOn();
			// The job keeps the connection, as its writes do not run before the restart.
			redis.pauseWrites();
			CompletableFuture<Answer> job = this.service
				.sendAsync(this.service.request("/pipeset/" + KEYS + "?timeout=1m").POST(BodyPublishers.noBody()));
			await().until(AnalysisFaultTests::holdsWritesBack);
			proxy.stopAll();
			redis.restart();
			own.permitAll();
			own.forbid(CommandType.INFO);
			for (int key = 0; key < 50; key++) {
				redis.client().hset("new:" + key, "a", "b");
			}
			proxy.heal();
			job.get(1, TimeUnit.MINUTES);
			JsonNode analysis = AnalysisTests.checked(answer.get(2, TimeUnit.MINUTES).json(), "completed");
			assertThat(analysis.at("/keys").asLong()).isEqualTo(50);
			// One more for each connection that was opened behind a page.
			assertThat(analysis.at("/restarts").asInt()).isPositive();
		}
		finally {
			askForLivesAgain();
		}
	}

	/** Lets the next test have connections that know their server. */
	private void askForLivesAgain() {
		own.permitAll();
		proxy.heal();
		proxy.resetAll();
		analysis("?match=none&timeout=1m");
	}

	@Test
	void aRedisThatStaysAwayEndsTheAnalysisWithWhatItFound() throws Exception {
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 5000, 0);
		CompletableFuture<Answer> answer = begin("?scanCount=100&timeout=2s");
		cut.get(1, TimeUnit.MINUTES);
		proxy.stopAll();
		JsonNode problem = answer.get(1, TimeUnit.MINUTES).problem(502, "redis-lost");
		JsonNode analysis = AnalysisTests.checked(problem.get("analysis"), "failed");
		assertThat(analysis.at("/keys").asLong()).isBetween(100L, (long) KEYS - 1);
	}

	@Test
	void aBusyRedisIsAskedAgain() throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			CompletableFuture<?> running = script.async()
				.eval("while true do end", ScriptOutputType.STATUS)
				.toCompletableFuture();
			await().pollInterval(Duration.ofMillis(1)).until(AnalysisFaultTests::isBusy);
			CompletableFuture<ProxyLink> third = proxy.stopAt(Way.REPLIES, 3, 0);
			CompletableFuture<Answer> answer = begin("?timeout=1m");
			third.get(1, TimeUnit.MINUTES).goOn();
			redis.client().scriptKill();
			JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
			assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
			assertThat(analysis.has("bytesLeftOut")).isFalse();
			assertThat(running).failsWithin(Duration.ofMinutes(1));
		}
		finally {
			client.shutdown();
		}
	}

	@Test
	void keysThatAreGoneBeforeTheyAreLookedAtAreVanished() throws Exception {
		redis.client().flushall();
		for (int key = 0; key < 10; key++) {
			redis.client().set("a:" + key, "x");
		}
		CompletableFuture<ProxyLink> scanned = proxy.stopAt(Way.COMMANDS, 1, 1);
		CompletableFuture<Answer> answer = begin("");
		ProxyLink link = scanned.get(1, TimeUnit.MINUTES);
		redis.client().del("a:3", "a:4", "a:5");
		link.goOn();
		JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
		assertThat(analysis.at("/vanished").asLong()).isEqualTo(3);
		assertThat(analysis.at("/keys").asLong()).isEqualTo(7);
	}

	@Test
	void withoutThePermissionForMemoryUsageBytesAreLeftOut() {
		own.permit(AclSetuserArgs.Builder.removeCommand(CommandType.MEMORY));
		JsonNode analysis = analysis("?scanCount=100");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
		assertThat(analysis.at("/bytesLeftOut").asString()).contains("MEMORY USAGE").contains("NOPERM");
		assertThat(analysis.has("bytes")).isFalse();
		assertThat(analysis.has("largest")).isFalse();
	}

	@Test
	void withoutThePermissionForLengthsElementsAreLeftOut() {
		own.forbid(CommandType.STRLEN);
		JsonNode analysis = analysis("?top=1");
		assertThat(analysis.at("/elementsLeftOut").asString()).contains("NOPERM");
		assertThat(analysis.at("/largest/0/elements").isNull()).isTrue();
	}

	@Test
	void theLengthOfAKeyThatIsGoneOrOfAnotherTypeByThenIsLeftOut() throws Exception {
		redis.client().flushall();
		redis.client().rpush("a", "x".repeat(1000));
		redis.client().rpush("b", "x".repeat(500));
		redis.client().rpush("c", "x", "y");
		// SCAN, and three commands for each key.
		CompletableFuture<ProxyLink> looked = proxy.stopAt(Way.COMMANDS, 10, 1);
		CompletableFuture<Answer> answer = begin("");
		ProxyLink link = looked.get(1, TimeUnit.MINUTES);
		redis.client().set("a", "text");
		redis.client().del("b");
		link.goOn();
		JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
		assertThat(analysis.get("largest").valueStream().map((key) -> key.get("elements").asInt(-1)))
			.containsExactly(-1, -1, 2);
		assertThat(analysis.has("elementsLeftOut")).isFalse();
	}

	@Test
	void aConnectionThatIsLostAtTheLengthsIsReplaced() throws Exception {
		redis.client().flushall();
		redis.client().rpush("a", "x", "y");
		CompletableFuture<ProxyLink> looked = proxy.stopAt(Way.COMMANDS, 4, 1);
		CompletableFuture<Answer> answer = begin("?timeout=1m");
		looked.get(1, TimeUnit.MINUTES).reset();
		JsonNode analysis = AnalysisTests.checked(answer.get(1, TimeUnit.MINUTES).json(), "completed");
		assertThat(analysis.at("/largest/0/elements").asInt()).isEqualTo(2);
		assertThat(analysis.has("elementsLeftOut")).isFalse();
	}

	@Test
	void withoutAnotherPermissionTheAnalysisIsRefused() {
		own.forbid(CommandType.TYPE);
		JsonNode problem = this.service.post("/v1/analyses").problem(503, "redis-refuses");
		assertThat(problem.at("/detail").asString()).contains("Redis refused TYPE: NOPERM").contains("+type");
		AnalysisTests.checked(problem.get("analysis"), "stopped");
		own.permitAll();
		own.forbid(CommandType.SCAN);
		assertThat(this.service.post("/v1/analyses").problem(503, "redis-refuses").at("/detail").asString())
			.contains("Redis refused SCAN")
			.contains("+scan");
	}

	@Test
	void prefixesBeyondTheLimitAreAddedUp() {
		for (int prefix = 0; prefix < 5; prefix++) {
			for (int key = 0; key <= prefix; key++) {
				redis.client().set("p" + prefix + ":" + key, "x");
			}
		}
		JsonNode analysis = analysis("?match=p?:*");
		assertThat(AnalysisTests.counts(analysis, "prefixes", "prefix"))
			.isEqualTo(Map.of("p4:", 5L, "p3:", 4L, "p2:", 3L, "(other)", 3L));
		assertThat(analysis.at("/prefixes/3/prefix").asString()).isEqualTo("(other)");
		assertThat(analysis.at("/prefixesOmitted").asLong()).isEqualTo(2);
	}

	@Test
	void withoutBytesThePrefixesWithFewerKeysAreAddedUp() {
		own.permit(AclSetuserArgs.Builder.removeCommand(CommandType.MEMORY));
		redis.client().flushall();
		for (int prefix = 0; prefix < 200; prefix++) {
			redis.client().set("rare" + prefix + ":", "x");
		}
		for (int key = 0; key < 6; key++) {
			redis.client().set("often" + key % 3 + ":" + key, "x");
		}
		JsonNode analysis = analysis("");
		assertThat(analysis.has("bytes")).isFalse();
		assertThat(AnalysisTests.counts(analysis, "prefixes", "prefix"))
			.isEqualTo(Map.of("often0:", 2L, "often1:", 2L, "often2:", 2L, "(other)", 200L));
	}

	@Test
	void theLargestKeysThatDoNotFitIntoMemoryAreNamedAsTheReason() {
		redis.client().flushall();
		for (int key = 0; key < 16; key++) {
			redis.client().set(key + "k".repeat(400 << 10), "x");
		}
		JsonNode problem = this.service.post("/v1/analyses?scanCount=1&timeout=1m").problem(413, "limit");
		assertThat(problem.at("/detail").asString()).contains("largest keys").contains("'top'");
		AnalysisTests.checked(problem.get("analysis"), "failed");
		assertThat(analysis("?scanCount=1&top=1&timeout=1m").at("/keys").asLong()).isEqualTo(16);
		await().until(() -> this.service.get("/actuator/pipeset").json().at("/memory/usedBytes").asLong() == 0);
	}

	@Test
	void onlyCommandsThatReadAreSent() {
		redis.client().hset("h", "a", "b");
		redis.client().rpush("l", "a");
		redis.client().sadd("s", "a");
		redis.client().zadd("z", 1, "a");
		redis.client().xadd("x", Map.of("a", "b"));
		redis.client().configResetstat();
		analysis("?top=1000&match=?");
		Set<String> sent = new TreeSet<>();
		redis.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_"))
			.forEach((line) -> sent.add(line.substring("cmdstat_".length(), line.indexOf(':'))));
		sent.removeAll(Set.of("config|resetstat", "info"));
		assertThat(sent).containsExactly("hlen", "llen", "memory|usage", "pttl", "scan", "scard", "type", "xlen",
				"zcard");
	}

	@Test
	void aStopEndsTheAnalysisWithWhatItFound() throws Exception {
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 2000, 0);
		CompletableFuture<Answer> answer = begin("?scanCount=100&timeout=1m");
		ProxyLink link = cut.get(1, TimeUnit.MINUTES);
		this.jobs.stopAll();
		link.goOn();
		Answer stopped = answer.get(1, TimeUnit.MINUTES);
		JsonNode problem = stopped.problem(503, "shutting-down");
		AnalysisTests.checked(problem.get("analysis"), "stopped");
		assertThat(stopped.header("Retry-After")).isEqualTo("5");
	}

	@Test
	void aLimitedPaceHoldsNoConnectionBetweenPages() throws Exception {
		CompletableFuture<ProxyLink> begun = proxy.stopAt(Way.REPLIES, 1, 0);
		// It would take five minutes.
		CompletableFuture<Answer> slow = begin("?rateLimit=10");
		begun.get(1, TimeUnit.MINUTES).goOn();
		// There is one connection only.
		this.service.post("/pipeset/10").report();
		assertThat(slow).isNotDone();
		this.jobs.stopAll();
		slow.get(1, TimeUnit.MINUTES).problem(503, "shutting-down");
	}

	@Test
	void aLimitedPaceIsKept() {
		JsonNode analysis = analysis("?rateLimit=3000");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
		assertThat(analysis.at("/keysPerSecond").asLong()).isLessThanOrEqualTo(3300);
	}

	private CompletableFuture<Answer> begin(String query) {
		return this.service.sendAsync(this.service.request("/v1/analyses" + query).POST(BodyPublishers.noBody()));
	}

	private JsonNode analysis(String query) {
		Answer answer = this.service.post("/v1/analyses" + query);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return AnalysisTests.checked(answer.json(), "completed");
	}

	/** Whether writes of the service wait at Redis. */
	private static boolean holdsWritesBack() {
		return redis.client()
			.clientList()
			.lines()
			.anyMatch((client) -> client.contains("user=analyst") && client.contains("flags=b"));
	}

	private static boolean isBusy() {
		try {
			redis.client().get("key");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

}
