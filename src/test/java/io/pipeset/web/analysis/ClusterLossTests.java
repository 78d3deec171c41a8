package io.pipeset.web.analysis;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Analyses and tunings of a cluster end clearly when a master ends, when they are stopped
 * and when memory is scarce.
 */
@ServiceTest(properties = "pipeset.memory.budget=16MB")
class ClusterLossTests {

	/** The first master has a replica; the others go on without one that is killed. */
	static final TestCluster cluster = TestCluster.start(3, 1, "cluster-require-full-coverage no",
			"cluster-replica-no-failover yes");

	private static final int KEYS = 3000;

	private static final int LARGE = 4;

	private final Service service;

	private final Jobs jobs;

	private final TestRedis third = cluster.master(2);

	ClusterLossTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@BeforeEach
	void fill() {
		this.service.post("/pipeset/" + KEYS).report();
		masters().forEach((master) -> master.client().configResetstat());
	}

	@AfterEach
	void empty() {
		masters().forEach((master) -> master.client().flushall());
	}

	@Test
	void aMasterThatEndsForGoodEndsTheAnalysisWhichSaysHowFarItCame() throws Exception {
		CompletableFuture<Answer> answer = begin("?rateLimit=60&timeout=3s");
		await().until(() -> masters().allMatch((master) -> scans(master) > 8));
		cluster.kill(this.third);
		try {
			JsonNode problem = answer.get(2, TimeUnit.MINUTES).problem(502, "redis-lost");
			assertThat(problem.at("/detail").asString()).contains(TestCluster.address(this.third));
			JsonNode analysis = AnalysisTests.checked(problem.get("analysis"), "failed");
			assertThat(analysis.get("masters")).hasSize(3)
				.allMatch((master) -> master.get("keys").asLong() > 0 && !master.get("complete").asBoolean());
			assertThat(analysis.get("masters").valueStream().mapToLong((master) -> master.get("keys").asLong()).sum())
				.isEqualTo(analysis.get("keys").asLong());
			Answer next = this.service.post("/v1/analyses?timeout=1s");
			assertThat(next.problem(503, "redis-unreachable").at("/detail").asString())
				.contains(TestCluster.address(this.third));
		}
		finally {
			restart();
		}
		assertThat(this.service.post("/v1/analyses").json().at("/restarts").isMissingNode()).isTrue();
	}

	@Test
	void anAnalysisBeginsAgainAtTheReplicaThatTakesOver() throws Exception {
		TestRedis replica = cluster.replica(0);
		beginsAgain(replica, () -> replica.client().clusterFailover(false));
		failBack();
	}

	@Test
	@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
	void anAnalysisBeginsAgainAtTheReplicaOfAMasterThatIsKilled() throws Exception {
		TestRedis replica = cluster.replica(0);
		replica.client().configSet("cluster-replica-no-failover", "no");
		try {
			beginsAgain(replica, () -> cluster.kill(cluster.master(0)));
		}
		finally {
			replica.client().configSet("cluster-replica-no-failover", "yes");
		}
		cluster.restart(cluster.master(0));
		failBack();
	}

	private void beginsAgain(TestRedis replica, Runnable change) throws Exception {
		CompletableFuture<Answer> answer = begin("?rateLimit=60&timeout=1m");
		await().until(() -> masters().allMatch((node) -> scans(node) > 8));
		change.run();
		await().until(() -> cluster.isMaster(replica));
		// What is left is soon looked at.
		Stream.of(cluster.master(1), cluster.master(2)).forEach((node) -> node.client().flushall());
		String key = "{" + cluster.tag(0, 0) + "}left";
		// At once, or the second pass might find nothing in between.
		replica.client().eval("redis.call('FLUSHALL') redis.call('SET', KEYS[1], 'x')", ScriptOutputType.STATUS, key);
		JsonNode analysis = AnalysisTests.checked(answer.get(2, TimeUnit.MINUTES).json(), "completed");
		assertThat(analysis.at("/restarts").asInt()).isOne();
		assertThat(analysis.at("/keys").asLong()).isBetween(1L, (long) KEYS);
		Map<String, Long> keys = AnalysisTests.counts(analysis, "masters", "node");
		assertThat(keys).containsOnlyKeys(TestCluster.address(replica), TestCluster.address(cluster.master(1)),
				TestCluster.address(cluster.master(2)));
		assertThat(keys.get(TestCluster.address(replica))).isPositive();
		assertThat(analysis.get("masters")).allMatch((node) -> node.get("complete").asBoolean());
	}

	/** Lets the first master be master again, for the next test. */
	private void failBack() {
		TestRedis first = cluster.master(0);
		cluster.awaitReplicas();
		// Masters vote only some time after their last vote. It is asked for again if one
		// of them did not.
		hurry(() -> await().ignoreExceptions().pollDelay(Duration.ofSeconds(1)).until(() -> {
			if (!cluster.isMaster(first)) {
				first.client().clusterFailover(false);
			}
			await().atMost(Duration.ofSeconds(2))
				.until(() -> cluster.isMaster(first) && !cluster.isMaster(cluster.replica(0)));
			return true;
		}));
		cluster.awaitReplicas();
		await().until(() -> this.service.post("/pipeset/100").status() == 200);
	}

