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

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private final Deque<Lane> deferred = new ArrayDeque<>();

	/** Lanes that a thread runs, or that wait for their turn. */
	private int running;

	private int connections;

	private boolean asking;

	/** Lanes for which no thread could be started; the reading thread runs them. */
	private final Deque<Lane> stranded = new ArrayDeque<>();

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
		this.lock.lock();
		try {
			this.running--;
			runDeferred();
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
		logger.error("A job failed by a defect of the service, and is stopped", cause);
		fail("The service failed: " + cause);
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
		this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
		for (Lane lane : this.lanes) {
			lane.openWindow();
		}
	}

	private void execute(Lane lane) {
		try {
			this.context.executor().execute(lane);
		}
		catch (RuntimeException | Error ex) {
			if (!this.context.stop().isSet()) {
				logger.error("No thread could be started for a job, which is stopped", ex);
			}
			fail("The service could not start a thread (" + ex
					+ "): raise its limit of threads, or lower pipeset.limits.max-running-jobs");
			this.lock.lock();
			try {
				this.stranded.add(lane);
				this.idle.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	private boolean acquire() {
		long since = System.nanoTime();
		boolean acquired = false;
		try {
			acquired = this.context.capacity()
				.acquire(this.context.settings().timeout().toNanos(), this.context.stop());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.context.clock().waited(System.nanoTime() - since);
		if (!acquired && !this.context.stop().isSet()) {
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
			execute(next);
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
