package io.pipeset.engine.lane;

import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryLimitException;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a lane: puts records into slabs and brings them to the lane when
 * they are full. Before the reading thread waits for input it lends the lane the slab
 * that it has begun, so that records do not wait for others that may never come.
 */
final class SlabFiller {

	private final Lane lane;

	private final LaneQueue queue;

	private final Window window;

	private final LaneContext context;

	/** Whether a slab is a transaction, and so is not lent before it is whole. */
	private final boolean atomic;

	/**
	 * Whether a transaction has the records that stand together in the input, and so is
	 * not cut short where memory is scarce.
	 */
	private final boolean whole;

	private final int batchSize;

	private final int commandsPerWrite;

	private @Nullable Slab filling;

	private int commandsInBatch;

	/** The slot of the records in a transaction. */
	private int slot;

	/** Only of records that are no transaction, which runs as a whole or not at all. */
	private final InFlightKeys keys = new InFlightKeys();

	SlabFiller(Lane lane, LaneQueue queue, Window window, LaneContext context) {
		this.lane = lane;
		this.queue = queue;
		this.window = window;
		this.context = context;
		this.atomic = context.settings().atomic();
		this.whole = this.atomic && context.settings().concurrency() == 1 && !context.areSlotsFollowed();
		this.batchSize = context.settings().batchSize();
		this.commandsPerWrite = context.settings().commandsPerWrite();
	}

	/**
	 * Adds a record of a slot, as {@link #add(Record)} does. A transaction ends where the
	 * slot changes, as Redis runs none of several slots. A record waits for an earlier
	 * one with several keys that has one of its keys.
	 * @throws MemoryLimitException if there will be no memory; the record was not added
	 */
	void add(Record record, int slot) {
		boolean waits = !this.atomic && this.keys.hold(record) && !this.lane.isStill();
		if ((waits || (this.atomic && slot != this.slot)) && this.filling != null && this.filling.count() > 0) {
			bring(this.filling);
		}
		if (waits) {
			filling().setWaits();
		}
		this.slot = slot;
		add(record);
	}

	/**
	 * Adds a record. Blocks while the lane has as many commands on their way as it may,
	 * or the job has no memory for the record.
	 * @throws MemoryLimitException if there will be none; the record was not added
	 */
	void add(Record record) {
		Slab slab = filling();
		if (!slab.add(record)) {
			if (slab.count() > 0 && !(this.whole && slab.isOpenFor(record))) {
				bring(slab);
				slab = filling();
			}
			if (!slab.add(record)) {
				makeRoom(slab, record);
				if (!slab.add(record)) {
					throw new IllegalStateException("A record has no room in a slab that has made room for it");
				}
			}
		}
		if (slab.count() == 1 && !this.whole) {
			this.context.memory().slabTaken();
		}
		if (slab.count() == Math.min(this.commandsPerWrite, this.batchSize - this.commandsInBatch)) {
			bring(slab);
		}
	}

	/**
	 * Brings the lane the slab that has been begun, unless it has to be whole.
	 * @return whether the lane needs a thread for it
	 */
	boolean sendBegun() {
		return !this.whole && finish();
	}

	/**
	 * Brings the lane the slab that has been begun.
	 * @return whether the lane needs a thread for it
	 */
	boolean finish() {
		Slab slab = this.filling;
		return slab != null && hand(slab);
	}

	/** Gives up the slabs that are kept for later. */
	void giveUpFree() {
		this.window.giveUpFree();
	}

	/** Takes the records out of the job, unsent, that the lane does not have yet. */
	void discard() {
		Slab slab = this.filling;
		if (slab != null) {
			this.filling = null;
			if (this.whole || slab.count() == 0) {
				this.context.memory().slabTaken();
			}
			slab.settle(this.context.account(), null);
			this.window.free(slab);
		}
	}

	/**
	 * The reading thread is about to wait for input. A transaction is not lent, as it
	 * must not be cut short.
	 */
	void lend() {
		Slab slab = this.filling;
		if (slab != null && !this.atomic && this.queue.lend(slab)) {
			this.lane.start();
		}
	}

	/** The reading thread goes on. */
	void reclaim() {
		if (this.filling != null && !this.atomic && !this.queue.reclaim()) {
			this.commandsInBatch = 0;
			this.filling = null;
		}
	}

	/**
	 * Waits for the memory of a record, while other lanes may send theirs.
	 */
	private void makeRoom(Slab slab, Record record) {
		this.filling = null;
		boolean made = false;
		try {
			slab.makeRoom(record);
			made = true;
		}
		finally {
			if (made || slab.count() > 0) {
				this.filling = slab;
			}
			else {
				slab.release();
			}
		}
	}

	private Slab filling() {
		Slab slab = this.filling;
		if (slab == null) {
			slab = this.window.take(this.context.account().wantsReplies(), this.atomic);
			this.filling = slab;
		}
		return slab;
	}

	private void bring(Slab slab) {
		if (hand(slab)) {
			this.lane.start();
		}
	}

	private boolean hand(Slab slab) {
		this.filling = null;
		if (this.whole) {
			// Until here it could not come back and bring memory.
			this.context.memory().slabTaken();
		}
		this.commandsInBatch = (this.atomic) ? 0 : (this.commandsInBatch + slab.count()) % this.batchSize;
		this.window.leave(slab);
		return this.queue.bring(slab);
	}

	/** How long the reading thread has waited here for room. */
	long blockedNanos() {
		return this.window.blockedNanos();
	}

}
