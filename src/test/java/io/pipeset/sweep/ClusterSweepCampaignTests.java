package io.pipeset.sweep;

import java.io.IOException;
import java.time.Duration;

import io.pipeset.lane.LaneRig;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A sweep goes on at the replica that takes the place of a master. */
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
				assertThat(sweep.sweep().repeatedSlots()).isPositive();
			}
			cluster.awaitReplicas();
			try (SweepOfCluster sweep = new SweepOfCluster(cluster, rig, Duration.ofMinutes(1), 1)) {
				sweep.expect(0, MANY);
				sweep.readOthers();
				cluster.kill(replica);
				sweep.readAll();
				assertThat(sweep.sweep().repeatedSlots()).isPositive();
				assertThat(cluster.isMaster(first)).isTrue();
			}
		}
	}

}
