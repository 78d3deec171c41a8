package io.pipeset.job;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

import io.pipeset.record.Record;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All lanes of a job. A key always goes to the same lane, so that the records of a key
 * stay in order; a record with several keys, or a script that names none, waits until
 * every lane is idle and runs alone.
 */
final class Lanes {

	private static final Logger logger = LoggerFactory.getLogger(Lanes.class);

	private final JobContext context;

	private final Lane[] lanes;

	private final LaneTurns turns;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	/** Lanes that a thread runs, or that wait for their turn. */
	private int running;

	/** Lanes for which no thread could be started; the reading thread runs them. */
	private final Deque<Lane> stranded = new ArrayDeque<>();

	private volatile boolean fed = true;

	private long drainedNanos;

	Lanes(JobContext context) {
		this.context = context;
		this.turns = new LaneTurns(context, this::execute);
		this.lanes = IntStream.range(0, context.settings().concurrency())
			.mapToObj((number) -> new Lane(this, context))
			.toArray(Lane[]::new);
	}

	/** Sends a good record on its way. */
	void add(Record record) {
		if (this.lanes.length == 1) {
			this.lanes[0].feeder().add(record);
		}
		else if (record.keyCount() != 1) {
			drain();
			this.lanes[0].feeder().add(record);
			drain();
		}
		else {
			this.lanes[Math.floorMod(record.keyHash(), this.lanes.length)].feeder().add(record);
		}
	}

	/** The reading thread is about to wait for input. */
	void lend() {
		for (Lane lane : this.lanes) {
			lane.feeder().lend();
		}
	}

	/** The reading thread goes on. */
	void reclaim() {
		for (Lane lane : this.lanes) {
			lane.feeder().reclaim();
		}
	}

	/**
	 * Sends what has been begun, before the reading thread waits for memory, and gives up
	 * what is kept for later: slabs that are not on their way come back no more.
	 */
	void sendBegun() {
		for (Lane lane : this.lanes) {
			if (lane.feeder().finish()) {
				start(lane);
			}
			lane.feeder().giveUpFree();
		}
	}

	/** Leaves unsent what no lane has yet. */
	void discard() {
		for (Lane lane : this.lanes) {
			lane.feeder().discard();
		}
	}

	/** Sends what there is, and waits until nothing is on its way. */
	void drain() {
		long since = System.nanoTime();
		this.fed = false;
		Lane own = null;
		for (Lane lane : this.lanes) {
			if (lane.feeder().finish()) {
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
	long blockedNanos() {
		long nanos = this.drainedNanos;
		for (Lane lane : this.lanes) {
			nanos += lane.feeder().blockedNanos();
		}
		return nanos;
	}

	/** Whether more may come without being asked for. */
	boolean isFed() {
		return this.fed;
	}

	/** The lanes' turns at a connection. */
	LaneTurns turns() {
		return this.turns;
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
			this.turns.next();
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
	void crashed(Throwable cause) {
		fail("The service failed: " + cause);
		logger.error("A job failed by a defect of the service, and is stopped", cause);
	}

	/**
	 * Settles what a crash has left behind and gives back all room, after the last
	 * {@link #drain}.
	 */
	void close() {
		for (Lane lane : this.lanes) {
			lane.close();
		}
	}

	private void fail(String detail) {
		try {
			this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
		}
		finally {
			for (Lane lane : this.lanes) {
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
