package io.pipeset.job;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

import io.pipeset.record.Record;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * All lanes of a job. A key always goes to the same lane, so that the records of a key
 * stay in order; a record with several keys, or a script that names none, waits until
 * every lane is idle and runs alone.
 */
final class Lanes {

	private final JobContext context;

	private final Lane[] lanes;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private final Deque<Lane> deferred = new ArrayDeque<>();

	private int claimed;

	private int connections;

	private boolean asking;

	private @Nullable Throwable crash;

	private volatile boolean fed = true;

	private long drainedNanos;

	Lanes(JobContext context) {
		this.context = context;
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
			if (lane.feeder().finish() && lane.claim()) {
				if (own == null) {
					own = lane;
				}
				else {
					this.context.executor().execute(lane);
				}
			}
		}
		if (own != null) {
			// A job that fits into one slab needs no thread but its own.
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

	/**
	 * Takes a connection for a lane. A job waits for one only while it has none; beyond
	 * that it takes what is free, and the lane has its turn when another of the job's
	 * lanes is done.
	 * @return {@code false} where the lane is to leave its thread, and will be run again
	 */
	boolean enter(Lane lane) {
		this.lock.lock();
		try {
			if (this.asking || this.connections > 0) {
				if (!this.asking && this.context.capacity().tryAcquire()) {
					this.connections++;
					runDeferred();
					return true;
				}
				this.deferred.add(lane);
				return false;
			}
			this.asking = true;
		}
		finally {
			this.lock.unlock();
		}
		boolean acquired = acquire();
		this.lock.lock();
		try {
			this.asking = false;
			if (acquired) {
				this.connections++;
			}
			else {
				this.deferred.add(lane);
			}
			runDeferred();
			return acquired;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A lane gives its connection back. */
	void leave() {
		this.context.capacity().release();
		this.lock.lock();
		try {
			this.connections--;
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	void begins() {
		this.lock.lock();
		try {
			this.claimed++;
		}
		finally {
			this.lock.unlock();
		}
	}

	void ends() {
		this.lock.lock();
		try {
			this.claimed--;
			runDeferred();
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A lane ends by a defect, and leaves slabs behind that nobody will settle. */
	void crashed(Throwable cause) {
		this.context.stop().because(Cause.REDIS_LOST, "The service failed: " + cause);
		this.lock.lock();
		try {
			this.crash = cause;
		}
		finally {
			this.lock.unlock();
		}
		for (Lane lane : this.lanes) {
			lane.openWindow();
		}
	}

	private boolean acquire() {
		long since = System.nanoTime();
		boolean acquired = false;
		try {
			acquired = this.context.capacity().acquire(this.context.settings().timeout().toNanos());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.context.clock().waited(System.nanoTime() - since);
		if (!acquired) {
			this.context.stop()
				.because(Cause.REDIS_UNREACHABLE,
						"None of the " + this.context.capacity().connections()
								+ " connections became free within the job's timeout of "
								+ JobSettings.text(this.context.settings().timeout())
								+ ": send the job again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	private void runDeferred() {
		Lane next = this.deferred.poll();
		if (next != null) {
			this.context.executor().execute(next);
		}
	}

	private void awaitIdle() {
		this.lock.lock();
		try {
			while (this.claimed > 0) {
				this.idle.awaitUninterruptibly();
			}
			if (this.crash != null) {
				throw new IllegalStateException("A lane failed", this.crash);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
