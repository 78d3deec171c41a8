package io.pipeset.engine.lane;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.record.memory.MemoryLimitException;

/**
 * All lanes of a job. A key always goes to the same lane, so the records of a key stay in
 * order. With several lanes to a single server, a record that does not have exactly one
 * key waits until every lane is idle, and runs alone. In a cluster, a script without keys
 * does so.
 */
public final class Lanes {

	private final LaneContext context;

	private final LaneThreads threads;

	private final LaneRoutes routes;

	/** All lanes to a single server; empty for a cluster. */
	private final Lane[] lanes;

	/** How long {@link #drain} has taken so far. */
	private long drainedNanos;

	public Lanes(LaneContext context) {
		this.context = context;
		this.threads = new LaneThreads(context, this::removeWindowLimits);
		this.routes = new LaneRoutes(context, (node, shared) -> new Lane(this.threads, shared, node));
		this.lanes = this.routes.openLanes();
	}

	/**
	 * Adds a record to the lane of its key. Blocks while too much is in flight, or the
	 * job has no memory for the record.
	 * @param record a valid record
	 * @throws MemoryLimitException if the job cannot get memory for it, or is stopped;
	 * the record was not added
	 */
	public void add(Record record) {
		if (this.lanes.length == 1) {
			this.lanes[0].filler().add(record);
		}
		else if (this.lanes.length == 0) {
			addBySlot(record);
		}
		else if (record.keyCount() != 1) {
			drain();
			this.lanes[0].filler().add(record);
			drain();
		}
		else {
			this.lanes[number(record, this.lanes.length)].filler().add(record);
		}
	}

	/**
	 * The number of the lane of a record.
	 * @param lanes the number of lanes to a single server
	 */
	static int number(Record record, int lanes) {
		return (lanes == 1 || record.keyCount() != 1) ? 0 : Math.floorMod(record.keyHash(), lanes);
	}

	/** Adds a record to the lane of its slot. A script without keys runs alone. */
	private void addBySlot(Record record) {
		int slot = record.slot();
		try {
			if (this.routes.areOutdated()) {
				drain();
				this.routes.update();
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
			this.context.stop().stop(ex, JobStop.SEND_THE_REST);
			throw new MemoryLimitException("The job is stopped");
		}
	}

	/**
	 * Lends each lane its partly filled slab before the reading thread waits for input.
	 */
	public void lend() {
		for (Lane lane : this.routes.openLanes()) {
			lane.filler().lend();
		}
	}

	/** Takes the lent slabs back when the reading thread has input again. */
	public void reclaim() {
		for (Lane lane : this.routes.openLanes()) {
			lane.filler().reclaim();
		}
	}

	/**
	 * Sends the partly filled slabs and releases the free ones before the reading thread
	 * waits for memory, because only slabs in flight return memory. With one lane to a
	 * single server, a transaction is not cut short for that.
	 */
	public void sendBegun() {
		for (Lane lane : this.routes.openLanes()) {
			if (lane.filler().finishPartial()) {
				this.threads.start(lane);
			}
			lane.filler().releaseFree();
		}
	}

	/** Takes records that no lane has yet out of the job, unsent. */
	public void discard() {
		for (Lane lane : this.routes.openLanes()) {
			lane.filler().discard();
		}
	}

	/** Sends all added records, and waits until each of them has its outcome. */
	public void drain() {
		long since = System.nanoTime();
		this.threads.closeInput();
		Lane own = null;
		for (Lane lane : this.routes.openLanes()) {
			if (lane.filler().finish()) {
				if (own == null) {
					own = lane;
				}
				else {
					this.threads.start(lane);
				}
			}
		}
		// A job that fits into one slab needs no further thread.
		this.threads.awaitIdle(own);
		this.drainedNanos += System.nanoTime() - since;
	}

	/**
	 * How long the reading thread has waited, in {@link #drain} and for full windows, in
	 * ns.
	 */
	public long blockedNanos() {
		long nanos = this.drainedNanos;
		for (Lane lane : this.routes.openLanes()) {
			nanos += lane.filler().blockedNanos();
		}
		return nanos;
	}

	/** Stops the job after a defect in the reading thread. */
	public void crashed(Throwable cause) {
		this.threads.stopAfterDefect(cause);
	}

	/**
	 * Settles the slabs that remain after a crash, and gives back all memory and bytes in
	 * flight. Call it after the last {@link #drain}.
	 */
	public void close() {
		for (Lane lane : this.routes.openLanes()) {
			lane.close();
		}
	}

	private void removeWindowLimits() {
		for (Lane lane : this.routes.openLanes()) {
			lane.removeWindowLimit();
		}
	}

}
