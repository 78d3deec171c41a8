package io.pipeset.engine.lane;

import io.pipeset.engine.slab.LaneMark;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryLimitException;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a lane. It puts records into slabs, and adds full slabs to the
 * lane's queue. Before the reading thread waits for input, it lends the lane the partly
 * filled slab. So no record waits for later input.
 */
final class SlabFiller {

	private final Lane lane;

	private final LaneQueue queue;

	private final Window window;

	private final LaneContext context;

	/** Whether each slab is a transaction. */
	private final boolean atomic;

	/** Whether a transaction is not lent before it is complete. */
	private final boolean whole;

	/** Ends each transaction; {@code null} for none. */
	private final @Nullable JobMark mark;

	private final int number;

	/**
	 * Whether a transaction consists of adjacent records of the input, so it is not cut
	 * short when memory is scarce.
	 */
	private final boolean contiguous;

	private final int batchSize;

	private final int commandsPerWrite;

	private @Nullable Slab filling;

	private int commandsInBatch;

	/** The slot of the last record; a transaction has one slot only. */
	private int slot;

	/** Not used with transactions, which run as a whole or not at all. */
	private final InFlightKeys keys = new InFlightKeys();

	SlabFiller(Lane lane, int number, LaneQueue queue, Window window, LaneContext context) {
		this.lane = lane;
		this.queue = queue;
		this.window = window;
		this.context = context;
		this.number = number;
		this.mark = context.mark();
		this.atomic = context.settings().atomic();
		this.whole = this.atomic && this.mark == null;
		this.contiguous = this.whole && context.settings().concurrency() == 1 && !context.isCluster();
		this.batchSize = context.settings().batchSize();
		this.commandsPerWrite = context.settings().commandsPerWrite();
	}

	/**
	 * Adds a record of a slot, like {@link #add(Record)}. A transaction ends when the
	 * slot changes, because Redis runs no transaction across slots. A record waits for an
	 * earlier multi-key record that shares a key with it.
	 * @throws MemoryLimitException if the job cannot get memory; the record was not added
	 */
	void add(Record record, int slot) {
		boolean waits = !this.atomic && this.keys.track(record) && !this.lane.areSlotsStable();
		if ((waits || (this.atomic && slot != this.slot)) && this.filling != null && this.filling.count() > 0) {
			enqueueAndRun(this.filling);
		}
		if (waits) {
			slabToFill().setWaits();
		}
		this.slot = slot;
		add(record);
	}

	/**
	 * Adds a record. Blocks while the lane's window is full, or the job has no memory for
	 * the record.
	 * @throws MemoryLimitException if the job cannot get memory; the record was not added
	 */
	void add(Record record) {
		Slab slab = slabToFill();
		if (!slab.add(record)) {
			if (slab.count() > 0 && !(this.contiguous && slab.isOpenFor(record))) {
				enqueueAndRun(slab);
				slab = slabToFill();
			}
			if (!slab.add(record)) {
				reserve(slab, record);
				if (!slab.add(record)) {
					throw new IllegalStateException(
							"A record does not fit into a slab that has reserved memory for it");
				}
			}
		}
		if (this.mark != null) {
			this.mark.lane(this.number).add(record);
		}
		if (slab.count() == 1 && !this.contiguous) {
			this.context.memory().slabTaken();
		}
		if (slab.count() == Math.min(this.commandsPerWrite, this.batchSize - this.commandsInBatch)) {
			enqueueAndRun(slab);
		}
	}

	/**
	 * Adds the partly filled slab to the queue, unless its transaction must not be cut
	 * short.
	 * @return whether the caller has to start a thread for the lane
	 */
	boolean finishPartial() {
		return !this.contiguous && finish();
	}

	/**
	 * Adds the partly filled slab to the queue.
	 * @return whether the caller has to start a thread for the lane
	 */
	boolean finish() {
		Slab slab = this.filling;
		return slab != null && enqueue(slab);
	}

	/** Releases the memory of the free slabs. */
	void releaseFree() {
		this.window.releaseFree();
	}

	/** Takes the records that the lane does not have yet out of the job, unsent. */
	void discard() {
		Slab slab = this.filling;
		if (slab != null) {
			this.filling = null;
			if (this.contiguous || slab.count() == 0) {
				this.context.memory().slabTaken();
			}
			slab.settle(this.context.account(), null);
			this.window.recycle(slab);
		}
	}

	/**
	 * Lends the lane the partly filled slab before the reading thread waits for input. A
	 * transaction is not lent, because it must not be cut short.
	 */
	void lend() {
		Slab slab = this.filling;
		if (slab != null && !this.whole && lend(slab)) {
			this.lane.start();
		}
	}

	private boolean lend(Slab slab) {
		mark(slab);
		return this.queue.lend(slab);
	}

	/** Ends a transaction with the mark of the records so far. */
	private void mark(Slab slab) {
		if (this.mark != null && slab.count() > 0) {
			LaneMark lane = this.mark.lane(this.number);
			slab.setMark(lane, LaneMark.value(slab.lastIndex(), lane.digest()));
		}
	}

	/** Takes the lent slab back, unless the lane has taken it. */
	void reclaim() {
		if (this.filling != null && !this.whole && !this.queue.reclaim()) {
			this.commandsInBatch = 0;
			this.filling = null;
		}
	}

	/** Waits for the memory of a record, while other lanes may send their slabs. */
	private void reserve(Slab slab, Record record) {
		this.filling = null;
		boolean reserved = false;
		try {
			slab.ensureCapacity(record);
			reserved = true;
		}
		finally {
			if (reserved || slab.count() > 0) {
				this.filling = slab;
			}
			else {
				slab.release();
			}
		}
	}

	private Slab slabToFill() {
		Slab slab = this.filling;
		if (slab == null) {
			slab = this.window.take(this.context.account().wantsReplies(), this.atomic);
			if (this.mark != null) {
				slab.setMark(this.mark.lane(this.number), LaneMark.NONE);
			}
			if (this.context.verification() != null) {
				slab.verify(this.context.verification());
			}
			this.filling = slab;
		}
		return slab;
	}

	private void enqueueAndRun(Slab slab) {
		if (enqueue(slab)) {
			this.lane.start();
		}
	}

	private boolean enqueue(Slab slab) {
		this.filling = null;
		mark(slab);
		if (this.contiguous) {
			// Before this point the slab could not return its memory.
			this.context.memory().slabTaken();
		}
		this.commandsInBatch = (this.atomic) ? 0 : (this.commandsInBatch + slab.count()) % this.batchSize;
		this.window.add(slab);
		return this.queue.addFilled(slab);
	}

	/** How long the reading thread has waited for the window, in ns. */
	long blockedNanos() {
		return this.window.blockedNanos();
	}

}
