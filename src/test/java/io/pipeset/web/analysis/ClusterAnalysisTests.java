package io.pipeset.web.analysis;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** An analysis of a cluster counts every key once, whichever master has it. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterAnalysisTests {

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	private final Map<Integer, TestRedis> owners = cluster.owners();

	ClusterAnalysisTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void theTotalsAreThoseOfAllMasters() {
		Map<String, Long> prefixes = new TreeMap<>();
		Map<String, Long> types = new HashMap<>();
		long bytes = 0;
		for (int i = 0; i < 900; i++) {
			String key = "p" + i % 7 + ":" + i;
			RedisCommands<String, String> redis = at(key);
			if (i % 3 == 0) {
				redis.hset(key, "a", "x".repeat(i));
			}
			else {
				redis.setex(key, 1000, "x".repeat(i));
			}
			types.merge((i % 3 == 0) ? "hash" : "string", 1L, Long::sum);
			prefixes.merge("p" + i % 7 + ":", 1L, Long::sum);
			bytes += redis.memoryUsage(key);
		}
		JsonNode analysis = analysis("?match=p%3F:*&top=300&scanCount=10");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(900);
		assertThat(analysis.at("/bytes").asLong()).isEqualTo(bytes);
		assertThat(analysis.has("partialSlots")).isFalse();
		assertThat(analysis.has("restarts")).isFalse();
		assertThat(AnalysisTests.counts(analysis, "prefixes", "prefix")).isEqualTo(prefixes);
		assertThat(AnalysisTests.counts(analysis, "types", "type")).isEqualTo(types);
		assertThat(AnalysisTests.counts(analysis, "ttls", "within"))
			.isEqualTo(Map.of("1m", 0L, "1h", 600L, "1d", 0L, "7d", 0L, "longer", 0L, "never", 300L));
		Map<String, Long> masters = new HashMap<>();
		cluster.nodes().forEach((node) -> masters.put(TestCluster.address(node), node.client().dbsize()));
		assertThat(AnalysisTests.counts(analysis, "masters", "node")).isEqualTo(masters);
		assertThat(analysis.get("masters")).allMatch((master) -> master.get("complete").asBoolean());
		assertThat(analysis.get("largest")).hasSize(300).allSatisfy((key) -> {
			String name = key.get("key").asString();
			assertThat(key.get("bytes").asLong()).isEqualTo(at(name).memoryUsage(name));
			assertThat(key.get("elements").asLong())
				.isEqualTo((key.get("type").asString().equals("hash")) ? 1 : Long.parseLong(name.substring(3)));
		});
	}

	@Test
	void csvHasThePrefixesOfAllMasters() {
		IntStream.range(0, 60).mapToObj((i) -> "p" + i % 2 + ":" + i).forEach((key) -> at(key).set(key, "v"));
		Answer answer = this.service.send(this.service.request("/v1/analyses?memory=false&match=p%3F:*")
			.header("Accept", "text/csv")
			.POST(BodyPublishers.noBody()));
		assertThat(answer.text().split("\r\n")).containsExactlyInAnyOrder("prefix,keys,bytes,withoutTtl,string",
				"p0:,30,,30,30", "p1:,30,,30,30");
		assertThat(answer.header("Pipeset-Partial-Slots")).isEmpty();
	}

	/**
	 * SCAN names a key wherever it lies: one that has gone to the master that its slot
	 * moves to is named there, and no longer at the one that still has the slot.
	 */
	@Test
	void aKeyThatIsAtTheMasterToWhichItsSlotMovesIsNotCountedAndTheAnswerSaysSo() {
		TestRedis from = cluster.master(0);
		TestRedis to = cluster.master(1);
		String tag = cluster.tag(0, 0);
		int slot = TestCluster.slot(tag);
		List<String> keys = IntStream.range(0, 10).mapToObj((i) -> "{" + tag + "}" + i).toList();
		keys.forEach((key) -> from.client().set(key, "v"));
		for (int master = 0; master < 3; master++) {
			String other = "other:{" + cluster.tag(master, 1) + "}";
			at(other).set(other, "v");
		}
		cluster.begin(slot, from, to);
		cluster.migrate(from, to, keys.get(0), keys.get(1), keys.get(2));
		assertThat(to.client().keys("*")).contains(keys.get(0));
		assertThat(from.client().keys("*")).doesNotContain(keys.get(0));
		JsonNode analysis = analysis("");
		assertThat(AnalysisTests.counts(analysis, "prefixes", "prefix")).isEqualTo(Map.of("(none)", 7L, "other:", 3L));
		assertThat(analysis.at("/partialSlots").asInt()).isOne();
		Answer csv = this.service
			.send(this.service.request("/v1/analyses").header("Accept", "text/csv").POST(BodyPublishers.noBody()));
		assertThat(csv.header("Pipeset-Partial-Slots")).isEqualTo("1");
		cluster.migrate(from, to, keys.subList(3, 10).toArray(String[]::new));
		cluster.end(slot, from, to);
		await().until(() -> !analysis("").has("partialSlots"));
		JsonNode after = analysis("");
		assertThat(AnalysisTests.counts(after, "prefixes", "prefix")).isEqualTo(Map.of("(none)", 10L, "other:", 3L));
		assertThat(AnalysisTests.counts(after, "masters", "node")).containsEntry(TestCluster.address(from), 1L)
			.containsEntry(TestCluster.address(to), 11L);
	}

	@Test
	void slotsThatMoveUnderTheAnalysisCountNoKeyTwiceAndAreSaidToBePartialWhereKeysAreMissing() {
		List<String> moving = IntStream.range(0, 10).mapToObj((i) -> cluster.tag(0, i)).toList();
		List<String> staying = IntStream.range(0, 10).mapToObj((i) -> cluster.tag(i % 3, 20 + i)).toList();
		Stream.concat(moving.stream(), staying.stream())
			.forEach((tag) -> IntStream.range(0, 50)
				.mapToObj((i) -> "{" + tag + "}:" + i)
				.forEach((key) -> at(key).set(key, "v")));
		// The service may still have the slots of the test before.
		await().until(() -> AnalysisTests.counts(analysis(""), "prefixes", "prefix").size() == 20);
		CompletableFuture<Answer> answer = this.service
			.sendAsync(this.service.request("/v1/analyses?rateLimit=1000").POST(BodyPublishers.noBody()));
		moving.forEach((tag) -> cluster.move(TestCluster.slot(tag), cluster.master(1)));
		JsonNode analysis = AnalysisTests.checked(answer.join().json(), "completed");
		Map<String, Long> counts = AnalysisTests.counts(analysis, "prefixes", "prefix");
		staying.forEach((tag) -> assertThat(counts).containsEntry("{" + tag + "}:", 50L));
		List<String> missing = moving.stream().filter((tag) -> counts.getOrDefault("{" + tag + "}:", 0L) < 50).toList();
		assertThat(analysis.path("partialSlots").asInt(0)).isBetween(missing.size(), moving.size());
		moving.forEach((tag) -> assertThat(counts.getOrDefault("{" + tag + "}:", 0L)).isLessThanOrEqualTo(50));
		assertThat(analysis.has("restarts")).isFalse();
	}

	@Test
	void theLengthOfAKeyWhoseSlotHasMovedSinceItWasCountedIsAskedAtItsNewMaster() {
		TestRedis from = cluster.master(0);
		String tag = cluster.tag(0, 0);
		String large = "{" + tag + "}large";
		from.client().rpush(large, "x".repeat(1000), "y");
		for (int i = 0; i < 500; i++) {
			at("{" + cluster.tag(2, i % 5) + "}" + i).set("{" + cluster.tag(2, i % 5) + "}" + i, "v");
		}
		from.client().configResetstat();
		CompletableFuture<Answer> answer = this.service
			.sendAsync(this.service.request("/v1/analyses?rateLimit=60").POST(BodyPublishers.noBody()));
		await().until(() -> from.client().info("commandstats").contains("cmdstat_pttl:"));
		cluster.move(TestCluster.slot(tag), cluster.master(1));
		cluster.master(2).client().flushall();
		JsonNode analysis = AnalysisTests.checked(answer.join().json(), "completed");
		assertThat(analysis.at("/largest/0/key").asString()).isEqualTo(large);
		assertThat(analysis.at("/largest/0/elements").asInt()).isEqualTo(2);
	}

	@Test
	void aMasterThatRefusesACommandIsNamed() {
		TestRedis refusing = cluster.master(1);
		try {
			refusing.client().aclSetuser("service", AclSetuserArgs.Builder.removeCommand(CommandType.SCAN));
			JsonNode problem = this.service.post("/v1/analyses").problem(503, "redis-refuses");
			assertThat(problem.at("/detail").asString())
				.contains("Redis at " + TestCluster.address(refusing) + " refused SCAN: NOPERM");
		}
		finally {
			refusing.client().aclSetuser("service", AclSetuserArgs.Builder.addCommand(CommandType.SCAN));
		}
	}

	/** Slots may have moved since the service heard of its masters. */
	@Test
	void eachMasterIsAskedForItsSlotsBeforeItIsScanned() {
		TestRedis refusing = cluster.master(1);
		try {
			refusing.client().aclSetuser("service", AclSetuserArgs.Builder.removeCommand(CommandType.CLUSTER));
			refusing.client().configResetstat();
			JsonNode problem = this.service.post("/v1/analyses").problem(503, "redis-refuses");
			assertThat(problem.at("/detail").asString()).contains(TestCluster.address(refusing), "CLUSTER NODES");
			assertThat(refusing.client().info("commandstats")).doesNotContain("cmdstat_scan:");
		}
		finally {
			refusing.client().aclSetuser("service", AclSetuserArgs.Builder.addCommand(CommandType.CLUSTER));
		}
	}

	/** The master that had a key's slot before the test. */
	private RedisCommands<String, String> at(String key) {
		return this.owners.get(TestCluster.slot(key)).client();
	}

	private JsonNode analysis(String query) {
		Answer answer = this.service.post("/v1/analyses" + query);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return AnalysisTests.checked(answer.json(), "completed");
	}

}
