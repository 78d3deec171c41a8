package io.pipeset.web.failover;

import java.util.BitSet;
import java.util.Map;
import java.util.stream.IntStream;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A cluster changes under jobs of records that must not run twice: slots move, masters
 * hand over, end or stand still. Each outcome is held against the data. Run by
 * {@code mvn -Pcampaign verify}.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ServiceTest
class ClusterCampaignTests {

	static final TestCluster cluster = TestCluster.start(3, 3, "cluster-require-full-coverage no");

	private static final int RUNS = 5;

	private static final int SLOTS = 3000;

	/** How many records there are at least while slots move. */
	private static final int MANY = 5_000_000;

	private final Service service;

	private final PushedLists pushed;

	ClusterCampaignTests(Service service) {
		this.service = service;
		this.pushed = new PushedLists(service, 200_000);
	}

	@AfterEach
	void empty() {
		cluster.awaitReplicas();
		cluster.nodes().filter(cluster::isMaster).forEach((master) -> master.client().flushall());
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@Test
	void aMillionKeysAreWhereTheirSlotsAre() {
		int keys = 1_000_000;
		Answer answer = this.service.upload("/v1/jobs?concurrency=2", Service.NDJSON,
				Lines.of(keys, (i) -> "[\"SET\",\"key" + i + "\",\"" + i + "\"]"));
		assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(keys, keys, 0, 0, 0, 0));
		assertThat(cluster.nodes().filter(cluster::isMaster).mapToLong((master) -> master.client().dbsize()).sum())
			.isEqualTo(keys);
		Map<Integer, TestRedis> owners = cluster.owners();
		for (int i = 0; i < keys; i += 997) {
			assertThat(owners.get(TestCluster.slot("key" + i)).client().get("key" + i)).isEqualTo(String.valueOf(i));
		}
	}

	@RepeatedTest(RUNS)
	void slotsMove() throws Exception {
		TestRedis from = cluster.owner(0);
		TestRedis to = cluster.nodes()
			.filter((node) -> cluster.isMaster(node) && node != from)
			.findFirst()
			.orElseThrow();
		Counts counts = pushWhile(MANY, "concurrency=2", () -> cluster.move(0, SLOTS, to));
		assertThat(counts).isEqualTo(new Counts(this.pushed.records(), this.pushed.records(), 0, 0, 0, 0));
		assertInOrder(counts.applied(), counts.applied());
	}

	@RepeatedTest(RUNS)
	void aMasterHandsOver() throws Exception {
		TestRedis replica = cluster.nodes().filter((node) -> !cluster.isMaster(node)).findFirst().orElseThrow();
		Counts counts = pushWhile(0, "concurrency=2", () -> {
			replica.client().clusterFailover(false);
			await().until(() -> cluster.isMaster(replica));
		});
		int records = this.pushed.records();
		assertThat(counts).isEqualTo(new Counts(records, records - counts.rejected(), 0, counts.rejected(), 0, 0));
		assertInOrder(counts.applied(), counts.applied());
	}

	@RepeatedTest(RUNS)
	void aMasterIsKilled() throws Exception {
		TestRedis master = cluster.owner(0);
		String other = IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "other" + i)
			.filter((key) -> !cluster.serves(master, TestCluster.slot(key)))
			.findFirst()
			.orElseThrow();
		Counts counts = pushWhile(0, "retries=10&timeout=60s", () -> {
			cluster.kill(master);
			this.service.ndjson("/v1/jobs", "[\"SET\",\"" + other + "\",1]").report();
			await().until(() -> cluster.nodes().anyMatch((node) -> node != master && cluster.serves(node, 0)));
		});
		cluster.restart(master);
		assertThat(counts.unprocessed() + counts.noop()).isZero();
		assertInOrder(counts.applied(), counts.applied() + counts.unknown());
	}

	/** Redis may lose what a master has acknowledged that is no longer one. */
	@RepeatedTest(RUNS)
	void aMasterStandsStillUntilItIsNoMaster() throws Exception {
		TestRedis master = cluster.owner(0);
		Counts counts = pushWhile(0, "retries=10&timeout=5s", () -> {
			master.pause();
			await().until(() -> cluster.nodes().anyMatch((node) -> node != master && cluster.serves(node, 0)));
			master.resume();
		});
		assertThat(counts.received()).isLessThanOrEqualTo(this.pushed.records());
		assertInOrder(0, counts.applied() + counts.unknown());
	}

	/** Uploads records until the change is over, and some more. */
	private Counts pushWhile(int least, String settings, Runnable change) throws Exception {
		return PushedLists
			.counts(this.pushed.pushWhile(least, settings, () -> cluster.owner(0).client().dbsize() > 100, change));
	}

	private static void assertInOrder(long least, long most) {
		Map<Integer, TestRedis> owners = cluster.owners();
		BitSet numbers = PushedLists.numbers((key) -> owners.get(TestCluster.slot(key)).client());
		assertThat((long) numbers.cardinality()).isBetween(least, most);
	}

}
