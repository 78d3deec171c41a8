package io.pipeset.web.failover;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A master of the cluster hands its slots over to its replica, or ends, under a job. */
@ServiceTest(properties = "pipeset.limits.body-idle-timeout=10m")
class ClusterFailoverTests {

	static final TestCluster cluster = TestCluster.start(3, 1);

	private static final int LISTS = 300;

	private final Service service;

	ClusterFailoverTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@Test
	void aJobGoesOnAtTheReplicaThatTakesOverAndAtTheOneThatIsPromoted() throws Exception {
		TestRedis first = cluster.master(0);
		TestRedis replica = cluster.replica(0);
		int records = 200_000;
		CompletableFuture<Void> handedOver = new CompletableFuture<>();
		CompletableFuture<Answer> job = push(records, "retries=0", handedOver);
		await().until(() -> first.client().dbsize() > 0);
		replica.client().clusterFailover(false);
		await().until(() -> cluster.isMaster(replica));
		handedOver.complete(null);
		JsonNode report = job.get(1, TimeUnit.MINUTES).report();
		Counts handed = PushedLists.counts(report);
		assertThat(handed).isEqualTo(new Counts(records, records - handed.rejected(), 0, handed.rejected(), 0, 0));
		assertThat(report.at("/failovers").asInt()).isOne();
		assertThat(report.has("appliedByFormerMasters")).isFalse();
		assertInOrder(handed.applied(), handed.applied());
		cluster.nodes().filter(cluster::isMaster).forEach((master) -> master.client().flushall());
		await().until(() -> first.client().info("replication").contains("master_link_status:up"));
		String queue = cluster.tag(0, 0);
		replica.client().lpush(queue, "a", "b", "c");
		String receipt = this.service.post("/piperpop/2?reliable=true&receiptTtl=24h&key=" + queue)
			.report()
			.get("jobId")
			.asString();
		assertThat(replica.client().waitForReplication(1, 30_000)).isOne();
		// The service counts a failover only to a node that it knows as a replica.
		cluster.awaitAgreed();
		this.service.get("/actuator/health");

		CompletableFuture<Void> killed = new CompletableFuture<>();
		CompletableFuture<Answer> next = push(records, "retries=10&timeout=60s", killed);
		await().until(() -> replica.client().dbsize() > 50);
		cluster.kill(replica);
		killed.complete(null);
		JsonNode health = this.service.get("/actuator/health").json().at("/components/redis");
		assertThat(health.at("/status").asString()).isEqualTo("UP");
		await().until(() -> cluster.isMaster(first));
		Answer answer = next.get(2, TimeUnit.MINUTES);
		JsonNode last = (answer.status() == 200) ? answer.report() : answer.json().get("job");
		Counts counts = PushedLists.counts(last);
		assertThat(last.at("/failovers").asInt()).isOne();
		assertThat(counts.received()).isEqualTo(records);
		assertThat(counts.applied() + counts.unknown() + counts.rejected()).isEqualTo(records);
		assertInOrder(counts.applied(), counts.applied() + counts.unknown());
		await().until(() -> this.service.post("/v1/jobs/" + receipt + "/nack").status() == 204);
		assertThat(first.client().lrange(queue, 0, -1)).containsExactly("c", "b", "a");
	}

	/** Uploads records, of which the last quarter waits for a change. */
	private CompletableFuture<Answer> push(int records, String settings, CompletableFuture<Void> change) {
		return this.service
			.sendAsync(this.service.uploading("/v1/jobs?" + settings, Service.NDJSON, Lines.of(records, (i) -> {
				if (i == records * 3L / 4) {
					change.join();
				}
				return "[\"RPUSH\",\"list" + i % LISTS + "\",\"" + i + "\"]";
			})));
	}

	/** No element is there twice or behind a later one, and none is missing. */
	private static void assertInOrder(long least, long most) {
		long elements = 0;
		Map<Integer, TestRedis> owners = cluster.owners();
		for (int list = 0; list < LISTS; list++) {
			String key = "list" + list;
			List<Integer> values = owners.get(TestCluster.slot(key))
				.client()
				.lrange(key, 0, -1)
				.stream()
				.map(Integer::valueOf)
				.toList();
			assertThat(values).isSorted().doesNotHaveDuplicates();
			elements += values.size();
		}
		assertThat(elements).isBetween(least, most);
	}

}