	@Test
	void aStopEndsTheScansOfAllMasters() throws Exception {
		CompletableFuture<Answer> answer = begin("?rateLimit=60");
		await().until(() -> masters().allMatch((master) -> scans(master) > 8));
		this.jobs.stopAll();
		JsonNode problem = answer.get(1, TimeUnit.MINUTES).problem(503, "shutting-down");
		AnalysisTests.checked(problem.get("analysis"), "stopped");
	}

	@Test
	void aLimitedPaceIsThatOfAllMastersTogether() {
		JsonNode analysis = AnalysisTests.checked(this.service.post("/v1/analyses?rateLimit=3000").json(), "completed");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(KEYS);
		assertThat(analysis.at("/keysPerSecond").asLong()).isLessThanOrEqualTo(3300);
	}

	@Test
	void mastersWhosePagesDoNotFitIntoMemoryTogetherAreLookedThroughOneAfterTheOther() {
		masters().forEach((master) -> master.client().flushall());
		for (int master = 0; master < 3; master++) {
			for (int key = 0; key < 8; key++) {
				String name = "{" + cluster.tag(master, key) + "}" + "k".repeat(300 << 10);
				cluster.master(master).client().set(name, "x");
			}
		}
		JsonNode analysis = AnalysisTests
			.checked(this.service.post("/v1/analyses?scanCount=1000&top=1&timeout=1m").json(), "completed");
		assertThat(analysis.at("/keys").asLong()).isEqualTo(24);
		assertThat(analysis.get("masters")).allMatch((master) -> master.get("keys").asLong() == 8);
	}

	@Test
	void aPageThatDidNotFitBesideOthersLeavesItsMemoryToTheOneThatIsLookedThroughAlone() {
		masters().forEach((master) -> master.client().flushall());
		for (int master = 0; master < 3; master++) {
			for (int key = 0; key < LARGE; key++) {
				String name = "{" + cluster.tag(master, key) + "}" + "k".repeat(1 << 20);
				cluster.master(master).client().set(name, "x");
			}
			Answer answer = this.service.post("/v1/analyses?scanCount=1000&top=0&timeout=1m");
			assertThat(answer.status()).as("%s: %s", master, answer.text()).isEqualTo(200);
			assertThat(AnalysisTests.checked(answer.json(), "completed").at("/keys").asLong())
				.isEqualTo((master + 1L) * LARGE);
		}
	}

	@Test
	void aMasterThatEndsUnderATuningKeepsItsKeysUntilTheyExpireAndTheOthersAreEmptied() throws Exception {
		CompletableFuture<Answer> answer = this.service.sendAsync(
				this.service.request("/v1/tunings?records=30000&runs=10&budget=10m").POST(BodyPublishers.noBody()));
		await().until(() -> this.third.client().dbsize() > 9000);
		cluster.kill(this.third);
		try {
			JsonNode problem = answer.get(2, TimeUnit.MINUTES).problem(502, "redis-lost");
			assertThat(problem.at("/tuning/keysLeft").asInt()).isBetween(9000, 30_000);
			assertThat(Stream.of(0, 1).map((i) -> cluster.master(i).client()))
				.allMatch((redis) -> redis.keys("pipeset:tuning:*").isEmpty());
		}
		finally {
			restart();
		}
	}

	private CompletableFuture<Answer> begin(String query) {
		return this.service.sendAsync(this.service.request("/v1/analyses" + query).POST(BodyPublishers.noBody()));
	}

	private void restart() {
		cluster.restart(this.third);
		hurry(() -> await().ignoreExceptions()
			.until(() -> masters()
				.allMatch((master) -> !master.client().clusterNodes().replace("nofailover", "").contains("fail"))));
		await().until(() -> this.service.post("/pipeset/100").status() == 200);
	}

	/** Nodes vote again, and forget a failure, after twice their timeout. */
	private static void hurry(Runnable wait) {
		setNodeTimeout("500");
		try {
			wait.run();
		}
		finally {
			setNodeTimeout("2000");
		}
	}

	private static void setNodeTimeout(String millis) {
		cluster.nodes().forEach((node) -> node.client().configSet("cluster-node-timeout", millis));
	}

	private static Stream<TestRedis> masters() {
		return Stream.of(cluster.master(0), cluster.master(1), cluster.master(2));
	}

	private static int scans(TestRedis master) {
		return master.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_scan:calls="))
			.mapToInt((line) -> Integer.parseInt(line.substring("cmdstat_scan:calls=".length(), line.indexOf(','))))
			.findFirst()
			.orElse(0);
	}

}
