package io.pipeset.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.record.Record;
import io.pipeset.record.room.NoRoomException;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All lanes of a job. A key always goes to the same lane, so that the records of a key
 * stay in order; a record with several keys, or a script that names none, waits until
 * every lane is idle and runs alone.
 */
public final class Lanes {

	private static final Logger logger = LoggerFactory.getLogger(Lanes.class);

	private final LaneContext context;

	private final LaneRoutes routes;

	/** All lanes to a single server; empty for a cluster. */
	private final Lane[] lanes;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	/** Lanes that a thread runs, or that wait for their turn. */
	private int running;

	/** Lanes for which no thread could be started. The reading thread runs them. */
	private final Deque<Lane> stranded = new ArrayDeque<>();

	private volatile boolean fed = true;

	private long drainedNanos;

	public Lanes(LaneContext context) {
		this.context = context;
		this.routes = new LaneRoutes(context, (node, shared) -> new Lane(this, shared, node), this::execute,
				this::drain);
		this.lanes = this.routes.open();
	}

	/**
	 * Sends a record on its way, which blocks while as much is on its way as may be, or
	 * the job has no memory for the record.
	 * @param record a good record
	 * @throws NoRoomException if there will be no memory for it; it was not added
	 */
	public void add(Record record) {
		if (this.lanes.length == 1) {
			this.lanes[0].filler().add(record);
		}
		else if (this.lanes.length == 0) {
			this.routes.add(record);
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
				start(lane);
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
		this.fed = false;
		Lane own = null;
		for (Lane lane : this.routes.open()) {
			if (lane.filler().finish()) {
				if (own == null) {
					own = lane;
				}
				else {
					start(lane);
				}
			}
		}
		if (own != null) {
			// A job that fits into one slab needs no thread but its own.
			begins();
			own.run();
		}
		awaitIdle();
		this.fed = true;
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

	/**
	 * Whether the reading thread may still bring slabs by itself. It does not while it
	 * drains the lanes.
	 */
	boolean isFed() {
		return this.fed;
	}

	/** The lanes' turns at a connection to a node. */
	LaneTurns turns(RedisNode node) {
		return this.routes.turns(node);
	}

	/** Has a thread run a lane that none runs. */
	void start(Lane lane) {
		begins();
		execute(lane);
	}

	private void begins() {
		this.lock.lock();
		try {
			this.running++;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A lane has nothing more to do. */
	void ends() {
		try {
			this.routes.nextTurns();
		}
		finally {
			ended();
		}
	}

	private void ended() {
		this.lock.lock();
		try {
			this.running--;
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A lane, or the thread that reads, ends by a defect: the job writes nothing more.
	 */
	public void crashed(Throwable cause) {
		fail("The service failed: " + cause);
		logger.error("A job failed by a defect of the service, and is stopped", cause);
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

	private void fail(String detail) {
		try {
			this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
		}
		finally {
			for (Lane lane : this.routes.open()) {
				lane.openWindow();
			}
		}
	}

	private void execute(Lane lane) {
		try {
			this.context.executor().execute(lane);
		}
		catch (RuntimeException | Error ex) {
			boolean first = !this.context.stop().isSet();
			try {
				fail("The service could not start a thread (" + ex
						+ "): raise its limit of threads, or lower pipeset.limits.max-running-jobs");
			}
			finally {
				strand(lane);
			}
			if (first) {
				logger.error("No thread could be started for a job, which is stopped", ex);
			}
		}
	}

	private void strand(Lane lane) {
		this.lock.lock();
		try {
			this.stranded.add(lane);
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void awaitIdle() {
		for (Lane lane = awaitStranded(); lane != null; lane = awaitStranded()) {
			lane.run();
		}
	}

	/** Waits until no lane runs, or one is to be run here. */
	private @Nullable Lane awaitStranded() {
		this.lock.lock();
		try {
			while (this.running > 0 && this.stranded.isEmpty()) {
				this.idle.awaitUninterruptibly();
			}
			return this.stranded.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

}
