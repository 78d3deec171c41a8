package io.pipeset.job;

import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.pipeline.Slab;
import io.pipeset.record.Record;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a lane: puts records into slabs and brings them to the lane when
 * they are full. While the reading thread may be waiting for input it lends the lane the
 * slab it has begun, so that records do not wait for others that may never come.
 */
final class Feeder {

	private final Lane lane;

	private final Window window;

	private final JobContext context;

	/** Whether a slab is a transaction, and so is not lent before it is whole. */
	private final boolean atomic;

	private final int batchSize;

	private final int commandsPerWrite;

	private final AtomicReference<@Nullable Slab> lent = new AtomicReference<>();

	private @Nullable Slab filling;

	private int commandsInBatch;

	Feeder(Lane lane, Window window, JobContext context) {
		this.lane = lane;
		this.window = window;
		this.context = context;
		this.atomic = context.settings().isAtomic();
		this.batchSize = context.settings().batchSize();
		this.commandsPerWrite = context.settings().commandsPerWrite();
	}

	/** Adds a record, which blocks while the lane has as much on its way as it may. */
	void add(Record record) {
		Slab slab = filling();
		if (!slab.add(record)) {
			bring(slab);
			slab = filling();
			slab.add(record);
		}
		if (slab.count() == Math.min(this.commandsPerWrite, this.batchSize - this.commandsInBatch)) {
			bring(slab);
		}
	}

	/**
	 * Brings the lane what there is.
	 * @return whether there was anything
	 */
	boolean finish() {
		Slab slab = this.filling;
		if (slab != null) {
			hand(slab);
		}
		return slab != null;
	}

	/** Takes what is not with the lane yet out of the job, unsent. */
	void discard() {
		Slab slab = this.filling;
		if (slab != null) {
			this.filling = null;
			slab.settle(this.context.account(), null);
			this.window.free(slab);
		}
	}

	/** The reading thread is about to wait for input, which cuts no transaction short. */
	void lend() {
		if (this.filling != null && !this.atomic) {
			this.lent.set(this.filling);
			this.lane.nudge();
			start();
		}
	}

	/** The reading thread goes on. */
	void reclaim() {
		Slab slab = this.filling;
		if (slab != null && !this.atomic && !this.lent.compareAndSet(slab, null)) {
			this.commandsInBatch = 0;
			this.filling = null;
		}
	}

	/** Takes what was lent, on the lane's side. */
	@Nullable Slab borrow() {
		Slab slab = this.lent.getAndSet(null);
		if (slab != null) {
			this.window.leave(slab);
		}
		return slab;
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
		hand(slab);
		start();
	}

	private void hand(Slab slab) {
		this.filling = null;
		this.commandsInBatch = (this.atomic) ? 0 : (this.commandsInBatch + slab.count()) % this.batchSize;
		this.window.leave(slab);
		this.lane.bring(slab);
	}

	private void start() {
		if (this.lane.claim()) {
			this.context.executor().execute(this.lane);
		}
	}

	/** How long the reading thread has waited here for room. */
	long blockedNanos() {
		return this.window.blockedNanos();
	}

}
