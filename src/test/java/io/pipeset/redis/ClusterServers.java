package io.pipeset.redis;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.pipeset.report.RedisIdentity;

import static org.awaitility.Awaitility.await;

/**
 * The servers of a Redis Cluster on this machine, and what they say of themselves and of
 * each other.
 */
public abstract class ClusterServers implements AutoCloseable {

	/** The user by which the service logs in, and the nodes at one another. */
	static final String USER = "service";

	static final String PASSWORD = "cluster-secret";

	private final List<TestRedis> masters;

	private final List<TestRedis> replicas;

	private final Map<TestRedis, String> ids = new LinkedHashMap<>();

	private final Set<TestRedis> killed = ConcurrentHashMap.newKeySet();

	ClusterServers(List<TestRedis> nodes, int masters) {
		this.masters = List.copyOf(nodes.subList(0, masters));
		this.replicas = List.copyOf(nodes.subList(masters, nodes.size()));
		nodes.forEach((node) -> this.ids.put(node, node.client().clusterMyId()));
	}

	/** Waits until all nodes know each other and their slots, and replicas have data. */
	void awaitFormed() {
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
				nodes().map(ClusterServers::address).collect(Collectors.joining(",")), "spring.data.redis.username",
				USER, "spring.data.redis.password", PASSWORD);
	}

	/** The name by which a service knows the cluster by these properties. */
	public RedisIdentity identity() {
		return RedisIdentity.of(nodes().map(ClusterServers::address), "cluster");
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
	BitSet slots(TestRedis node) {
		return (this.killed.contains(node)) ? new BitSet() : view(node).slots(id(node));
	}

	private static ClusterView view(TestRedis node) {
		return ClusterView.of(node.client().clusterNodes());
	}

	List<ClusterView> views() {
		return nodes().filter((node) -> !this.killed.contains(node)).map(ClusterServers::view).toList();
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

}
