package io.pipeset.engine.scan;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotsAtNode;
import io.pipeset.record.Slots;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * A scan of the keys of all servers: a single server, or all masters of a cluster at
 * once. A key may move from a master that is not scanned yet to one that is, and be
 * missed. So the masters are asked for their slots before and after the scan. Slots that
 * moved meanwhile are in doubt. An analysis reports their number. A sweep
 * {@linkplain #next scans them again}.
 */
public final class KeyScan {

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final RedisNodes nodes;

	private final JobStop stop;

	private final RetryPolicy retryPolicy;

	/** The slots that are scanned now. */
	private final BitSet slots = new BitSet();

	/**
	 * Slots whose keys may be missing, in addition to those that differ between two
	 * snapshots.
	 */
	private final BitSet inDoubt = new BitSet();

	/** The slots before the current pass; {@code null} at the start. */
	private @Nullable SlotSnapshots<RedisNode> previous;

	/** The servers that import slots, scanned after the current ones. */
	private List<ServerScan> importers = List.of();

	/** How many slots are scanned again; {@code null} at the start. */
	private @Nullable Integer repeatedSlots;

	/**
	 * Creates a scan, which has not begun.
	 * @param retryPolicy for the calls that ask servers for their slots
	 */
	public KeyScan(RedisNodes nodes, JobStop stop, RetryPolicy retryPolicy) {
		this.nodes = nodes;
		this.stop = stop;
		this.retryPolicy = retryPolicy;
		this.slots.set(0, Slots.COUNT);
	}

	/**
	 * Returns the servers for a single pass. Slots without a master are in doubt.
	 * @return the single server, or the masters that have slots; none if the job is
	 * stopped
	 */
	public List<ServerScan> once() {
		SlotSnapshots<RedisNode> snapshots = takeSnapshot();
		if (snapshots != null && !snapshots.unserved(this.slots).isEmpty()) {
			// A slot may have moved between two queries, or to a new master.
			snapshots = (this.stop.await(POLL_NANOS)) ? null : takeSnapshot();
		}
		if (snapshots == null) {
			return List.of();
		}
		SlotSnapshots<RedisNode> last = snapshots;
		doubt(last.unserved(this.slots));
		return createScans(last, (node) -> !last.of(node).isEmpty());
	}

	/**
	 * Returns the servers to scan next, when the previous ones are finished. The first
	 * call returns all servers. Each later call returns servers that may have keys of
	 * slots in doubt: first the masters that serve these slots, then the nodes that
	 * import them. This may wait for Redis.
	 * @param timeout how long a slot may have no master, before the job is stopped
	 * @return none if no slot is in doubt, or if the job is stopped
	 */
	public List<ServerScan> next(Duration timeout) {
		List<ServerScan> next = this.importers;
		this.importers = List.of();
		if (!next.isEmpty() || (this.previous != null && this.previous.isSingleServer())) {
			return next;
		}
		SlotSnapshots<RedisNode> snapshots = awaitServed(timeout);
		if (snapshots == null || this.slots.isEmpty()) {
			return List.of();
		}
		if (this.repeatedSlots == null) {
			return createScans(snapshots, (node) -> true);
		}
		next = createScans(snapshots, (node) -> snapshots.of(node).served().intersects(this.slots));
		this.importers = createScans(snapshots, (node) -> snapshots.of(node).importing().intersects(this.slots));
		return next;
	}

	/** Takes snapshots until every slot to scan has a master. */
	private @Nullable SlotSnapshots<RedisNode> awaitServed(Duration timeout) {
		long begunNanos = System.nanoTime();
		SlotSnapshots<RedisNode> snapshots = takeSnapshot();
		if (snapshots != null && this.previous != null) {
			narrowSlots(this.previous, snapshots);
		}
		while (snapshots != null && !snapshots.unserved(this.slots).isEmpty()) {
			if (System.nanoTime() - begunNanos > timeout.toNanos()) {
				this.stop.stop(Cause.REDIS_REFUSES,
						"Slot " + snapshots.unserved(this.slots).nextSetBit(0)
								+ " of the cluster has had no master for longer than the job's timeout, so its keys"
								+ " could not be found. Send the job again when CLUSTER INFO says that all slots are"
								+ " served.");
			}
			snapshots = (this.stop.await(POLL_NANOS)) ? null : takeSnapshot();
		}
		this.previous = snapshots;
		return snapshots;
	}

	/** Keeps only the slots in doubt for the next pass. */
	private void narrowSlots(SlotSnapshots<RedisNode> before, SlotSnapshots<RedisNode> now) {
		BitSet doubtful = before.doubtful(now, this.repeatedSlots != null);
		synchronized (this.inDoubt) {
			doubtful.or(this.inDoubt);
			this.inDoubt.clear();
		}
		this.slots.and(doubtful);
		if (this.repeatedSlots == null) {
			this.repeatedSlots = this.slots.cardinality();
		}
	}

	/** Asks each master for its slots, and each node that imports slots. */
	private @Nullable SlotSnapshots<RedisNode> takeSnapshot() {
		SlotSnapshots<RedisNode> snapshots = null;
		while (snapshots == null && !this.retryPolicy.isOver()) {
			snapshots = tryTakeSnapshot();
		}
		return snapshots;
	}

	/** Makes one attempt; {@code null} if one of the masters was replaced meanwhile. */
	private @Nullable SlotSnapshots<RedisNode> tryTakeSnapshot() {
		this.nodes.refresh();
		List<RedisNode> masters = this.retryPolicy.ask("CLUSTER NODES", this.nodes::masters, () -> false);
		if (masters == null) {
			return null;
		}
		Map<RedisNode, SlotsAtNode> snapshots = new LinkedHashMap<>();
		List<RedisNode> toQuery = new ArrayList<>(masters);
		for (int i = 0; i < toQuery.size(); i++) {
			RedisNode node = toQuery.get(i);
			boolean isMaster = i < masters.size();
			SlotsAtNode slotsAtNode = slots(node, this.retryPolicy, () -> isMaster && this.nodes.isReplaced(node));
			if (slotsAtNode == null) {
				return null;
			}
			snapshots.put(node, slotsAtNode);
			slotsAtNode.importers().forEach((address) -> {
				RedisNode importer = this.nodes.find(address);
				if (importer != null && !toQuery.contains(importer)) {
					toQuery.add(importer);
				}
			});
		}
		return new SlotSnapshots<>(snapshots);
	}

	/**
	 * Asks a server for its slots; {@code null} if the retry policy has given up, or no
	 * answer is needed.
	 */
	@Nullable SlotsAtNode slots(RedisNode node, RetryPolicy retryPolicy, BooleanSupplier isNeedless) {
		return retryPolicy.ask("CLUSTER NODES at " + node.name(), () -> this.nodes.slotsAt(node), isNeedless);
	}

	private List<ServerScan> createScans(SlotSnapshots<RedisNode> snapshots, Predicate<RedisNode> those) {
		BitSet left = (BitSet) this.slots.clone();
		return snapshots.nodes().stream().filter(those).map((node) -> {
			BitSet counted = snapshots.of(node).served();
			// A slot that moves between the queries of two masters may be served by both.
			counted.and(left);
			left.andNot(counted);
			return new ServerScan(this, node, snapshots.of(node),
					(snapshots.of(node).isSingleServer()) ? null : counted);
		}).toList();
	}

	/** Whether a key's slot is scanned in this pass. */
	public boolean isWanted(byte[] key) {
		return this.repeatedSlots == null || this.slots.get(Slots.of(key, 0, key.length));
	}

	/** The current master of a service with a single server. */
	RedisNode master(RedisNode single) {
		try {
			return this.nodes.owners().ownerOrAny(Slots.NONE);
		}
		catch (NoConnectionException ex) {
			return single;
		}
	}

	/** Whether the cluster names other servers as masters of all slots. */
	boolean isReplaced(RedisNode node) {
		return this.nodes.isReplaced(node);
	}

	void doubt(int slot) {
		synchronized (this.inDoubt) {
			this.inDoubt.set(slot);
		}
	}

	void doubt(BitSet slots) {
		synchronized (this.inDoubt) {
			this.inDoubt.or(slots);
		}
	}

	/** How many slots have been in doubt so far. */
	public int slotsInDoubt() {
		synchronized (this.inDoubt) {
			return this.inDoubt.cardinality();
		}
	}

	/**
	 * How many slots are scanned in the first repeated pass.
	 * @return {@code null} before that pass, and for a single server
	 */
	public @Nullable Integer repeatedSlots() {
		return this.repeatedSlots;
	}

}
