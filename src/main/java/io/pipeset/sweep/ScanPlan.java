package io.pipeset.sweep;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

import io.pipeset.lane.LaneContext;
import io.pipeset.lane.SlotsAtNode;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.record.Slots;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The servers that a sweep scans, and their order: a single server once, and all masters
 * of a cluster at once. A key may move from a master that is not scanned yet to one that
 * is, and be missed. So the masters are asked for their slots before and behind the
 * scans. If slots moved meanwhile, their keys are looked for again: first at the masters
 * that serve these slots, then at those to which they are on their way. This goes on
 * until no slot has moved unseen.
 */
final class ScanPlan {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final Sweep sweep;

	private final LaneContext job;

	private final RedisNodes nodes;

	private final BooleanSupplier closed;

	private final PatientCalls calls;

	/** The slots whose keys are looked for. */
	private BitSet slots = new BitSet();

	/** The slots of servers that were replaced before they were scanned to the end. */
	private final BitSet cut = new BitSet();

	/** The look at the cluster before the scans under way; {@code null} at the start. */
	private @Nullable SlotViews<RedisNode> before;

	private boolean begun;

	/** Whether keys are looked for again. */
	private boolean again;

	ScanPlan(Sweep sweep, LaneContext job, BooleanSupplier closed) {
		this.sweep = sweep;
		this.job = job;
		this.nodes = job.nodes();
		this.closed = closed;
		this.calls = new PatientCalls(job, closed);
		this.slots.set(0, Slots.COUNT);
	}

	/** Whether a key's slot is one of those whose keys are looked for now. */
	boolean isWanted(byte[] key) {
		return !this.again || this.slots.get(Slots.of(key, 0, key.length));
	}

	/** A server was replaced before it was scanned to the end. */
	void cut(RedisNode node) {
		SlotViews<RedisNode> views = this.before;
		if (views != null) {
			this.cut.or(views.of(node).served());
			this.cut.or(views.of(node).takenOver());
		}
	}

	/**
	 * Plans the next scans, when those before have ended. This may wait for Redis.
	 * @return groups of scans, one group behind the other; none if all keys are found.
	 * Empty if the job is stopped
	 */
	Optional<Deque<List<NodeScan>>> next() {
		Deque<List<NodeScan>> groups = new ArrayDeque<>();
		if (this.nodes.isCluster()) {
			return look().map((views) -> {
				plan(views, groups);
				return groups;
			});
		}
		if (!this.begun) {
			this.begun = true;
			groups.add(List.of(scan(this.nodes.single(), () -> false)));
		}
		return Optional.of(groups);
	}

	private void plan(SlotViews<RedisNode> views, Deque<List<NodeScan>> groups) {
		if (this.slots.isEmpty()) {
			return;
		}
		if (this.again) {
			addGroup(views, groups, SlotsAtNode::served);
			addGroup(views, groups, SlotsAtNode::takenOver);
		}
		else {
			groups.add(scans(views, (node) -> true));
		}
	}

	private void addGroup(SlotViews<RedisNode> views, Deque<List<NodeScan>> groups, Function<SlotsAtNode, BitSet> at) {
		List<NodeScan> scans = scans(views, (node) -> at.apply(views.of(node)).intersects(this.slots));
		if (!scans.isEmpty()) {
			groups.add(scans);
		}
	}

	private List<NodeScan> scans(SlotViews<RedisNode> views, Predicate<RedisNode> those) {
		return views.nodes().stream().filter(those).map((node) -> {
			// A node that takes slots over may have keys before it serves any slot.
			boolean isKept = views.of(node).isEmpty();
			return scan(node, () -> !isKept && isReplaced(node));
		}).toList();
	}

	private NodeScan scan(RedisNode node, BooleanSupplier isReplaced) {
		return new NodeScan(node, this.sweep.filter(), new PatientCalls(this.job, this.closed), isReplaced);
	}

	private boolean isReplaced(RedisNode node) {
		this.nodes.refresh();
		try {
			return !this.nodes.owners().isMaster(node);
		}
		catch (NoConnectionException ex) {
			return false;
		}
	}

	/**
	 * Looks at the cluster until all slots have a master whose keys are looked for next.
	 * @return the look; empty if the job is stopped
	 */
	private Optional<SlotViews<RedisNode>> look() {
		long begun = System.nanoTime();
		Optional<SlotViews<RedisNode>> looked = ask();
		looked.ifPresent(this::doubt);
		while (looked.isPresent() && looked.get().firstUnserved(this.slots) >= 0) {
			if (System.nanoTime() - begun > this.job.settings().timeout().toNanos()) {
				this.job.stop()
					.because(Cause.REDIS_REFUSES, "Slot " + looked.get().firstUnserved(this.slots)
							+ " of the cluster has had no master for longer than the job's timeout, so that keys"
							+ " were not found. Send the job again when CLUSTER INFO says that all slots are"
							+ " served.");
			}
			looked = (this.job.stop().await(PAUSE_NANOS)) ? Optional.empty() : ask();
		}
		this.before = looked.orElse(null);
		return looked;
	}

	/** Finds out which slots have moved during the scans. */
	private void doubt(SlotViews<RedisNode> now) {
		SlotViews<RedisNode> before = this.before;
		if (before != null) {
			BitSet doubtful = before.doubtful(now, this.again);
			doubtful.or(this.cut);
			this.cut.clear();
			this.slots.and(doubtful);
			if (!this.again) {
				this.sweep.repeats(this.slots.cardinality());
			}
			this.again = true;
		}
	}

	/** Asks each master for its slots, and each node that slots are on their way to. */
	private Optional<SlotViews<RedisNode>> ask() {
		this.nodes.refresh();
		Optional<List<RedisNode>> masters = this.calls.make("CLUSTER NODES", this.nodes::masters, () -> false);
		if (masters.isEmpty()) {
			return Optional.empty();
		}
		Map<RedisNode, SlotsAtNode> views = new LinkedHashMap<>();
		List<RedisNode> toAsk = new ArrayList<>(masters.get());
		int masterCount = toAsk.size();
		for (int i = 0; i < toAsk.size(); i++) {
			RedisNode node = toAsk.get(i);
			boolean isMaster = i < masterCount;
			Optional<SlotsAtNode> view = this.calls.make("CLUSTER NODES",
					() -> SlotsAtNode.of(node.calls().clusterNodes()), () -> isMaster && isReplaced(node));
			view.ifPresent((slots) -> views.put(node, slots));
			view.stream().flatMap((slots) -> slots.takers().stream()).forEach((address) -> {
				RedisNode taker = this.nodes.find(address);
				if (taker != null && !toAsk.contains(taker)) {
					toAsk.add(taker);
				}
			});
		}
		return (this.job.stop().isSet()) ? Optional.empty() : Optional.of(new SlotViews<>(views));
	}

}
