package io.pipeset.job.memory;

import org.jspecify.annotations.Nullable;

/**
 * The account of the memory that jobs hold: how much of it is shared, and which job has
 * the exclusive part. All of it happens under the lock of the {@link MemoryBudget}.
 */
final class MemoryLedger {

	private final MemoryLimits limits;

	/** Wakes the jobs that wait, since there may be memory for them. */
	private final Runnable freed;

	/** The job that has the exclusive part. */
	private @Nullable MemoryShare exclusive;

	private long used;

	private long sharedUsed;

	MemoryLedger(MemoryLimits limits, Runnable freed) {
		this.limits = limits;
		this.freed = freed;
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
	 * Changes the memory that a job holds, if it may.
	 * @param load the change of its load, in bytes
	 * @param results the change of the results in its report, in bytes
	 * @return {@code false} if nothing was changed
	 */
	boolean change(MemoryShare share, long load, long results) {
		if (share.isClosed() && load + results > 0) {
			// The driver may have kept a slab, whose memory would never come back.
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

	/** Counts memory that a report holds already, whether there is room for it or not. */
	void correct(MemoryShare share, long results) {
		long before = share.excess();
		this.used += results;
		share.change(0, results);
		moved(share, share.excess() - before);
	}

	/** Takes the exclusive part from a job that holds no more than its base. */
	void giveUpUnused(MemoryShare share) {
		if (share == this.exclusive && share.excess() == 0) {
			this.exclusive = null;
		}
	}

	/**
	 * Gives a job the exclusive part, if it has waited longest of those that cannot go on
	 * without it.
	 * @param share the job, of which no slab is on its way
	 * @param waiting the jobs that wait, in the order of their coming
	 * @return {@code false} if another job has the exclusive part, or comes first
	 */
	boolean becomesExclusive(MemoryShare share, Iterable<MemoryShare> waiting) {
		if (this.exclusive != null && !handsOver(this.exclusive)) {
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
	 * Takes the exclusive part from a job that can go on without it: the job loads no
	 * more than its base, and its report, which may stay for hours, fits into the shared
	 * part.
	 */
	boolean handsOver(MemoryShare share) {
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

	/** A job holds more or less than before beyond its base. */
	private void moved(MemoryShare share, long more) {
		if (share != this.exclusive) {
			this.sharedUsed += more;
		}
		else if (share.excess() == 0) {
			this.exclusive = null;
			this.freed.run();
		}
		if (more < 0) {
			this.freed.run();
		}
	}

}
