package io.pipeset.engine.lane;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.record.memory.MemoryLimitException;

/**
 * All lanes of a job. A key always goes to the same lane, so that the records of a key
 * stay in order; a record with several keys, or a script that names none, waits until
 * every lane is idle and runs alone.
 */
public final class Lanes {

	private final LaneContext context;

	private final LaneThreads threads;

	private final LaneRoutes routes;

	/** All lanes to a single server; empty for a cluster. */
	private final Lane[] lanes;

	private long drainedNanos;

	public Lanes(LaneContext context) {
		this.context = context;
		this.threads = new LaneThreads(context, this::openWindows);
		this.routes = new LaneRoutes(context, (node, shared) -> new Lane(this.threads, shared, node));
		this.lanes = this.routes.open();
	}

	/**
	 * Sends a record on its way, which blocks while as much is on its way as may be, or
	 * the job has no memory for the record.
	 * @param record a good record
	 * @throws MemoryLimitException if there will be no memory for it; it was not added
	 */
	public void add(Record record) {
		if (this.lanes.length == 1) {
			this.lanes[0].filler().add(record);
		}
		else if (this.lanes.length == 0) {
			addByRoute(record);
		}
		else if (record.keyCount() != 1) {
			drain();
			this.lanes[0].filler().add(record);
			drain();
		}
		else {
			this.lanes[Math.floorMod(record.keyHash(), this.lanes.length)].filler().add(record);
		}
	}

	/** Gives a record to the lane of its slot. A script that names no key runs alone. */
	private void addByRoute(Record record) {
		int slot = record.slot();
		try {
			if (this.routes.areOutdated()) {
				drain();
				this.routes.renew();
			}
			if (slot == Slots.NONE) {
				drain();
			}
			this.routes.lane(slot).filler().add(record, slot);
			if (slot == Slots.NONE) {
				drain();
			}
		}
		catch (NoConnectionException ex) {
			this.context.stop().because(ex, JobStop.SEND_THE_REST);
			throw new MemoryLimitException("The job is stopped");
		}
	}

	/** The reading thread is about to wait for input. */
	public void lend() {
		for (Lane lane : this.routes.open()) {
			lane.filler().lend();
		}
	}

	/** The reading thread goes on. */
	public void reclaim() {
		for (Lane lane : this.routes.open()) {
			lane.filler().reclaim();
		}
	}

	/**
	 * Sends the slabs that have been begun, before the reading thread waits for memory,
	 * and gives up those that are kept for later: only slabs on their way come back and
	 * bring memory. With one lane a transaction is not cut short for that.
	 */
	public void sendBegun() {
		for (Lane lane : this.routes.open()) {
			if (lane.filler().sendBegun()) {
				this.threads.start(lane);
			}
			lane.filler().giveUpFree();
		}
	}

	/** Takes the records out of the job, unsent, that no lane has yet. */
	public void discard() {
		for (Lane lane : this.routes.open()) {
			lane.filler().discard();
		}
	}

	/**
	 * Sends all records that were added, and waits until each of them has its outcome.
	 */
	public void drain() {
		long since = System.nanoTime();
		this.threads.drain();
		Lane own = null;
		for (Lane lane : this.routes.open()) {
			if (lane.filler().finish()) {
				if (own == null) {
					own = lane;
				}
				else {
					this.threads.start(lane);
				}
			}
		}
		// A job that fits into one slab needs no thread but its own.
		this.threads.awaitIdle(own);
		this.drainedNanos += System.nanoTime() - since;
	}

	/** How long the reading thread has waited here and in its windows. */
	public long blockedNanos() {
		long nanos = this.drainedNanos;
		for (Lane lane : this.routes.open()) {
			nanos += lane.filler().blockedNanos();
		}
		return nanos;
	}

	/** The thread that reads ends by a defect: the job writes nothing more. */
	public void crashed(Throwable cause) {
		this.threads.crashed(cause);
	}

	/**
	 * Settles the slabs that a crash has left behind and gives back all room, after the
	 * last {@link #drain}.
	 */
	public void close() {
		for (Lane lane : this.routes.open()) {
			lane.close();
		}
	}

	private void openWindows() {
		for (Lane lane : this.routes.open()) {
			lane.openWindow();
		}
	}

}
