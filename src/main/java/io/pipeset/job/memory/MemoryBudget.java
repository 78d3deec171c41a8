package io.pipeset.job.memory;

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
 * The memory that all jobs share for the data that callers send and Redis answers.
 * <p>
 * No job waits for ever, because:
 * <ol>
 * <li>Each running job has a base of its own, enough for small records and small
 * slabs.</li>
 * <li>Beyond it a job takes from the shared part, but no more than it leaves to others,
 * so that one job cannot take it all.</li>
 * <li>A job that needs more than it gets waits for its own slabs to come back, which they
 * do by themselves, and then for the exclusive part. One job has that at a time, until it
 * holds no more than its base; the next is the one that waited longest.</li>
 * <li>A job for which the exclusive part is too small as well would wait for ever, and is
 * told so.</li>
 * <li>A job whose body does not come does not keep the exclusive part from others for
 * longer than a body may pause.</li>
 * </ol>
 */
public final class MemoryBudget {

	private static final long LOOK_NANOS = 10_000_000;

	private static final long SHORT_NANOS = 1_000_000_000;

	private final MemoryLimits limits;

	/**
	 * How long the job with the exclusive part may wait for its body while others wait
	 * for memory.
	 */
	private final Duration patience;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** The jobs that wait, in the order of their coming. */
	private final Deque<MemoryShare> waiting = new ArrayDeque<>();

	private final MemoryLedger ledger;

	private volatile boolean scarce;

	/**
	 * Divides the memory of this process.
	 * @param patience how long the job with the exclusive part may wait for its body
	 * while others wait for memory
	 */
	public MemoryBudget(MemoryProperties properties, int jobs, Duration patience, MeterRegistry registry) {
		this(MemoryLimits.of(properties.budget(), jobs, MemoryLimits.heap(), MemoryLimits.direct()), patience);
		Gauge.builder("pipeset.memory.used", this, MemoryBudget::used)
			.description("Memory that jobs hold of what was sent and answered, until their answers are written")
			.baseUnit("bytes")
			.register(registry);
		Gauge.builder("pipeset.memory.budget", this.limits, MemoryLimits::budget)
			.description("The memory that all jobs together may hold")
			.baseUnit("bytes")
			.register(registry);
	}

	MemoryBudget(MemoryLimits limits, Duration patience) {
		this.limits = limits;
		this.patience = patience;
		this.ledger = new MemoryLedger(limits, this::wakeWaiting);
	}

	/**
	 * Opens the share of a job that begins.
	 * @param stop the job's stop, which ends its waits
	 * @return the share, to be closed
	 */
	public MemoryShare open(JobStop stop) {
		return new MemoryShare(this, stop);
	}

	/** How the memory is divided. */
	public MemoryLimits limits() {
		return this.limits;
	}

	/**
	 * The memory that jobs hold.
	 * @return how much, in bytes
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

	/** The jobs that wait for memory. */
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

	/**
	 * Whether a job waits for memory that does not come back soon.
	 * @return {@code true} once it has waited for a second
	 */
	public boolean isShort() {
		if (!this.scarce) {
			return false;
		}
		this.lock.lock();
		try {
			MemoryShare first = this.waiting.peek();
			return first != null && first.hasWaited(SHORT_NANOS);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the memory that a job holds, if it may.
	 * @param load the change of its load, in bytes
	 * @param results the change of the results in its report, in bytes
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
	 * Changes the memory that a job holds, as soon as it may.
	 * @param load the change of its load, in bytes
	 * @param results the change of the results in its report, in bytes
	 */
	Change awaitChange(MemoryShare share, long load, long results, long nanos) {
		Runnable wake = this::wake;
		StopSignal stop = share.stop();
		long deadline = System.nanoTime() + nanos;
		this.lock.lock();
		try {
			this.waiting.add(share);
			share.beginsToWait();
			this.scarce = true;
			stop.add(wake);
			while (!this.ledger.change(share, load, results)) {
				boolean alone = share.slabs() == 0;
				if (alone && this.ledger.isExclusive(share)) {
					return Change.NEVER;
				}
				if (alone && this.ledger.becomesExclusive(share, this.waiting)) {
					continue;
				}
				long left = deadline - System.nanoTime();
				if (stop.isSet() || left <= 0) {
					return Change.GIVEN_UP;
				}
				this.changed.awaitNanos((alone) ? Math.min(left, patience(share)) : left);
			}
			return Change.MADE;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Change.GIVEN_UP;
		}
		finally {
			this.ledger.giveUpUnused(share);
			share.awaits(null);
			this.waiting.remove(share);
			this.scarce = !this.waiting.isEmpty();
			this.changed.signalAll();
			this.lock.unlock();
			stop.remove(wake);
		}
	}

	/**
	 * The time for which a job still waits for the one with the exclusive part, in
	 * nanoseconds. Ends the latter if the time is over.
	 */
	private long patience(MemoryShare share) {
		MemoryShare holder = this.ledger.exclusive();
		share.awaits(holder);
		if (holder == null) {
			return Long.MAX_VALUE;
		}
		long left = this.patience.toNanos() - share.pausedWhileAwaited();
		if (left <= 0) {
			// The threads that it wakes may need locks of their own.
			this.lock.unlock();
			try {
				holder.evict(this.patience);
			}
			finally {
				this.lock.lock();
			}
		}
		return Math.max(left, LOOK_NANOS);
	}

	/**
	 * A job has given up its load, or all that it held.
	 * @param report whether it still holds its report
	 */
	void end(MemoryShare share, boolean report) {
		this.lock.lock();
		try {
			this.ledger.change(share, -share.load(), (report) ? 0 : -share.results());
			share.closed(!report);
			if (this.ledger.isExclusive(share) && this.ledger.handsOver(share)) {
				this.changed.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A slab of a job that may be waiting has come back. */
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

	/** Counts memory that a report holds already, whether there is room for it or not. */
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

	/** The answer to a job that asked for memory. */
	enum Change {

		/** The memory was taken. */
		MADE,

		/** The job does not wait for it any longer. */
		GIVEN_UP,

		/** The job will never get so much. */
		NEVER

	}

}
