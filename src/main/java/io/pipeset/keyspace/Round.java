package io.pipeset.keyspace;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

import io.pipeset.job.Task;
import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.SlotOwners;
import io.pipeset.record.Slots;
import io.pipeset.record.room.Room;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.lookup.Scan;

/**
 * One pass of an analysis over all masters, which are walked side by side. If one of them
 * was started anew or replaced, the pass is over: its totals mean nothing then, and
 * another one begins.
 */
final class Round {

	/** The masters that are walked at the same time, each by a thread. */
	private static final int SIDE_BY_SIDE = 16;

	private final Task task;

	private final AnalysisSettings settings;

	private final Totals totals;

	private final KeyPace pace;

	private final Duration closing;

	private final boolean repeated;

	private final List<MasterWalk> walks = new ArrayList<>();

	private final Scan scan;

	/** The slots that move, or have no master: some of their keys may be missing. */
	private final Set<Integer> movedSlots = ConcurrentHashMap.newKeySet();

	/**
	 * Held in common by walks side by side, and alone by one that may wait for memory.
	 */
	private final ReadWriteLock order = new ReentrantReadWriteLock(true);

	private volatile boolean oneByOne;

	private volatile boolean anew;

	/**
	 * A pass that has not begun.
	 * @param closing the longest that closing a connection may take
	 * @param repeated whether this is not the analysis's first pass
	 */
	Round(Task task, AnalysisSettings settings, Totals totals, KeyPace pace, Duration closing, boolean repeated,
			RedisNodes nodes, SlotOwners owners) {
		this.task = task;
		this.settings = settings;
		this.totals = totals;
		this.pace = pace;
		this.closing = closing;
		this.repeated = repeated;
		Map<RedisNode, BitSet> masters = new LinkedHashMap<>();
		for (int slot = 0; slot < Slots.COUNT; slot++) {
			RedisNode owner = owners.owner(slot);
			if (owner != null) {
				masters.computeIfAbsent(owner, (any) -> new BitSet()).set(slot);
			}
			else {
				this.movedSlots.add(slot);
			}
		}
		this.scan = settings.scan(masters.size());
		this.oneByOne = masters.size() == 1;
		masters.forEach((master, slots) -> this.walks.add(new MasterWalk(this, master,
				(nodes.isCluster()) ? new MasterSlots(nodes, master, slots, this.movedSlots) : null)));
	}

	/** Walks all masters, in the calling thread and others, until the pass is over. */
	void run(ExecutorService threads) {
		Queue<MasterWalk> waiting = new ConcurrentLinkedQueue<>(this.walks);
		List<CompletableFuture<Void>> others = Stream
			.generate(() -> CompletableFuture.runAsync(() -> walkEach(waiting), threads))
			.limit(Math.max(0, Math.min(this.walks.size(), SIDE_BY_SIDE) - 1))
			.toList();
		try {
			walkEach(waiting);
		}
		finally {
			CompletableFuture.allOf(others.toArray(CompletableFuture[]::new)).join();
		}
	}

	private void walkEach(Queue<MasterWalk> waiting) {
		try {
			for (MasterWalk next = waiting.poll(); next != null; next = waiting.poll()) {
				next.run();
			}
		}
		catch (RuntimeException | Error ex) {
			stop().because(Cause.INTERNAL_SERVER_ERROR, "By a defect of the service: " + ex);
			throw ex;
		}
	}

	/**
	 * Lets a walk begin: side by side with others, or as soon as no other walk runs.
	 * @return whether it runs alone
	 */
	boolean enter() {
		boolean alone = this.oneByOne;
		((alone) ? this.order.writeLock() : this.order.readLock()).lock();
		return alone;
	}

	/** A walk that has entered ends. */
	void leave(boolean alone) {
		((alone) ? this.order.writeLock() : this.order.readLock()).unlock();
	}

	/** Has masters walked one after the other from now on, as memory is scarce. */
	void goOneByOne() {
		this.oneByOne = true;
	}

	boolean isOneByOne() {
		return this.oneByOne;
	}

	/** Ends this pass, as the totals so far mean nothing. */
	void beginAnew() {
		this.anew = true;
	}

	/** Whether another pass has to begin. */
	boolean isAnew() {
		return this.anew;
	}

	/** Whether no walk goes on. */
	boolean isOver() {
		return this.anew || stop().isSet();
	}

	boolean isRepeated() {
		return this.repeated;
	}

	AnalysisConnections connections(RedisNode node) {
		return new AnalysisConnections(this.task, node, this.settings.timeout(), this.closing);
	}

	JobStop stop() {
		return this.task.stop();
	}

	Room room() {
		return this.task.memory();
	}

	AnalysisSettings settings() {
		return this.settings;
	}

	Totals totals() {
		return this.totals;
	}

	KeyPace pace() {
		return this.pace;
	}

	/** The pages to ask for. */
	Scan scan() {
		return this.scan;
	}

	/** The walks through the masters. */
	List<MasterWalk> walks() {
		return this.walks;
	}

	/** How many slots are perhaps not counted as a whole. */
	int partialSlots() {
		return this.movedSlots.size();
	}

}
