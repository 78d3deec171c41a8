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
 * One walk through the keys of all servers: a single server, or all masters of a cluster
 * at once. A key may move from a master that is not walked yet to one that is, and be
 * missed. So masters are asked for their slots before and behind the walk, and slots that
 * moved meanwhile are in doubt. An analysis says how many these are. A sweep
 * {@linkplain #next looks for their keys again}.
 */
public final class KeyWalk {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final RedisNodes nodes;

	private final JobStop stop;

	private final RetryPolicy patience;

	/** The slots whose keys are looked for. */
	private final BitSet slots = new BitSet();

	/** The slots of which keys may be missing, beside those that two looks tell. */
	private final BitSet inDoubt = new BitSet();

	/** The look before the servers under way; {@code null} at the start. */
	private @Nullable SlotViews<RedisNode> before;

	/**
	 * The servers to which slots are on their way, walked behind the servers under way.
	 */
	private List<ServerWalk> takers = List.of();

	/** How many slots are looked for again; {@code null} at the start. */
	private @Nullable Integer repeatedSlots;

	/**
	 * A walk that has not begun.
	 * @param patience for the looks at the slots
	 */
	public KeyWalk(RedisNodes nodes, JobStop stop, RetryPolicy patience) {
		this.nodes = nodes;
		this.stop = stop;
		this.patience = patience;
		this.slots.set(0, Slots.COUNT);
	}

	/**
	 * The servers whose keys are walked, once. Slots without a master are in doubt.
	 * @return the single server, or the masters that have slots; none if the job is
	 * stopped
	 */
	public List<ServerWalk> once() {
		SlotViews<RedisNode> views = look();
		if (views != null && !views.unserved(this.slots).isEmpty()) {
			// A slot may have moved between the looks at two masters, or to a new one.
			views = (this.stop.await(PAUSE_NANOS)) ? null : look();
		}
		if (views == null) {
			return List.of();
		}
		SlotViews<RedisNode> last = views;
		doubt(last.unserved(this.slots));
		return walks(last, (node) -> !last.of(node).isEmpty());
	}

	/**
	 * The servers to walk next, when those before are walked. First these are all
	 * servers, and then again and again those that may have keys of slots in doubt: first
	 * the masters that serve these slots, then those to which they are on their way. This
	 * may wait for Redis.
	 * @param timeout how long a slot may have no master, before the job is stopped
	 * @return none if no slot is in doubt, or if the job is stopped
	 */
	public List<ServerWalk> next(Duration timeout) {
		List<ServerWalk> next = this.takers;
		this.takers = List.of();
		if (!next.isEmpty() || (this.before != null && this.before.areOfSingleServer())) {
			return next;
		}
		SlotViews<RedisNode> views = lookUntilServed(timeout);
		if (views == null || this.slots.isEmpty()) {
			return List.of();
		}
		if (this.repeatedSlots == null) {
			return walks(views, (node) -> true);
		}
		next = walks(views, (node) -> views.of(node).served().intersects(this.slots));
		this.takers = walks(views, (node) -> views.of(node).takenOver().intersects(this.slots));
		return next;
	}

	/** Looks until all slots have a master whose keys are looked for next. */
	private @Nullable SlotViews<RedisNode> lookUntilServed(Duration timeout) {
		long begun = System.nanoTime();
		SlotViews<RedisNode> views = look();
		if (views != null && this.before != null) {
			narrow(this.before, views);
		}
		while (views != null && !views.unserved(this.slots).isEmpty()) {
			if (System.nanoTime() - begun > timeout.toNanos()) {
				this.stop.because(Cause.REDIS_REFUSES, "Slot " + views.unserved(this.slots).nextSetBit(0)
						+ " of the cluster has had no master for longer than the job's timeout, so that keys"
						+ " were not found. Send the job again when CLUSTER INFO says that all slots are" + " served.");
			}
			views = (this.stop.await(PAUSE_NANOS)) ? null : look();
		}
		this.before = views;
		return views;
	}

	/** Looks no further for keys of slots that are not in doubt. */
	private void narrow(SlotViews<RedisNode> before, SlotViews<RedisNode> now) {
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

	/** Asks each master for its slots, and each node that slots are on their way to. */
	private @Nullable SlotViews<RedisNode> look() {
		SlotViews<RedisNode> views = null;
		while (views == null && !this.patience.isOver()) {
			views = ask();
		}
		return views;
	}

	/** Asks them once; {@code null} if one of them was replaced meanwhile. */
	private @Nullable SlotViews<RedisNode> ask() {
		this.nodes.refresh();
		List<RedisNode> masters = this.patience.ask("CLUSTER NODES", this.nodes::masters, () -> false);
		if (masters == null) {
			return null;
		}
		Map<RedisNode, SlotsAtNode> views = new LinkedHashMap<>();
		List<RedisNode> toAsk = new ArrayList<>(masters);
		for (int i = 0; i < toAsk.size(); i++) {
			RedisNode node = toAsk.get(i);
			boolean isMaster = i < masters.size();
			SlotsAtNode view = slots(node, this.patience, () -> isMaster && this.nodes.isReplaced(node));
			if (view == null) {
				return null;
			}
			views.put(node, view);
			view.takers().forEach((address) -> {
				RedisNode taker = this.nodes.find(address);
				if (taker != null && !toAsk.contains(taker)) {
					toAsk.add(taker);
				}
			});
		}
		return new SlotViews<>(views);
	}

	/** Asks a server for its slots; {@code null} if it is not waited for any longer. */
	@Nullable SlotsAtNode slots(RedisNode node, RetryPolicy patience, BooleanSupplier isNeedless) {
		return patience.ask("CLUSTER NODES at " + node.name(), () -> this.nodes.slotsAt(node), isNeedless);
	}

	private List<ServerWalk> walks(SlotViews<RedisNode> views, Predicate<RedisNode> those) {
		BitSet left = (BitSet) this.slots.clone();
		return views.nodes().stream().filter(those).map((node) -> {
			BitSet counted = views.of(node).served();
			// A slot that moves between the looks at two masters may be served by both.
			counted.and(left);
			left.andNot(counted);
			return new ServerWalk(this, node, views.of(node), (views.of(node).areOfSingleServer()) ? null : counted);
		}).toList();
	}

	/** Whether a key's slot is one of those whose keys are looked for now. */
	public boolean isWanted(byte[] key) {
		return this.repeatedSlots == null || this.slots.get(Slots.of(key, 0, key.length));
	}

	/** The server that has the keys of a single one now. */
	RedisNode master(RedisNode single) {
		try {
			return this.nodes.owners().ownerOrAny(Slots.NONE);
		}
		catch (NoConnectionException ex) {
			return single;
		}
	}

	/** Whether the cluster names other servers as the masters of all slots. */
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

	/** How many slots have been found to be in doubt. */
	public int slotsInDoubt() {
		synchronized (this.inDoubt) {
			return this.inDoubt.cardinality();
		}
	}

	/**
	 * How many slots are looked for again, for the first time.
	 * @return {@code null} before that, and for a single server
	 */
	public @Nullable Integer repeatedSlots() {
		return this.repeatedSlots;
	}

}
