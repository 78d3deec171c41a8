package io.pipeset.memory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.StopSignal;

/**
 * The memory that all jobs share for the data of requests and of Redis replies.
 * <p>
 * No job waits forever, because:
 * <ol>
 * <li>Each running job has a base of its own, enough for small records and small
 * slabs.</li>
 * <li>Beyond its base, a job takes memory from the shared part. It may take at most as
 * much as it leaves to others, so that one job cannot take all of it.</li>
 * <li>A job that needs more waits until its own slabs are sent and freed, and then for
 * the exclusive part. One job at a time has the exclusive part, until it holds no more
 * than its base. Then the job that has waited longest gets it.</li>
 * <li>If the exclusive part is too small as well, the request for memory fails.</li>
 * <li>A job with the exclusive part is ended if it waits for its body longer than the
 * idle timeout while others wait for memory.</li>
 * </ol>
 */
public final class MemoryBudget {

	/** The shortest time between two checks of the exclusive part's holder. */
	private static final long RECHECK_NANOS = 10_000_000;

	/** How long a job must have waited until memory counts as short. */
	private static final long SHORT_AFTER_NANOS = 1_000_000_000;

	private final MemoryLimits limits;

	/**
	 * How long the job with the exclusive part may wait for its body while others wait
	 * for memory.
	 */
	private final Duration bodyIdleTimeout;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** The waiting jobs, in the order of their arrival. */
	private final Deque<MemoryShare> waiting = new ArrayDeque<>();

	private final MemoryLedger ledger;

	private volatile boolean scarce;

	/**
	 * Divides the memory of this process.
	 * @param jobs how many jobs may run at once
	 * @param bodyIdleTimeout how long the job with the exclusive part may wait for its
	 * body while others wait for memory
	 */
	public MemoryBudget(MemoryProperties properties, int jobs, Duration bodyIdleTimeout, MeterRegistry registry) {
		this(MemoryLimits.of(properties.budget(), jobs, MemoryLimits.heap(), MemoryLimits.direct()), bodyIdleTimeout);
		Gauge.builder("pipeset.memory.used", this, MemoryBudget::used)
			.description("Memory that jobs hold for request and response data, until their responses are written")
			.baseUnit("bytes")
			.register(registry);
		Gauge.builder("pipeset.memory.budget", this.limits, MemoryLimits::budget)
			.description("The memory that all jobs together may hold")
			.baseUnit("bytes")
			.register(registry);
	}

	MemoryBudget(MemoryLimits limits, Duration bodyIdleTimeout) {
		this.limits = limits;
		this.bodyIdleTimeout = bodyIdleTimeout;
		this.ledger = new MemoryLedger(limits, this::wakeWaiting);
	}

	/**
	 * Opens the share of a new job.
	 * @param stop the job's stop, which ends its waits for memory
	 * @return the share, to be closed
	 */
	public MemoryShare open(JobStop stop) {
		return new MemoryShare(this, stop);
	}

	/** The limits of the parts of the memory. */
	public MemoryLimits limits() {
		return this.limits;
	}

	/**
	 * The memory that all jobs hold.
	 * @return bytes
	 */
	public long used() {
		this.lock.lock();
		try {
			return this.ledger.used();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many jobs wait for memory. */
	public int waiting() {
		this.lock.lock();
		try {
			return this.waiting.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isScarce() {
		return this.scarce;
	}

	/** Whether a job has waited for memory for at least a second. */
	public boolean isShort() {
		if (!this.scarce) {
			return false;
		}
		this.lock.lock();
		try {
			MemoryShare first = this.waiting.peek();
			return first != null && first.hasWaited(SHORT_AFTER_NANOS);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the memory that a job holds, if there is enough.
	 * @param load the change of its load, in bytes
	 * @param results the change of the memory of its report, in bytes
	 * @return {@code false} if nothing was changed
	 */
	boolean tryChange(MemoryShare share, long load, long results) {
		this.lock.lock();
		try {
			return this.ledger.change(share, load, results);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the memory that a job holds, as soon as there is enough.
	 * @param load the change of its load, in bytes
	 * @param results the change of the memory of its report, in bytes
	 * @param nanos how long to wait at most
	 */
	Change awaitChange(MemoryShare share, long load, long results, long nanos) {
		Runnable wake = this::wake;
		StopSignal stop = share.stop();
		long deadline = System.nanoTime() + nanos;
		this.lock.lock();
		try {
			this.waiting.add(share);
			share.startWait();
			this.scarce = true;
			stop.add(wake);
			while (!this.ledger.change(share, load, results)) {
				boolean alone = share.slabs() == 0;
				if (alone && this.ledger.isExclusive(share)) {
					return Change.NEVER;
				}
				if (alone && this.ledger.tryMakeExclusive(share, this.waiting)) {
					continue;
				}
				long leftNanos = deadline - System.nanoTime();
				if (stop.isSet() || leftNanos <= 0) {
					return Change.GIVEN_UP;
				}
				this.changed.awaitNanos((alone) ? Math.min(leftNanos, nextCheckNanos(share)) : leftNanos);
			}
			return Change.MADE;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Change.GIVEN_UP;
		}
		finally {
			this.ledger.releaseUnusedExclusive(share);
			share.setAwaited(null);
			this.waiting.remove(share);
			this.scarce = !this.waiting.isEmpty();
			this.changed.signalAll();
			this.lock.unlock();
			stop.remove(wake);
		}
	}

	/**
	 * How long a job may wait until it checks the holder of the exclusive part again, in
	 * nanoseconds. Ends the holder if it has waited for its body for too long.
	 */
	private long nextCheckNanos(MemoryShare share) {
		MemoryShare holder = this.ledger.exclusive();
		share.setAwaited(holder);
		if (holder == null) {
			return Long.MAX_VALUE;
		}
		long leftNanos = this.bodyIdleTimeout.toNanos() - share.holderWaitNanos();
		if (leftNanos <= 0) {
			// Not under the lock: woken threads may have locks of their own.
			this.lock.unlock();
			try {
				holder.evict(this.bodyIdleTimeout);
			}
			finally {
				this.lock.lock();
			}
		}
		return Math.max(leftNanos, RECHECK_NANOS);
	}

	/**
	 * Releases the load of a job, or all its memory.
	 * @param keepReport whether to keep the memory of its report
	 */
	void end(MemoryShare share, boolean keepReport) {
		this.lock.lock();
		try {
			this.ledger.change(share, -share.load(), (keepReport) ? 0 : -share.results());
			share.setClosed(!keepReport);
			if (this.ledger.isExclusive(share) && this.ledger.tryHandOver(share)) {
				this.changed.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Wakes waiting jobs, because a slab was freed or a job was stopped. */
	void wake() {
		if (this.scarce) {
			this.lock.lock();
			try {
				this.changed.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	long results(MemoryShare share) {
		this.lock.lock();
		try {
			return share.results();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Counts memory that a report holds already, even beyond the limits. */
	void correct(MemoryShare share, long results) {
		this.lock.lock();
		try {
			this.ledger.correct(share, results);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void wakeWaiting() {
		if (!this.waiting.isEmpty()) {
			this.changed.signalAll();
		}
	}

	/** The result of a request for memory. */
	enum Change {

		/** The change was made. */
		MADE,

		/** The job was stopped or interrupted, or the time is over. */
		GIVEN_UP,

		/** The job can never get so much memory. */
		NEVER

	}

}
