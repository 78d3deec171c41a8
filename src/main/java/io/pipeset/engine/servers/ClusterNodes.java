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
 * The masters of a cluster. Lettuce's cluster client tells which there are; each gets a
 * factory of its own, whose connections are ordinary ones to one server. The cluster is
 * asked when it is needed: at first, and when a lane has met a redirection or a loss.
 */
public final class ClusterNodes implements RedisNodes {

	private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

	/** The shortest time between two questions to the cluster. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** How long a caller waits for an answer that it can do without. */
	private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	/** How long a MOVED outranks a node that may not have heard of it yet. */
	private static final long MOVED_NANOS = TimeUnit.SECONDS.toNanos(2);

	private final LettuceConnectionFactory cluster;

	private final NodeFactories factories;

	private final String seeds;

	/** Guards all that the cluster has answered, and never held while it is asked. */
	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * The question that was put last, which may take as long as the slowest of all nodes:
	 * Lettuce asks replicas as well.
	 */
	private CompletableFuture<Void> question = CompletableFuture.completedFuture(null);

	/** By the id of a node, which it has for life, and its address of the moment. */
	private final Map<String, Master> masters = new HashMap<>();

	private final Map<Integer, Long> movedAt = new HashMap<>();

	/** When that question was put. */
	private volatile long askedAt = System.nanoTime();

	/** When it was answered. */
	private volatile long answeredAt = System.nanoTime() - PAUSE_NANOS;

	private volatile Throwable failure = new RedisException("none of its nodes has answered yet");

	private volatile @Nullable Topology owners;

	/** The masters of the replicas that were named last, by their ids. */
	private Map<String, String> replicated = Map.of();

	/** How often a replica has taken over, as far as the cluster was asked. */
	private final AtomicInteger failovers = new AtomicInteger();

	/** The same as the cluster itself named them, without what a MOVED said since. */
	private @Nullable RedisNode[] named = new RedisNode[Slots.COUNT];

	/** When the cluster was asked for these. */
	private long namedAt;

	/**
	 * The masters of a cluster, none of which is asked before it is needed.
	 * @param cluster a factory for the cluster, of which only the client is used. Whoever
	 * made it destroys it, after these nodes are closed
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
		// The cluster long goes on naming a master that was replaced, without any slot.
		Topology known = owners();
		return named().stream().filter(known::isMaster).toList();
	}

	@Override
	public List<RedisNode> named() {
		this.lock.lock();
		try {
			return this.masters.values().stream().filter(Master::isNamed).map(Master::node).toList();
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
		await(ask(), Long.MAX_VALUE);
	}

	@Override
	public void refreshSoon() {
		CompletableFuture<Void> question = ask();
		await(question, this.askedAt + SOON_NANOS - System.nanoTime());
	}

	/** Has the cluster asked, unless it is being asked or was a moment ago. */
	private CompletableFuture<Void> ask() {
		this.lock.lock();
		try {
			if (this.question.isDone() && System.nanoTime() - this.answeredAt >= PAUSE_NANOS) {
				this.askedAt = System.nanoTime();
				this.question = CompletableFuture.runAsync(this::answer, (task) -> {
					Thread thread = new Thread(task, "cluster-nodes");
					thread.setDaemon(true);
					thread.start();
				});
			}
			return this.question;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static void await(CompletableFuture<Void> question, long nanos) {
		try {
			question.get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (TimeoutException | ExecutionException ex) {
			// The answer counts when it comes.
		}
	}

	private void answer() {
		int attempts = 0;
		while (!tryToTake() && NoConnectionException.isUnheard(this.failure)
				&& ++attempts < NoConnectionException.MOST_UNHEARD) {
			// The next attempt is likely to tell the reason.
		}
		this.answeredAt = System.nanoTime();
	}

	private boolean tryToTake() {
		try {
			RedisClusterClient client = (RedisClusterClient) this.cluster.getRequiredNativeClient();
			if (this.owners != null) {
				client.refreshPartitions();
			}
			take(client.getPartitions());
			return true;
		}
		catch (RuntimeException ex) {
			this.failure = why(ex);
			logger.debug("The cluster's nodes could not be asked for their slots", ex);
			return false;
		}
	}

	/** The failure of the first of the nodes, which Lettuce leaves to its log. */
	private static Throwable why(RuntimeException failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			for (Throwable first : cause.getSuppressed()) {
				return NestedExceptionUtils.getMostSpecificCause(first);
			}
		}
		return NestedExceptionUtils.getMostSpecificCause(failure);
	}

	private void take(Partitions partitions) {
		this.lock.lock();
		try {
			enter(partitions);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void enter(Partitions partitions) {
		long asked = this.askedAt;
		this.masters.values().forEach(Master::forget);
		@Nullable RedisNode[] named = new RedisNode[Slots.COUNT];
		for (RedisClusterNode node : partitions) {
			if (node.getRole().isUpstream() && node.getUri().getPort() > 0) {
				RedisNode master = master(node);
				node.getSlots().forEach((slot) -> named[slot] = master);
			}
		}
		countFailovers(partitions);
		this.named = named;
		this.namedAt = asked;
		Topology before = this.owners;
		this.movedAt.values().removeIf((since) -> asked - since > MOVED_NANOS);
		Topology after = Topology
			.of((slot) -> (before != null && this.movedAt.containsKey(slot)) ? before.owner(slot) : named[slot]);
		if (before == null || !after.isSameAs(before)) {
			this.owners = after;
		}
		retire(after);
	}

	/** Slots that move get another master too, but no replica of their own. */
	private void countFailovers(Partitions partitions) {
		for (RedisClusterNode node : partitions) {
			String former = this.replicated.get(node.getNodeId());
			if (former != null && node.getSlots().stream().anyMatch((slot) -> isNamed(former, slot))) {
				this.failovers.incrementAndGet();
			}
		}
		this.replicated = partitions.stream()
			.filter((node) -> node.getSlaveOf() != null)
			.collect(Collectors.toMap(RedisClusterNode::getNodeId, RedisClusterNode::getSlaveOf));
	}

	private boolean isNamed(String id, int slot) {
		RedisNode owner = this.named[slot];
		return owner != null && id.equals(id(owner));
	}

	private RedisNode master(RedisClusterNode node) {
		String address = node.getUri().getHost() + ":" + node.getUri().getPort();
		Master known = this.masters.computeIfAbsent(node.getNodeId() + " at " + address,
				(key) -> new Master(node.getNodeId(),
						this.factories.open(node.getUri().getHost(), node.getUri().getPort())));
		known.name();
		return known.node();
	}

	/** Closes the nodes that the cluster has not named for long, and nobody uses. */
	private void retire(Topology owners) {
		List<Master> gone = new ArrayList<>();
		this.masters.values().removeIf((master) -> {
			boolean ends = master.isLongGone() && !owners.isMaster(master.node());
			if (ends) {
				gone.add(master);
			}
			return ends;
		});
		gone.forEach((master) -> this.factories.close(master.node()));
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
	public void moved(int slot, RedisNode master) {
		this.lock.lock();
		try {
			Topology known = this.owners;
			if (known != null) {
				this.movedAt.put(slot, System.nanoTime());
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
			// The same server may have got another address.
			return id != null && this.namedAt - sinceNanos >= 0
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
			.map(Master::id)
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
