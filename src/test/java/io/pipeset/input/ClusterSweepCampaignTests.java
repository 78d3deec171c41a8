package io.pipeset.input;

import java.io.IOException;
import java.time.Duration;

import io.pipeset.engine.lane.LaneRig;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A sweep continues at the replica that replaces a master. */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
class ClusterSweepCampaignTests {

	private static final int MANY = 5000;

	@Test
	void theKeysOfAMasterThatIsReplacedAreFoundAtItsReplica() throws IOException {
		try (TestCluster cluster = TestCluster.start(3, 1); LaneRig rig = new LaneRig(cluster.properties())) {
			TestRedis first = cluster.master(0);
			TestRedis replica = cluster.replica(0);
			try (SweepOfCluster sweep = new SweepOfCluster(cluster, rig, Duration.ofMinutes(1), 0)) {
				sweep.fill(0, MANY);
				sweep.readOthers();
				replica.client().clusterFailover(false);
				await().until(() -> cluster.isMaster(replica) && !cluster.isMaster(first));
				sweep.readAll();
				assertThat(sweep.sweep().scan().repeatedSlots()).isPositive();
			}
			cluster.awaitReplicas();
			try (SweepOfCluster sweep = new SweepOfCluster(cluster, rig, Duration.ofMinutes(1), 1)) {
				sweep.expect(0, MANY);
				sweep.readOthers();
				cluster.kill(replica);
				sweep.readAll();
				assertThat(sweep.sweep().scan().repeatedSlots()).isPositive();
				assertThat(cluster.isMaster(first)).isTrue();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aMasterThatGivesASlotAwayMayBeReplaced(boolean ends) throws IOException {
		try (TestCluster cluster = TestCluster.start(3, 1, "replica-serve-stale-data no");
				LaneRig rig = new LaneRig(cluster.properties());
				SweepOfCluster sweep = new SweepOfCluster(cluster, rig, Duration.ofSeconds(5), 1)) {
			TestRedis first = cluster.master(0);
			TestRedis replica = cluster.replica(0);
			sweep.fill(0, MANY);
			cluster.begin(TestCluster.slot(sweep.key(0, 0)), first, cluster.master(1));
			sweep.readOthers();
			cluster.migrate(first, cluster.master(1), sweep.key(0, 0));
			// A former master that has not synchronized with its new master replies
			// MASTERDOWN.
			first.client().configSet("masterauth", "wrong");
			replica.client().clusterFailover(false);
			await().until(() -> cluster.isMaster(replica) && !cluster.isMaster(first));
			if (ends) {
				cluster.kill(first);
			}
			sweep.readAll();
		}
	}

}
