package io.pipeset.job;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.job.MemoryBudget.Change;
import io.pipeset.record.NoRoomException;
import io.pipeset.record.Room;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * What one job holds of the service's memory: what it loads, until its last slab is
 * through, and what its report holds, until its answer is written.
 */
public final class MemoryShare implements Room, AutoCloseable {

	/** Of a report, so much is anybody's: there are no more of them than threads. */
	private static final long SMALL_REPORT_BYTES = 16 << 10;

	private final MemoryBudget budget;

	private final JobStop stop;

	private final BodyPauses pauses = new BodyPauses();

	/** Who has the exclusive part that the job waits for. */
	private @Nullable MemoryShare awaited;

	/** How long that had waited for its body when the wait for it began. */
	private long pausedBefore;

	/** Slabs in use, each of which comes back by itself once it is sent. */
	private final AtomicInteger slabs = new AtomicInteger();

	private Runnable beforeWait = () -> {
	};

	private final long base;

	private long load;

	private long results;

	/** Whether the answer is written, so that nobody gives anything back any more. */
	private boolean closed;

	/** Whether the reading thread waits, or is about to. */
	private volatile boolean waits;

	MemoryShare(MemoryBudget budget, JobStop stop) {
		this.budget = budget;
		this.stop = stop;
		this.base = budget.limits().base();
	}

	/**
	 * Says what the reading thread does before it waits.
	 * @param task sends what has been begun and gives up what is kept for later, both of
	 * which hold memory
	 */
	void beforeWait(Runnable task) {
		this.beforeWait = task;
	}

	@Override
	public boolean tryTake(long bytes) {
		return this.budget.tryChange(this, bytes, 0);
	}

	@Override
	public void take(long bytes) {
		if (tryTake(bytes)) {
			return;
		}
		Change change = sendAndAwait(bytes);
		if (change != Change.MADE) {
			throw new NoRoomException("the record takes " + bytes + " bytes of memory at once; pipeset.memory.budget="
					+ this.budget.limits().budget() + " allows one job no more than "
					+ this.budget.limits().mostOfOneJob());
		}
	}

	private Change sendAndAwait(long bytes) {
		this.waits = true;
		try {
			this.beforeWait.run();
			return this.budget.awaitChange(this, bytes, 0, Long.MAX_VALUE / 2);
		}
		finally {
			this.waits = false;
		}
	}

	@Override
	public void give(long bytes) {
		if (bytes != 0) {
			this.budget.tryChange(this, -bytes, 0);
		}
	}

	@Override
	public boolean isScarce() {
		return this.waits || this.budget.isScarce();
	}

	/**
	 * Takes memory for the report, if it is free.
	 * @param bytes how much
	 * @return {@code false} where nothing was taken
	 */
	boolean tryTakeForReport(long bytes) {
		return this.budget.tryChange(this, 0, bytes);
	}

	/**
	 * Takes memory for the report, for which the reading thread may wait.
	 * @param bytes how much
	 * @param nanos how long to wait
	 * @return {@code false} where nothing was taken
	 */
	boolean takeForReport(long bytes, long nanos) {
		return this.budget.awaitChange(this, 0, bytes, nanos) == Change.MADE;
	}

	/**
	 * Corrects what was taken for the report by what it holds.
	 * @param bytes how much it holds beyond what was taken; negative for less
	 */
	void correctReport(long bytes) {
		this.budget.correct(this, bytes);
	}

	/** The budget that this is a share of, for messages. */
	long budget() {
		return this.budget.limits().budget();
	}

	/** A slab is in use. */
	void slabTaken() {
		this.slabs.incrementAndGet();
	}

	/** A slab is no longer in use. */
	void slabFreed() {
		this.slabs.decrementAndGet();
		this.budget.wake();
	}

	/** The reading thread waits for the body. */
	void bodyPauses() {
		this.pauses.begin();
	}

	/** The reading thread has waited for the body. */
	void bodyGoesOn() {
		this.pauses.end();
	}

	/**
	 * The job waits for the exclusive part; under the budget's lock.
	 * @param holder who has it, if anybody
	 */
	void awaits(@Nullable MemoryShare holder) {
		if (this.awaited != holder) {
			this.awaited = holder;
			this.pausedBefore = (holder != null) ? holder.pauses.nanos() : 0;
		}
	}

	/**
	 * How long who has the exclusive part has waited for its body since this job waits
	 * for that part, in nanoseconds; 0 once it is stopped.
	 */
	long pausedWhileAwaited() {
		MemoryShare holder = this.awaited;
		return (holder == null || holder.stop.isSet()) ? 0 : holder.pauses.nanos() - this.pausedBefore;
	}

	/** Ends the job, as others need the memory that it holds while it waits. */
	void outstays(Duration patience) {
		this.stop.because(Cause.STALLED,
				"The upload of a large record took more than " + JobSettings.text(patience)
						+ " (pipeset.limits.body-idle-timeout) of waiting for it, while it held memory that other"
						+ " jobs need (pipeset.memory.budget=" + budget() + "); what had been read before, ran");
	}

	/** The job has ended: it holds no more than its report. */
	void endLoad() {
		this.budget.end(this, true);
	}

	/** The answer is written. */
	@Override
	public void close() {
		this.budget.end(this, false);
	}

	JobStop stop() {
		return this.stop;
	}

	int slabs() {
		return this.slabs.get();
	}

	/** What the job holds beyond its base; under the budget's lock, as what follows. */
	long excess() {
		return excessWith(0, 0);
	}

	/** What the job holds beyond its base of what it loads. */
	long loadExcess() {
		return Math.max(0, this.load - this.base);
	}

	long excessWith(long moreLoad, long moreResults) {
		return Math.max(0, this.load + moreLoad - this.base)
				+ Math.max(0, this.results + moreResults - SMALL_REPORT_BYTES);
	}

	void change(long load, long results) {
		this.load += load;
		this.results += results;
	}

	void closed(boolean closed) {
		this.closed = closed;
	}

	boolean isClosed() {
		return this.closed;
	}

	long load() {
		return this.load;
	}

	long results() {
		return this.results;
	}

}
