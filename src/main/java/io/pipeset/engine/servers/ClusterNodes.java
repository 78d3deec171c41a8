package io.pipeset.engine.servers;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The masters of a cluster. Lettuce's cluster client lists them. Each master gets its own
 * connection factory, whose connections are ordinary connections to one server. The
 * cluster is queried only on demand: at first, and after a redirection or a loss.
 */
public final class ClusterNodes implements RedisNodes {

	private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

	/** Shortest time between two queries to the cluster. */
	private static final long MIN_REFRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * How long {@link #startRefresh} waits for the answer, from the start of the query.
	 */
	private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	/**
	 * How long a MOVED overrides the cluster's answer, because the answering node may not
	 * know the move yet.
	 */
	private static final long MOVED_VALID_NANOS = TimeUnit.SECONDS.toNanos(2);

	private final LettuceConnectionFactory cluster;

	private final NodeFactories factories;

	private final String seeds;

	/** Guards the cluster's answers. It is never held during a query. */
	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * The last query. It may take as long as the slowest node, because Lettuce queries
	 * replicas as well.
	 */
	private CompletableFuture<Void> query = CompletableFuture.completedFuture(null);

	/** By node id and current address. The id of a node never changes. */
	private final Map<String, KnownMaster> masters = new HashMap<>();

	/** When a MOVED last changed the owner of a slot, by the slot. */
	private final Map<Integer, Long> movedNanos = new HashMap<>();

	/** When the last query was started. */
	private volatile long queriedNanos = System.nanoTime();

	/** When the last query was answered. */
	private volatile long answeredNanos = System.nanoTime() - MIN_REFRESH_NANOS;

	private volatile Throwable failure = new RedisException("none of its nodes has answered yet");

	private volatile @Nullable Topology owners;

	/** The id of each replica's master, by the replica's id, from the last answer. */
	private Map<String, String> masterOfReplica = Map.of();

	/** How many failovers the cluster's answers have shown. */
	private final AtomicInteger failovers = new AtomicInteger();

	/** The owners from the cluster's last answer, without later MOVED redirections. */
	private @Nullable RedisNode[] named = new RedisNode[Slots.COUNT];

	/** When the query for {@code named} was started. */
	private long namedNanos;

	/**
	 * Creates the masters of a cluster, without a query.
	 * @param cluster a factory for the cluster, of which only the client is used. The
	 * caller destroys it after these nodes are closed
	 */
	public ClusterNodes(LettuceConnectionFactory cluster, PipelineProperties properties) {
		this.cluster = cluster;
		this.factories = new NodeFactories(cluster, properties);
		RedisClusterConfiguration configuration = cluster.getClusterConfiguration();
		this.seeds = (configuration != null) ? configuration.getClusterNodes()
			.stream()
			.map((node) -> node.getHost() + ":" + node.getPort())
			.collect(Collectors.joining(",")) : "";
	}

	@Override
	public boolean isCluster() {
		return true;
	}

	@Override
	public boolean isFollowing() {
		return true;
	}

	@Override
	public boolean redirects(String code) {
		return RedisErrors.means(code, Meaning.REDIRECTS);
	}

	@Override
	public SlotsAtNode slotsAt(RedisNode node) {
		return SlotsAtNode.of(node.calls().clusterNodes());
	}

	@Override
	public String nameOfOneOfSeveral(RedisNode node) {
		return node.name();
	}

	@Override
	public String name() {
		return this.seeds;
	}

	@Override
	public String untilReached() {
		return "a node of the cluster can be reached; spring.data.redis.cluster.nodes names some of them";
	}

	@Override
	public List<RedisNode> masters() throws NoConnectionException {
		// The cluster still names a replaced master for a long time, but without slots.
		Topology known = owners();
		return named().stream().filter(known::isMaster).toList();
	}

	@Override
	public List<RedisNode> named() {
		this.lock.lock();
		try {
			return this.masters.values().stream().filter(KnownMaster::isNamed).map(KnownMaster::node).toList();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public @Nullable Integer slots(RedisNode node) {
		Topology known = this.owners;
		return (known != null) ? known.slots(node) : null;
	}

	@Override
	public Topology owners() throws NoConnectionException {
		Topology known = this.owners;
		if (known == null) {
			refresh();
			known = this.owners;
		}
		if (known == null) {
			throw new NoConnectionException("the cluster of spring.data.redis.cluster.nodes=" + this.seeds,
					this.failure);
		}
		return known;
	}

	@Override
	public void refresh() {
		await(startQuery(), Long.MAX_VALUE);
	}

	@Override
	public void startRefresh() {
		CompletableFuture<Void> query = startQuery();
		await(query, this.queriedNanos + MAX_WAIT_NANOS - System.nanoTime());
	}

	/** Starts a query, unless one is running or has just been answered. */
	private CompletableFuture<Void> startQuery() {
		this.lock.lock();
		try {
			if (this.query.isDone() && System.nanoTime() - this.answeredNanos >= MIN_REFRESH_NANOS) {
				this.queriedNanos = System.nanoTime();
				this.query = CompletableFuture.runAsync(this::runQuery, (task) -> {
					Thread thread = new Thread(task, "cluster-nodes");
					thread.setDaemon(true);
					thread.start();
				});
			}
			return this.query;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static void await(CompletableFuture<Void> query, long nanos) {
		try {
			query.get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (TimeoutException | ExecutionException ex) {
			// The answer takes effect when it arrives.
		}
	}

	private void runQuery() {
		int attempts = 0;
		while (!tryQuery() && NoConnectionException.isUnheard(this.failure)
				&& ++attempts < NoConnectionException.MOST_UNHEARD) {
			// The next attempt is likely to show the reason.
		}
		this.answeredNanos = System.nanoTime();
	}

	private boolean tryQuery() {
		try {
			RedisClusterClient client = (RedisClusterClient) this.cluster.getRequiredNativeClient();
			if (this.owners != null) {
				client.refreshPartitions();
			}
			update(client.getPartitions());
			return true;
		}
		catch (RuntimeException ex) {
			this.failure = firstCause(ex);
			logger.debug("The cluster's nodes could not be asked for their slots", ex);
			return false;
		}
	}

	/** The failure of the first node. Lettuce only logs it. */
	private static Throwable firstCause(RuntimeException failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			for (Throwable first : cause.getSuppressed()) {
				return NestedExceptionUtils.getMostSpecificCause(first);
			}
		}
		return NestedExceptionUtils.getMostSpecificCause(failure);
	}

	private void update(Partitions partitions) {
		this.lock.lock();
		try {
			updateLocked(partitions);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void updateLocked(Partitions partitions) {
		long queriedNanos = this.queriedNanos;
		this.masters.values().forEach(KnownMaster::markUnnamed);
		@Nullable RedisNode[] named = new RedisNode[Slots.COUNT];
		for (RedisClusterNode node : partitions) {
			if (node.getRole().isUpstream() && node.getUri().getPort() > 0) {
				RedisNode master = master(node);
				node.getSlots().forEach((slot) -> named[slot] = master);
			}
		}
		countFailovers(partitions);
		this.named = named;
		this.namedNanos = queriedNanos;
		Topology before = this.owners;
		this.movedNanos.values().removeIf((since) -> queriedNanos - since > MOVED_VALID_NANOS);
		Topology after = Topology
			.of((slot) -> (before != null && this.movedNanos.containsKey(slot)) ? before.owner(slot) : named[slot]);
		if (before == null || !after.isSameAs(before)) {
			this.owners = after;
		}
		retire(after);
	}

	/**
	 * Counts the replicas that have taken over slots of their own master. A migrated slot
	 * goes to another master instead.
	 */
	private void countFailovers(Partitions partitions) {
		for (RedisClusterNode node : partitions) {
			String former = this.masterOfReplica.get(node.getNodeId());
			if (former != null && node.getSlots().stream().anyMatch((slot) -> isNamed(former, slot))) {
				this.failovers.incrementAndGet();
			}
		}
		this.masterOfReplica = partitions.stream()
			.filter((node) -> node.getSlaveOf() != null)
			.collect(Collectors.toMap(RedisClusterNode::getNodeId, RedisClusterNode::getSlaveOf));
	}

	private boolean isNamed(String id, int slot) {
		RedisNode owner = this.named[slot];
		return owner != null && id.equals(id(owner));
	}

	private RedisNode master(RedisClusterNode node) {
		String address = node.getUri().getHost() + ":" + node.getUri().getPort();
		KnownMaster known = this.masters.computeIfAbsent(node.getNodeId() + " at " + address,
				(key) -> new KnownMaster(node.getNodeId(),
						this.factories.open(node.getUri().getHost(), node.getUri().getPort())));
		known.markNamed();
		return known.node();
	}

	/**
	 * Closes nodes that the cluster has not named for a long time, and that are not in
	 * use.
	 */
	private void retire(Topology owners) {
		List<KnownMaster> retired = new ArrayList<>();
		this.masters.values().removeIf((master) -> {
			boolean retires = master.isRetirable() && !owners.isMaster(master.node());
			if (retires) {
				retired.add(master);
			}
			return retires;
		});
		retired.forEach((master) -> this.factories.close(master.node()));
	}

	@Override
	public @Nullable RedisNode find(String address) {
		NodeAddress target = NodeAddress.of(address);
		return named().stream()
			.filter((node) -> NodeAddress.of(node.name()).isMeantBy(target))
			.findFirst()
			.orElse(null);
	}

	@Override
	public void setOwner(int slot, RedisNode master) {
		this.lock.lock();
		try {
			Topology known = this.owners;
			if (known != null) {
				this.movedNanos.put(slot, System.nanoTime());
				this.owners = known.with(slot, master);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public int failovers() {
		return this.failovers.get();
	}

	@Override
	public boolean isSuperseded(RedisNode former, IntPredicate slots, long sinceNanos) {
		this.lock.lock();
		try {
			String id = id(former);
			// The same server may have another address now.
			return id != null && this.namedNanos - sinceNanos >= 0
					&& IntStream.range(0, Slots.COUNT)
						.filter(slots)
						.allMatch((slot) -> this.named[slot] != null && !isNamed(id, slot));
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable String id(RedisNode node) {
		return this.masters.values()
			.stream()
			.filter((master) -> master.node() == node)
			.map(KnownMaster::id)
			.findFirst()
			.orElse(null);
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.masters.values().forEach((master) -> this.factories.close(master.node()));
			this.masters.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

}
