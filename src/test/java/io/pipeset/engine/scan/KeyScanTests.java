package io.pipeset.engine.scan;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneRig;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A key scan knows the slots of each master, and which slots are in doubt. */
class KeyScanTests {

	private static final TestCluster cluster = TestCluster.shared();

	private static LaneRig rig;

	private final RedisNodes nodes = rig.context(LaneRig.settings(1000, 1000, 1, Duration.ofSeconds(10)), rig.threads())
		.nodes();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final String tag = cluster.tag(0, 0);

	private final int slot = TestCluster.slot(this.tag);

	@BeforeAll
	static void start() {
		rig = new LaneRig(cluster.properties());
	}

	@AfterAll
	static void end() {
		rig.close();
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	/**
	 * The service asks the cluster for the owners of slots at most ten times a second.
	 */
	@Test
	void aSlotThatHasJustMovedCountsAtItsNewMaster() throws NoConnectionException {
		this.nodes.refresh();
		Topology owners = this.nodes.owners();
		List<RedisNode> masters = this.nodes.masters();
		RedisNodes late = with(Map.of("owners", () -> owners, "masters", () -> masters, "refresh", () -> ""));
		cluster.move(this.slot, this.to);
		KeyScan scan = scan(late);
		List<ServerScan> servers = scan.once();
		assertThat(servers).hasSize(3);
		assertThat(servers.stream().filter(this::counts).map((server) -> server.node().name()))
			.containsExactly(TestCluster.address(this.to));
		KeyScan again = scan(late);
		again.once().forEach((server) -> assertThat(server.look(new NoRetries())).isTrue());
		assertThat(again.slotsInDoubt()).isZero();
	}

	/** A slot may have moved to a master that had none when the cluster was asked. */
	@Test
	void anUnknownMasterIsQueriedAgain() {
		AtomicBoolean late = new AtomicBoolean(true);
		KeyScan scan = scan(with(Map.of("masters", () -> {
			List<RedisNode> masters = this.nodes.masters();
			return (late.getAndSet(false)) ? masters.subList(0, 2) : masters;
		})));
		assertThat(scan.once()).hasSize(3);
		assertThat(scan.slotsInDoubt()).isZero();
	}

	@Test
	void aSlotThatMovesDuringTheScanIsInDoubtAndNoLongerCounts() {
		KeyScan scan = scan(this.nodes);
		List<ServerScan> servers = scan.once();
		assertThat(servers.stream().filter(this::counts).map((server) -> server.node().name()))
			.containsExactly(TestCluster.address(this.from));
		cluster.move(this.slot, this.to);
		servers.forEach((server) -> assertThat(server.look(new NoRetries())).isTrue());
		assertThat(servers).noneMatch(this::counts);
		assertThat(scan.slotsInDoubt()).isOne();
	}

	@Test
	void aMigratingSlotIsInDoubtAndCountsAtItsMaster() {
		cluster.begin(this.slot, this.from, this.to);
		KeyScan scan = scan(this.nodes);
		List<ServerScan> servers = scan.once();
		servers.forEach((server) -> assertThat(server.look(new NoRetries())).isTrue());
		assertThat(servers.stream().filter(this::counts).map((server) -> server.node().name()))
			.containsExactly(TestCluster.address(this.from));
		assertThat(scan.slotsInDoubt()).isOne();
	}

	@Test
	void aSlotWithoutAMasterIsInDoubt() {
		cluster.drop(this.slot);
		try {
			KeyScan scan = scan(this.nodes);
			assertThat(scan.once()).hasSize(3);
			assertThat(scan.slotsInDoubt()).isOne();
		}
		finally {
			cluster.give(this.slot, this.from);
		}
	}

	private boolean counts(ServerScan server) {
		return server.counts(("{" + this.tag + "}").getBytes(StandardCharsets.UTF_8));
	}

	private static KeyScan scan(RedisNodes nodes) {
		return new KeyScan(nodes, new JobStop(), new NoRetries());
	}

	/** The same nodes with some of their methods replaced. */
	private RedisNodes with(Map<String, Callable<?>> answers) {
		return (RedisNodes) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { RedisNodes.class },
				(proxy, method, arguments) -> {
					Callable<?> answer = answers.get(method.getName());
					return (answer != null) ? answer.call() : method.invoke(this.nodes, arguments);
				});
	}

	/** Throws the failure of the first call without an answer. */
	private static final class NoRetries implements RetryPolicy {

		@Override
		public boolean isOver() {
			return false;
		}

		@Override
		public void answered() {
		}

		@Override
		public void backOffAfter(String command, RedisCallException failure) {
			throw failure;
		}

	}

}
