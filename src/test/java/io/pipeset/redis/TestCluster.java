package io.pipeset.redis;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.RedisCommandExecutionException;
import io.pipeset.OwnThread;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of the carried executable on this machine: masters that share the slots
 * evenly, perhaps with replicas. Slots are moved step by step, so that a test meets each
 * redirection on purpose.
 */
public final class TestCluster extends ClusterServers implements ContextCustomizer {

	/** The slots that are perhaps not where they were at the start. */
	private final Set<Integer> touched = new TreeSet<>();

	private TestCluster(List<TestRedis> nodes, int masters) {
		super(nodes, masters);
	}

	/**
	 * The three masters that all tests of this JVM share. A test that has moved slots
	 * puts them back with {@link #reset()}.
	 * @return the same each time
	 */
	public static TestCluster shared() {
		return Shared.CLUSTER;
	}

	/**
	 * Starts a further cluster, whose nodes a test may kill and pause.
	 * @param masters how many masters share the slots
	 * @param replicas how many replicas there are; the first is one of the first master,
	 * and so on
	 * @param configLines further lines for redis.conf
	 * @return the cluster, to be closed by the test
	 */
	public static TestCluster start(int masters, int replicas, String... configLines) {
		List<CompletableFuture<TestRedis>> starting = IntStream.range(0, masters + replicas)
			.mapToObj((i) -> OwnThread.supply(() -> ClusterFormation.node(configLines)))
			.toList();
		TestCluster cluster = new TestCluster(starting.stream().map(CompletableFuture::join).toList(), masters);
		new ClusterFormation(cluster).form();
		cluster.awaitFormed();
		if (replicas == 0) {
			// A busy node is not given up, as nobody would take its place. With this from
			// the start, the nodes would take longer to know each other.
			cluster.nodes().forEach((node) -> node.client().configSet("cluster-node-timeout", "20000"));
		}
		return cluster;
	}

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
		TestPropertyValues.of(properties()).applyTo(context);
	}

	/**
	 * Begins to move a slot: from now on its master answers ASK for keys that it does not
	 * have.
	 * @param slot a slot
	 * @param from its master
	 * @param to the master that it moves to
	 */
	public void begin(int slot, TestRedis from, TestRedis to) {
		begin(IntStream.of(slot), from, to);
	}

	/**
	 * Begins to move slots.
	 * @param slots some slots
	 * @param from their master
	 * @param to the master that they move to
	 */
	public void begin(IntStream slots, TestRedis from, TestRedis to) {
		// A node that imports a slot does not listen to who else has it.
		awaitAgreed();
		slots.forEach((slot) -> open(slot, from, to));
	}

	private void open(int slot, TestRedis from, TestRedis to) {
		this.touched.add(slot);
		withReplicas(() -> to.client().clusterSetSlotImporting(slot, id(from)));
		withReplicas(() -> from.client().clusterSetSlotMigrating(slot, id(to)));
	}

	/**
	 * Moves keys of a slot that is being moved.
	 * @param from its master
	 * @param to the master that it moves to
	 * @param keys the keys
	 */
	public void migrate(TestRedis from, TestRedis to, String... keys) {
		from.client()
			.migrate("127.0.0.1", to.port(), 0, 10_000, MigrateArgs.Builder.<String>keys(keys).auth2(USER, PASSWORD));
	}

	/**
	 * Ends the move of a slot: its former master answers MOVED.
	 * @param slot a slot
	 * @param from its former master
	 * @param to the master that has it from now on
	 */
	public void end(int slot, TestRedis from, TestRedis to) {
		// The new master takes the greatest epoch that it knows of, and one more.
		awaitAgreed();
		close(slot, from, to);
	}

	/**
	 * Moves the keys that a slot has left and ends its move, at its former master in one
	 * step: nobody meets a slot whose keys have all gone and that is still on its way.
	 * @param slot a slot
	 * @param from its former master
	 * @param to the master that has it from now on
	 */
	public void endWithKeys(int slot, TestRedis from, TestRedis to) {
		awaitAgreed();
		List<String> keys = from.client().clusterGetKeysInSlot(slot, 1000);
		from.client().multi();
		if (!keys.isEmpty()) {
			migrate(from, to, keys.toArray(String[]::new));
		}
		from.client().clusterSetSlotNode(slot, id(to));
		from.client().exec().forEach((answer) -> {
			if (answer instanceof RuntimeException failure) {
				throw failure;
			}
		});
		to.client().clusterSetSlotNode(slot, id(to));
	}

	private void close(int slot, TestRedis from, TestRedis to) {
		withReplicas(() -> to.client().clusterSetSlotNode(slot, id(to)));
		withReplicas(() -> from.client().clusterSetSlotNode(slot, id(to)));
	}

	/** Valkey changes no slot while a replica is not there, or does not confirm it. */
	private static void withReplicas(Callable<?> change) {
		await().ignoreExceptionsMatching((ex) -> String.valueOf(ex.getMessage()).startsWith("NOREPLICAS"))
			.until(() -> change.call() != null);
	}

	/**
	 * Moves a slot with all its keys.
	 * @param slot a slot
	 * @param to the master that has it from then on
	 */
	public void move(int slot, TestRedis to) {
		move(slot, slot + 1, to);
	}

	/**
	 * Moves slots with all their keys, one after the other.
	 * @param first the first slot
	 * @param end the slot behind the last one
	 * @param to the master that has them from then on
	 */
	public void move(int first, int end, TestRedis to) {
		awaitAgreed();
		Map<Integer, TestRedis> owners = owners();
		for (int slot = first; slot < end; slot++) {
			TestRedis from = Objects.requireNonNull(owners.get(slot));
			if (from != to) {
				open(slot, from, to);
				List<String> keys = from.client().clusterGetKeysInSlot(slot, 1000);
				while (!keys.isEmpty()) {
					migrate(from, to, keys.toArray(String[]::new));
					keys = from.client().clusterGetKeysInSlot(slot, 1000);
				}
				close(slot, from, to);
			}
		}
	}

	/**
	 * Empties the cluster, gives every slot that was moved or taken away back to its
	 * first master, and waits until all masters agree.
	 */
	public void reset() {
		masters().forEach((master) -> master.client().flushall());
		await("each master has its slots again").until(() -> {
			Map<TestRedis, BitSet> served = served();
			this.touched.forEach((slot) -> giveBack(slot, served));
			awaitFormed();
			awaitAgreed();
			// A message on its way may have taken one from a master that had just got it.
			Map<TestRedis, BitSet> given = served();
			return this.touched.stream().allMatch((slot) -> serves(given, first(slot), slot));
		});
		this.touched.clear();
	}

	/** The slots that each master says it has. */
	private Map<TestRedis, BitSet> served() {
		return masters().stream().collect(Collectors.toMap((master) -> master, this::slots));
	}

	private static boolean serves(Map<TestRedis, BitSet> served, TestRedis master, int slot) {
		return Objects.requireNonNull(served.get(master)).get(slot);
	}

	private void giveBack(int slot, Map<TestRedis, BitSet> served) {
		TestRedis first = first(slot);
		masters().forEach((master) -> master.client().clusterSetSlotStable(slot));
		if (!serves(served, first, slot)) {
			awaitAgreed();
			// Its former master hears of it by a higher epoch, as after a move.
			TestRedis other = masters().stream().filter((master) -> master != first).findFirst().orElseThrow();
			first.client().clusterSetSlotImporting(slot, id(other));
			first.client().clusterSetSlotNode(slot, id(first));
		}
		masters().forEach((master) -> master.client().clusterSetSlotNode(slot, id(first)));
	}

	/** The master that had a slot at the start. */
	private TestRedis first(int slot) {
		return IntStream.range(0, masters().size())
			.filter((i) -> slot < firstSlot(i + 1))
			.mapToObj(masters()::get)
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Takes a slot away from all masters: they answer CLUSTERDOWN.
	 * @param slot a slot
	 */
	public void drop(int slot) {
		this.touched.add(slot);
		awaitAgreed();
		TestRedis owner = owner(slot);
		owner.client().clusterDelSlots(slot);
		awaitMessageOf(owner);
		masters().stream()
			.filter((master) -> master != owner)
			.forEach((master) -> master.client().clusterDelSlots(slot));
	}

	/**
	 * Lets a master tell all others its slots, since an older message that is still on
	 * its way would claim a slot that it no longer has: it takes another slot, which the
	 * others see.
	 */
	private void awaitMessageOf(TestRedis sender) {
		TestRedis other = masters().stream().filter((master) -> master != sender).findFirst().orElseThrow();
		int sign = slots(other).stream()
			.filter((slot) -> other.client().clusterCountKeysInSlot(slot) == 0)
			.findFirst()
			.orElseThrow();
		this.touched.add(sign);
		sender.client().clusterSetSlotImporting(sign, id(other));
		sender.client().clusterSetSlotNode(sign, id(sender));
		await("all nodes hear of %s".formatted(address(sender)))
			.until(() -> views().stream().allMatch((view) -> view.slots(id(sender)).get(sign)));
	}

	/**
	 * Gives a slot that was dropped to a master. A message of another node that was under
	 * way when the slot was dropped may have claimed it since.
	 * @param slot a slot
	 * @param to the master
	 */
	public void give(int slot, TestRedis to) {
		await("%s takes slot %d".formatted(address(to), slot)).ignoreException(RedisCommandExecutionException.class)
			.until(() -> {
				try {
					return to.client().clusterAddSlots(slot).equals("OK");
				}
				catch (RedisCommandExecutionException ex) {
					to.client().clusterDelSlots(slot);
					throw ex;
				}
			});
	}

	/** Starts the cluster when it is first asked for. */
	private static final class Shared {

		private static final TestCluster CLUSTER = TestCluster.start(3, 0);

		static {
			Runtime.getRuntime().addShutdownHook(new Thread(CLUSTER::close, "test-cluster-end"));
		}

	}

}
