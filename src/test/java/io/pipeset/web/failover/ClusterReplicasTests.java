package io.pipeset.web.failover;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The only master of a cluster and its replica change places between batches. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterReplicasTests {

	static final TestCluster cluster = TestCluster.start(1, 1);

	private final Service service;

	ClusterReplicasTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@Test
	void aJobThatAsksForReplicasBeginsAtAMasterThatHasBecomeAReplica() {
		this.service.post("/pipeset/1").report();
		handOver();
		assertThat(Answer.counts(this.service.post("/pipeset/10?replicas=1&replicasTimeout=1m").report()))
			.isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
	}

	@Test
	void aJobThatAsksForReplicasGoesOnAtTheReplicaThatTakesOver() throws Exception {
		this.service.post("/pipeset/1?timeout=1m").report();
		TestRedis master = master();
		long before = waits(master);
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?replicas=1&replicasTimeout=1m")) {
			wire.chunk("[\"RPUSH\",\"list\",1]\n");
			await().until(() -> waits(master) >= before + 2 && master.client().info().contains("blocked_clients:0\r"));
			handOver();
			wire.chunk("[\"RPUSH\",\"list\",2]\n").lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
		assertThat(master().client().lrange("list", 0, -1)).containsExactly("1", "2");
	}

	@Test
	void scriptsAreNotLoadedIntoAMasterThatHasEndedAndHasNoSlots() {
		this.service.post("/pipeset/1").report();
		TestRedis master = master();
		TestRedis replica = replica();
		cluster.kill(master);
		replica.client().clusterFailover(false, true);
		await().until(() -> cluster.isMaster(replica));
		await().until(() -> this.service.post("/pipeset/1").status() == 200);
		Answer answer = this.service.post("/v1/scripts", "text/plain", "return 1");
		cluster.restart(master);
		cluster.awaitReplicas();
		assertThat(answer.status()).isEqualTo(200);
	}

	private static void handOver() {
		cluster.awaitReplicas();
		TestRedis master = master();
		TestRedis replica = replica();
		replica.client().clusterFailover(false, true);
		await().until(() -> cluster.isMaster(replica) && !cluster.isMaster(master));
		cluster.awaitReplicas();
	}

	private static TestRedis master() {
		return cluster.nodes().filter(cluster::isMaster).findFirst().orElseThrow();
	}

	private static TestRedis replica() {
		return cluster.nodes().filter((node) -> !cluster.isMaster(node)).findFirst().orElseThrow();
	}

	private static long waits(TestRedis node) {
		return node.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_wait:calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
			.sum();
	}

}
