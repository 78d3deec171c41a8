package io.pipeset.job.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.SlabMemory;
import io.pipeset.job.memory.MemoryBudget.Change;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The share of one job in the service's memory: the load, until its last slab is through,
 * and the results in its report, until its answer is written.
 */
public final class MemoryShare implements SlabMemory, AutoCloseable {

	/**
	 * The bytes of a report that are not counted: there are no more reports than threads.
	 */
	private static final long SMALL_REPORT_BYTES = 16 << 10;

	private final MemoryBudget budget;

	private final JobStop stop;

	private final BodyWaitTime pauses = new BodyWaitTime();

	private long waitsSince;

	/** The job with the exclusive part, for which this job waits. */
	private @Nullable MemoryShare awaited;

	/** The time that the awaited job had waited for its body when this wait began. */
	private long pausedBefore;

	/** Slabs in use, each of which comes back by itself once it is sent. */
	private final AtomicInteger slabs = new AtomicInteger();

	private Runnable beforeWait = () -> {
	};

	private final long base;

	private long load;

	private long results;

	/**
	 * Whether the answer is written, after which memory that is taken would never come
	 * back.
	 */
	private boolean closed;

	/** Whether the reading thread waits, or is about to. */
	private volatile boolean waits;

	MemoryShare(MemoryBudget budget, JobStop stop) {
		this.budget = budget;
		this.stop = stop;
		this.base = budget.limits().base();
	}

	/**
	 * Sets the task that the reading thread runs before it waits.
	 * @param task sends the slabs that have been begun and gives up those that are kept
	 * for later, both of which hold memory
	 */
	public void beforeWait(Runnable task) {
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
			throw new MemoryLimitException("the record takes " + bytes
					+ " bytes of memory at once; pipeset.memory.budget=" + this.budget.limits().budget()
					+ " allows one job no more than " + this.budget.limits().mostOfOneJob());
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
	 * @return {@code false} if nothing was taken
	 */
	public boolean tryTakeForReport(long bytes) {
		return this.budget.tryChange(this, 0, bytes);
	}

	/**
	 * Takes memory for the report, for which the reading thread may wait.
	 * @return {@code false} if nothing was taken
	 */
	public boolean takeForReport(long bytes, long nanos) {
		return this.budget.awaitChange(this, 0, bytes, nanos) == Change.MADE;
	}

	/**
	 * Corrects the memory that was taken for the report.
	 * @param bytes the bytes that the report holds beyond those taken; negative for fewer
	 */
	public void correctReport(long bytes) {
		this.budget.correct(this, bytes);
	}

	/** The memory that the report holds. */
	public long reportBytes() {
		return this.budget.results(this);
	}

	/**
	 * The budget that this is a share of, for messages.
	 * @return its size in bytes
	 */
	public long budget() {
		return this.budget.limits().budget();
	}

	/**
	 * The memory that jobs may take beyond what each has for itself.
	 * @return its size in bytes
	 */
	public long shared() {
		return this.budget.limits().shared();
	}

	@Override
	public void slabTaken() {
		this.slabs.incrementAndGet();
	}

	@Override
	public void slabFreed() {
		this.slabs.decrementAndGet();
		this.budget.wake();
	}

	/** The reading thread waits for the body. */
	public void bodyPauses() {
		this.pauses.begin();
	}

	/** The reading thread has waited for the body. */
	public void bodyGoesOn() {
		this.pauses.end();
	}

	/** The job begins to wait for memory; under the budget's lock. */
	void beginsToWait() {
		this.waitsSince = System.nanoTime();
	}

	/** Whether the job, which waits, has done so for long; under the budget's lock. */
	boolean hasWaited(long nanos) {
		return System.nanoTime() - this.waitsSince >= nanos;
	}

	/**
	 * The job waits for the exclusive part; under the budget's lock.
	 * @param holder the job that has it, or {@code null}
	 */
	void awaits(@Nullable MemoryShare holder) {
		if (this.awaited != holder) {
			this.awaited = holder;
			this.pausedBefore = (holder != null) ? holder.pauses.nanos() : 0;
		}
	}

	/**
	 * The time that the awaited job has spent waiting for its body since this job waits
	 * for it, in nanoseconds; 0 once the awaited job is stopped.
	 */
	long pausedWhileAwaited() {
		MemoryShare holder = this.awaited;
		return (holder == null || holder.stop.isSet()) ? 0 : holder.pauses.nanos() - this.pausedBefore;
	}

	/** Ends the job, as others need the memory that it holds while it waits. */
	void evict(Duration patience) {
		this.stop.because(Cause.STALLED,
				"The upload of a large record took more than " + DurationText.of(patience)
						+ " (pipeset.limits.body-idle-timeout) of waiting for it, while it held memory that other"
						+ " jobs need (pipeset.memory.budget=" + budget() + "); what had been read before, ran");
	}

	/** The job has ended: it holds no more than its report. */
	public void endLoad() {
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

	/**
	 * The bytes that the job holds beyond its base. Called under the budget's lock, as
	 * are the methods below.
	 */
	long excess() {
		return excessWith(0, 0);
	}

	/** The bytes that the job loads beyond its base. */
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
