package io.pipeset.redis;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of the carried executable on this machine: masters that share the slots
 * evenly, perhaps with replicas. Slots are moved step by step, so that a test meets each
 * redirection on purpose.
 */
public final class TestCluster implements AutoCloseable {

	/** The user by which the service logs in, and the nodes at one another. */
	static final String USER = "service";

	static final String PASSWORD = "cluster-secret";

	private final List<TestRedis> masters;

	private final List<TestRedis> replicas;

	private final Map<TestRedis, String> ids = new LinkedHashMap<>();

	private final Set<TestRedis> killed = ConcurrentHashMap.newKeySet();

	/** The slots that are perhaps not where they were at the start. */
	private final Set<Integer> touched = new TreeSet<>();

	private TestCluster(List<TestRedis> nodes, int masters) {
		this.masters = List.copyOf(nodes.subList(0, masters));
		this.replicas = List.copyOf(nodes.subList(masters, nodes.size()));
		nodes.forEach((node) -> this.ids.put(node, node.client().clusterMyId()));
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
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> ClusterFormation.node(configLines)))
			.toList();
		TestCluster cluster = new TestCluster(starting.stream().map(CompletableFuture::join).toList(), masters);
		new ClusterFormation(cluster).form();
		cluster.awaitFormed();
		return cluster;
	}

	/** Waits until all nodes know each other and their slots, and replicas have data. */
	private void awaitFormed() {
		nodes().forEach((node) -> await().until(() -> {
			String info = node.client().clusterInfo();
			long slaves = node.client().clusterNodes().lines().filter((line) -> line.contains("slave")).count();
			return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + this.ids.size() + "\r")
					&& info.contains("cluster_size:" + this.masters.size() + "\r") && slaves == this.replicas.size();
		}));
		this.replicas.forEach((replica) -> await()
			.until(() -> replica.client().info("replication").contains("master_link_status:up")));
	}

	List<TestRedis> masters() {
		return this.masters;
	}

	List<TestRedis> replicas() {
		return this.replicas;
	}

	/**
	 * One of the masters, by their slots.
	 * @param i its place, from 0
	 * @return the node, which was a master at the start
	 */
	public TestRedis master(int i) {
		return this.masters.get(i);
	}

	/**
	 * The replica of a master.
	 * @param i the master's place
	 * @return the node, which was a replica at the start
	 */
	public TestRedis replica(int i) {
		return this.replicas.get(i);
	}

	/**
	 * All nodes, the masters first.
	 * @return the nodes
	 */
	public Stream<TestRedis> nodes() {
		return Stream.concat(this.masters.stream(), this.replicas.stream());
	}

	/**
	 * The properties by which Spring Boot uses this cluster.
	 * @return properties {@code spring.data.redis.*}
	 */
	public Map<String, String> properties() {
		return Map.of("spring.data.redis.cluster.nodes",
				nodes().map(TestCluster::address).collect(Collectors.joining(",")), "spring.data.redis.username", USER,
				"spring.data.redis.password", PASSWORD);
	}

	/**
	 * The name by which the service knows a node.
	 * @param node one of the nodes
	 * @return host and port
	 */
	public static String address(TestRedis node) {
		return "127.0.0.1:" + node.port();
	}

	/**
	 * The slot of a key, as Redis computes it.
	 * @param key a key
	 * @return 0 to 16383
	 */
	public static int slot(String key) {
		return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * A hash tag whose slot a master had at the start.
	 * @param master the master's place
	 * @param number another number for another slot
	 * @return a short word
	 */
	public String tag(int master, int number) {
		return IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "t" + i)
			.filter((tag) -> slot(tag) >= firstSlot(master) && slot(tag) < firstSlot(master + 1))
			.skip(number)
			.findFirst()
			.orElseThrow();
	}

	int firstSlot(int master) {
		return (int) ((long) SlotHash.SLOT_COUNT * master / this.masters.size());
	}

	/**
	 * Commands on the master that serves a key now.
	 * @param key a key
	 * @return its commands
	 */
	public RedisCommands<String, String> at(String key) {
		return owner(slot(key)).client();
	}

	/**
	 * The node that says that it serves a slot.
	 * @param slot a slot
	 * @return the first such node
	 */
	public TestRedis owner(int slot) {
		return nodes().filter((node) -> serves(node, slot)).findFirst().orElseThrow();
	}

	/**
	 * Whether a node is a master now.
	 * @param node one of the nodes
	 * @return {@code false} also for one that does not answer
	 */
	public boolean isMaster(TestRedis node) {
		return !this.killed.contains(node) && node.client().info("replication").contains("role:master");
	}

	/** Waits until every node is a master or has the data of its master. */
	public void awaitReplicas() {
		nodes().forEach((node) -> await().ignoreExceptions().until(() -> {
			String info = node.client().info("replication");
			return info.contains("role:master") || info.contains("master_link_status:up");
		}));
		await().ignoreExceptions().until(() -> nodes().filter(this::isMaster).count() == this.masters.size());
	}

	/**
	 * Whether a node says that it serves a slot.
	 * @param node one of the nodes
	 * @param slot a slot
	 * @return {@code false} also for one that does not answer
	 */
	public boolean serves(TestRedis node, int slot) {
		return slots(node).get(slot);
	}

	/**
	 * The node that says that it serves each slot, asked once.
	 * @return a node for each slot
	 */
	public Map<Integer, TestRedis> owners() {
		Map<Integer, TestRedis> owners = new HashMap<>();
		nodes().forEach((node) -> slots(node).stream().forEach((slot) -> owners.put(slot, node)));
		return owners;
	}

	/** The slots of a master, as its own line has them. */
	private BitSet slots(TestRedis node) {
		return (this.killed.contains(node)) ? new BitSet() : view(node).slots(id(node));
	}

	private static ClusterView view(TestRedis node) {
		return ClusterView.of(node.client().clusterNodes());
	}

	private List<ClusterView> views() {
		return nodes().filter((node) -> !this.killed.contains(node)).map(TestCluster::view).toList();
	}

	/** Waits until all nodes agree on the masters, their slots and epochs. */
	public void awaitAgreed() {
		await("all nodes name the same masters").until(() -> ClusterView.agree(views()));
	}

	/**
	 * Kills a node, which is not asked for its slots from then on.
	 * @param node one of the nodes
	 */
	public void kill(TestRedis node) {
		this.killed.add(node);
		node.kill();
	}

	/**
	 * Starts a killed node again.
	 * @param node the node
	 */
	public void restart(TestRedis node) {
		node.restart();
		this.killed.remove(node);
	}

	/**
	 * Begins to move a slot: from now on its master answers ASK for keys that it does not
	 * have.
	 * @param slot a slot
	 * @param from its master
	 * @param to the master that it moves to
	 */
	public void begin(int slot, TestRedis from, TestRedis to) {
		// A node that imports a slot does not listen to who else has it.
		awaitAgreed();
		open(slot, from, to);
	}

	private void open(int slot, TestRedis from, TestRedis to) {
		this.touched.add(slot);
		to.client().clusterSetSlotImporting(slot, id(from));
		from.client().clusterSetSlotMigrating(slot, id(to));
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

	private void close(int slot, TestRedis from, TestRedis to) {
		to.client().clusterSetSlotNode(slot, id(to));
		from.client().clusterSetSlotNode(slot, id(to));
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
		this.masters.forEach((master) -> master.client().flushall());
		for (int slot : this.touched) {
			TestRedis first = IntStream.range(0, this.masters.size())
				.filter((i) -> slot < firstSlot(i + 1))
				.mapToObj(this.masters::get)
				.findFirst()
				.orElseThrow();
			this.masters.forEach((master) -> master.client().clusterSetSlotStable(slot));
			if (!serves(first, slot)) {
				awaitAgreed();
				// Its former master hears of it by a higher epoch, as after a move.
				first.client().clusterSetSlotImporting(slot, id(this.masters.get(0)));
				first.client().clusterSetSlotNode(slot, id(first));
			}
			this.masters.forEach((master) -> master.client().clusterSetSlotNode(slot, id(first)));
		}
		this.touched.clear();
		awaitFormed();
		awaitAgreed();
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
		this.masters.stream()
			.filter((master) -> master != owner)
			.forEach((master) -> master.client().clusterDelSlots(slot));
	}

	/**
	 * Lets a master tell all others its slots, since an older message that is still on
	 * its way would claim a slot that it no longer has: it takes another slot, which the
	 * others see.
	 */
	private void awaitMessageOf(TestRedis sender) {
		TestRedis other = this.masters.stream().filter((master) -> master != sender).findFirst().orElseThrow();
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
	 * Gives a slot that was dropped to a master.
	 * @param slot a slot
	 * @param to the master
	 */
	public void give(int slot, TestRedis to) {
		to.client().clusterAddSlots(slot);
	}

	String id(TestRedis node) {
		String id = this.ids.get(node);
		if (id == null) {
			throw new IllegalArgumentException("Not a node of this cluster");
		}
		return id;
	}

	@Override
	public void close() {
		nodes().forEach(TestRedis::close);
	}

	/** Starts the cluster when it is first asked for. */
	private static final class Shared {

		private static final TestCluster CLUSTER = TestCluster.start(3, 0);

		static {
			Runtime.getRuntime().addShutdownHook(new Thread(CLUSTER::close, "test-cluster-end"));
		}

	}

}
