package io.pipeset.memory;

import org.jspecify.annotations.Nullable;

/**
 * Counts the memory that jobs hold, and knows which job has the exclusive part. All calls
 * are under the lock of the {@link MemoryBudget}.
 */
final class MemoryLedger {

	private final MemoryLimits limits;

	/** Wakes the waiting jobs when memory is freed. */
	private final Runnable wakeWaiting;

	private @Nullable MemoryShare exclusive;

	private long used;

	/** The bytes that jobs hold of the shared part. */
	private long sharedUsed;

	MemoryLedger(MemoryLimits limits, Runnable wakeWaiting) {
		this.limits = limits;
		this.wakeWaiting = wakeWaiting;
	}

	/** The bytes that all jobs hold. */
	long used() {
		return this.used;
	}

	/** The job that has the exclusive part, or {@code null}. */
	@Nullable MemoryShare exclusive() {
		return this.exclusive;
	}

	boolean isExclusive(MemoryShare share) {
		return this.exclusive == share;
	}

	/**
	 * Changes the memory that a job holds, if there is enough.
	 * @param load the change of its load, in bytes
	 * @param results the change of the memory of its report, in bytes
	 * @return {@code false} if nothing was changed
	 */
	boolean change(MemoryShare share, long load, long results) {
		if (share.isClosed() && load + results > 0) {
			// A late slab of the driver would take memory that is never released.
			return false;
		}
		long more = share.excessWith(load, results) - share.excess();
		if (more > 0 && !fits(share, more)) {
			return false;
		}
		this.used += load + results;
		share.change(load, results);
		countExcess(share, more);
		return true;
	}

	/** Counts memory that a report holds already, even beyond the limits. */
	void correct(MemoryShare share, long results) {
		long before = share.excess();
		this.used += results;
		share.change(0, results);
		countExcess(share, share.excess() - before);
	}

	/** Takes the exclusive part from a job that holds no more than its base. */
	void releaseUnusedExclusive(MemoryShare share) {
		if (share == this.exclusive && share.excess() == 0) {
			this.exclusive = null;
		}
	}

	/**
	 * Gives a job the exclusive part, if it has waited longest of the jobs without slabs
	 * in flight.
	 * @param share the job, which has no slab in flight
	 * @param waiting the waiting jobs, in the order of their arrival
	 * @return {@code false} if another job has the exclusive part, or is first in the
	 * queue
	 */
	boolean tryMakeExclusive(MemoryShare share, Iterable<MemoryShare> waiting) {
		if (this.exclusive != null && !tryHandOver(this.exclusive)) {
			return false;
		}
		for (MemoryShare other : waiting) {
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
	 * Takes the exclusive part from a job that can continue without it, because its load
	 * is within its base and its report fits into the shared part. A report may be kept
	 * for hours.
	 * @return {@code false} if the job still needs the exclusive part
	 */
	boolean tryHandOver(MemoryShare share) {
		boolean fits = share.loadExcess() == 0 && share.excess() <= this.limits.shared() - this.sharedUsed;
		if (fits) {
			this.exclusive = null;
			this.sharedUsed += share.excess();
		}
		return fits;
	}

	private boolean fits(MemoryShare share, long more) {
		long excess = share.excess() + more;
		if (share == this.exclusive) {
			return excess <= this.limits.exclusive();
		}
		return excess <= this.limits.shared() - this.sharedUsed - more;
	}

	/** Counts a change of the memory that a job holds beyond its base. */
	private void countExcess(MemoryShare share, long more) {
		if (share != this.exclusive) {
			this.sharedUsed += more;
		}
		else if (share.excess() == 0) {
			this.exclusive = null;
			this.wakeWaiting.run();
		}
		if (more < 0) {
			this.wakeWaiting.run();
		}
	}

}
