package io.pipeset.engine.servers;

import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.record.Slots;
import io.pipeset.redis.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Each server of a cluster has one set of connections per address. */
class ClusterNodesTests {

	private static final TestCluster cluster = TestCluster.shared();

	private static LettuceConnectionFactory factory;

	private static ClusterNodes nodes;

	@BeforeAll
	static void start() {
		RedisClusterConfiguration configuration = new RedisClusterConfiguration(
				Set.of(TestCluster.address(cluster.master(0))));
		configuration.setUsername(cluster.properties().get("spring.data.redis.username"));
		configuration.setPassword(cluster.properties().get("spring.data.redis.password"));
		factory = new LettuceConnectionFactory(configuration, LettucePoolingClientConfiguration.builder().build());
		factory.start();
		nodes = nodes();
	}

	private static ClusterNodes nodes() {
		return new ClusterNodes(factory,
				new PipelineProperties(2, 1000, DataSize.ofMegabytes(1), Duration.ofSeconds(5), false));
	}

	@AfterEach
	void leaveTheClusterAsItWas() {
		announce("");
		cluster.reset();
	}

	@AfterAll
	static void stop() {
		nodes.close();
		factory.destroy();
	}

	@Test
	void aNodeThatGetsAnAddressBackHasTheSameConnectionsAsBefore() throws Exception {
		RedisNode first = nodes.owners().owner(0);
		long begun = System.nanoTime();
		Set<RedisNode> met = Collections.newSetFromMap(new IdentityHashMap<>());
		for (int round = 0; round < 3; round++) {
			met.add(named("localhost"));
			met.add(named(""));
		}
		assertThat(met).hasSize(2).contains(first);
		assertThat(nodes.named()).hasSize(3).contains(first);
		// The former address leads to the same server, so its commands may still run.
		assertThat(met).noneMatch((node) -> nodes.isSuperseded(node, (slot) -> slot == 0, begun));
	}

	@Test
	void theSlotsOfAServerNeedNoQuery() throws Exception {
		RedisNode node = nodes.owners().ownerOrAny(0);
		assertThat(nodes.slots(node)).isEqualTo(Slots.COUNT / 3);
		ClusterNodes unasked = nodes();
		assertThat(unasked.slots(node)).isNull();
		assertThat(unasked.named()).isEmpty();
		unasked.close();
	}

	@Test
	void onlyTheClustersAnswerSupersedesAServerNotARedirection() throws Exception {
		RedisNode former = nodes.owners().ownerOrAny(0);
		RedisNode other = nodes.owners().ownerOrAny(Slots.COUNT / 2);
		nodes.setOwner(0, other);
		long moved = System.nanoTime();
		assertThat(owner()).isSameAs(other);
		assertThat(nodes.isSuperseded(former, (slot) -> slot == 0, moved)).isFalse();
		// The cluster was queried before the slot moved, and has named the former master.
		assertThat(nodes.isSuperseded(other, (slot) -> slot == 0, moved)).isFalse();
		cluster.move(0, cluster.master(1));
		await().until(() -> {
			nodes.refresh();
			return nodes.isSuperseded(former, (slot) -> slot == 0, moved);
		});
		cluster.reset();
		await().until(() -> {
			nodes.refresh();
			return owner() == former;
		});
	}

	private static void announce(String name) {
		cluster.master(0).client().configSet("cluster-announce-hostname", name);
	}

	/**
	 * Makes the node announce a name, or none, and queries the cluster until it shows
	 * that name.
	 */
	private static RedisNode named(String name) {
		announce(name);
		String host = (name.isEmpty()) ? "127.0.0.1" : name;
		return await().until(() -> {
			nodes.refresh();
			return owner();
		}, (owner) -> owner.name().equals(host + ":" + cluster.master(0).port()));
	}

	private static RedisNode owner() throws NoConnectionException {
		return nodes.owners().ownerOrAny(0);
	}

}
