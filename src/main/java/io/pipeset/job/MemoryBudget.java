package io.pipeset.job;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.pipeline.StopSignal;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * The memory that all jobs share for what their callers send and Redis answers.
 * <p>
 * Nobody waits for ever, because:
 * <ol>
 * <li>Each running job has a base of its own, enough for small records and small
 * slabs.</li>
 * <li>Beyond it a job takes of what is shared, but no more than it leaves to others, so
 * that one job cannot take it all.</li>
 * <li>A job that needs more than it gets waits for its own slabs to come back, which they
 * do by themselves, and then for the exclusive part. One job has that at a time, until it
 * holds no more than its base; the next is the one that waited longest.</li>
 * <li>A job that does not come by with the exclusive part either would never do, and is
 * told so.</li>
 * <li>A job whose body does not come does not keep the exclusive part from others for
 * longer than a body may pause.</li>
 * </ol>
 */
@Component
class MemoryBudget {

	private static final long LOOK_NANOS = 10_000_000;

	private final MemoryLimits limits;

	/**
	 * How long who has the exclusive part may wait for a body while another waits for it.
	 */
	private final Duration patience;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Who waits, in the order of their coming. */
	private final Deque<MemoryShare> waiting = new ArrayDeque<>();

	/** Who has the exclusive part. */
	private @Nullable MemoryShare exclusive;

	private long used;

	private long sharedUsed;

	private volatile boolean scarce;

	@Autowired
	MemoryBudget(MemoryProperties properties, JobLimits limits, MeterRegistry registry) {
		this(MemoryLimits.of(properties.budget(), limits.maxRunningJobs(), MemoryLimits.heap(), MemoryLimits.direct()),
				limits.bodyIdleTimeout());
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
	}

	/** The share of a job that begins. */
	MemoryShare open(JobStop stop) {
		return new MemoryShare(this, stop);
	}

	MemoryLimits limits() {
		return this.limits;
	}

	/** What jobs hold, beyond the base that each running one has. */
	long used() {
		this.lock.lock();
		try {
			return this.used;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The jobs that wait for memory. */
	int waiting() {
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
	 * Changes what a job holds, if it may.
	 * @param load the change of what it loads, in bytes
	 * @param results the change of what its report will hold
	 * @return {@code false} where nothing was changed
	 */
	boolean tryChange(MemoryShare share, long load, long results) {
		this.lock.lock();
		try {
			return change(share, load, results);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes what a job holds, as soon as it may.
	 * @param load the change of what it loads, in bytes
	 * @param results the change of what its report will hold
	 * @param nanos how long to wait, at most
	 * @return whether it was changed
	 */
	Change awaitChange(MemoryShare share, long load, long results, long nanos) {
		Runnable wake = this::wake;
		StopSignal stop = share.stop();
		long deadline = System.nanoTime() + nanos;
		this.lock.lock();
		try {
			this.waiting.add(share);
			this.scarce = true;
			stop.add(wake);
			while (!change(share, load, results)) {
				boolean alone = share.slabs() == 0;
				if (alone && this.exclusive == share) {
					return Change.NEVER;
				}
				if (alone && becomesExclusive(share)) {
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
			if (share == this.exclusive && share.excess() == 0) {
				this.exclusive = null;
			}
			share.awaits(null);
			this.waiting.remove(share);
			this.scarce = !this.waiting.isEmpty();
			this.changed.signalAll();
			this.lock.unlock();
			stop.remove(wake);
		}
	}

	/**
	 * How long a job waits for the one that has the exclusive part, in nanoseconds; that
	 * is ended if it is over.
	 */
	private long patience(MemoryShare share) {
		MemoryShare holder = this.exclusive;
		share.awaits(holder);
		if (holder == null) {
			return Long.MAX_VALUE;
		}
		long left = this.patience.toNanos() - share.pausedWhileAwaited();
		if (left <= 0) {
			// Those who are woken by it may need locks of their own.
			this.lock.unlock();
			try {
				holder.outstays(this.patience);
			}
			finally {
				this.lock.lock();
			}
		}
		return Math.max(left, LOOK_NANOS);
	}

	/**
	 * A job holds no more of what it loads, or nothing at all any more.
	 * @param report whether it still holds its report
	 */
	void end(MemoryShare share, boolean report) {
		this.lock.lock();
		try {
			change(share, -share.load(), (report) ? 0 : -share.results());
			share.closed(!report);
			if (this.exclusive == share && handsOver(share)) {
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

	/** Takes note of what a report holds already, be there room for it or not. */
	void correct(MemoryShare share, long results) {
		this.lock.lock();
		try {
			long before = share.excess();
			this.used += results;
			share.change(0, results);
			moved(share, share.excess() - before);
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean change(MemoryShare share, long load, long results) {
		if (share.isClosed() && load + results > 0) {
			// The driver may have kept a slab, which nobody would give back any more.
			return false;
		}
		long more = share.excessWith(load, results) - share.excess();
		if (more > 0 && !fits(share, more)) {
			return false;
		}
		this.used += load + results;
		share.change(load, results);
		moved(share, more);
		return true;
	}

	private boolean fits(MemoryShare share, long more) {
		long excess = share.excess() + more;
		if (share == this.exclusive) {
			return excess <= this.limits.exclusive();
		}
		return excess <= this.limits.shared() - this.sharedUsed - more;
	}

	/** What a job holds beyond its base has changed. */
	private void moved(MemoryShare share, long more) {
		if (share != this.exclusive) {
			this.sharedUsed += more;
		}
		else if (share.excess() == 0) {
			this.exclusive = null;
			this.changed.signalAll();
		}
		if (more < 0 && !this.waiting.isEmpty()) {
			this.changed.signalAll();
		}
	}

	/** The exclusive part goes to who waits longest of those who cannot go on without. */
	private boolean becomesExclusive(MemoryShare share) {
		if (this.exclusive != null && !handsOver(this.exclusive)) {
			return false;
		}
		for (MemoryShare other : this.waiting) {
			if (other == share) {
				this.exclusive = share;
				this.sharedUsed -= share.excess();
				return true;
			}
			if (other.slabs() == 0) {
				return false;
			}
		}
		return false;
	}

	/**
	 * Whether a job goes on without the exclusive part: it loads no more than its base,
	 * and what its report holds, which may be for hours, fits into what is shared.
	 */
	private boolean handsOver(MemoryShare share) {
		boolean fits = share.loadExcess() == 0 && share.excess() <= this.limits.shared() - this.sharedUsed;
		if (fits) {
			this.exclusive = null;
			this.sharedUsed += share.excess();
		}
		return fits;
	}

	/** What came of asking for memory. */
	enum Change {

		/** It is there. */
		MADE,

		/** Nobody waits for it any longer. */
		GIVEN_UP,

		/** There is not so much. */
		NEVER

	}

}
