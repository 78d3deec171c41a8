package io.pipeset.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.SlabMemory;
import io.pipeset.memory.MemoryBudget.Change;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The memory that one job holds: its load until its last slab is freed, and its report
 * until its response is written.
 */
public final class MemoryShare implements SlabMemory, AutoCloseable {

	/** The bytes of a report that do not count: threads bound the reports. */
	private static final long SMALL_REPORT_BYTES = 16 << 10;

	private final MemoryBudget budget;

	private final JobStop stop;

	private final BodyWaitTime bodyWait = new BodyWaitTime();

	private long waitStart;

	/** The job with the exclusive part for which this job waits; {@code null} if none. */
	private @Nullable MemoryShare awaited;

	/** The body wait of the awaited job when this wait began, in nanoseconds. */
	private long holderWaitBefore;

	/** Slabs in use; each is freed after it was sent. */
	private final AtomicInteger slabs = new AtomicInteger();

	private Runnable beforeWait = () -> {
	};

	private final long base;

	private long load;

	private long results;

	/**
	 * Whether the response was written; memory taken afterwards would never be released.
	 */
	private boolean closed;

	/** Whether the reading thread waits for memory, or is about to. */
	private volatile boolean waiting;

	MemoryShare(MemoryBudget budget, JobStop stop) {
		this.budget = budget;
		this.stop = stop;
		this.base = budget.limits().base();
	}

	/**
	 * Sets the task that the reading thread runs before it waits for memory.
	 * @param task frees memory: it sends partly filled slabs, and gives up spare slabs
	 */
	public void beforeWait(Runnable task) {
		this.beforeWait = task;
	}

	@Override
	public boolean tryReserve(long bytes) {
		return this.budget.tryChange(this, bytes, 0);
	}

	@Override
	public void reserve(long bytes) {
		if (tryReserve(bytes)) {
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
		this.waiting = true;
		try {
			this.beforeWait.run();
			return this.budget.awaitChange(this, bytes, 0, Long.MAX_VALUE / 2);
		}
		finally {
			this.waiting = false;
		}
	}

	@Override
	public void release(long bytes) {
		if (bytes != 0) {
			this.budget.tryChange(this, -bytes, 0);
		}
	}

	@Override
	public boolean isScarce() {
		return this.waiting || this.budget.isScarce();
	}

	/**
	 * Takes memory for the report, if there is enough.
	 * @return {@code false} if nothing was taken
	 */
	public boolean tryTakeForReport(long bytes) {
		return this.budget.tryChange(this, 0, bytes);
	}

	/**
	 * Takes memory for the report, and waits for it if necessary.
	 * @param nanos how long to wait at most
	 * @return {@code false} if nothing was taken
	 */
	public boolean takeForReport(long bytes, long nanos) {
		return this.budget.awaitChange(this, 0, bytes, nanos) == Change.MADE;
	}

	/**
	 * Corrects the memory of the report to what the report holds.
	 * @param bytes the bytes that it holds beyond those taken; negative for fewer
	 */
	public void correctReport(long bytes) {
		this.budget.correct(this, bytes);
	}

	/** The memory that the report holds, in bytes. */
	public long reportBytes() {
		return this.budget.results(this);
	}

	/**
	 * The memory budget of the service, for messages.
	 * @return bytes
	 */
	public long budget() {
		return this.budget.limits().budget();
	}

	/**
	 * The memory that jobs may take beyond their base.
	 * @return bytes
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

	/** Starts a wait of the reading thread for the body. */
	public void startBodyWait() {
		this.bodyWait.begin();
	}

	/** Ends a wait of the reading thread for the body. */
	public void endBodyWait() {
		this.bodyWait.end();
	}

	/** Starts a wait for memory; called under the budget's lock. */
	void startWait() {
		this.waitStart = System.nanoTime();
	}

	/** Whether the waiting job has waited for so long; called under the budget's lock. */
	boolean hasWaited(long nanos) {
		return System.nanoTime() - this.waitStart >= nanos;
	}

	/**
	 * Sets the job that has the exclusive part, for which this job waits; called under
	 * the budget's lock.
	 * @param holder the job; {@code null} for none
	 */
	void setAwaited(@Nullable MemoryShare holder) {
		if (this.awaited != holder) {
			this.awaited = holder;
			this.holderWaitBefore = (holder != null) ? holder.bodyWait.nanos() : 0;
		}
	}

	/**
	 * How long the awaited job has waited for its body since this job waits for it, in
	 * nanoseconds; 0 if the awaited job is stopped.
	 */
	long holderWaitNanos() {
		MemoryShare holder = this.awaited;
		return (holder == null || holder.stop.isSet()) ? 0 : holder.bodyWait.nanos() - this.holderWaitBefore;
	}

	/** Ends the job, because others need the memory that it holds. */
	void evict(Duration idleTimeout) {
		this.stop.stop(Cause.STALLED,
				"The job waited for the body of a large record for more than " + DurationText.of(idleTimeout)
						+ " (pipeset.limits.body-idle-timeout), while it held memory that other jobs need"
						+ " (pipeset.memory.budget=" + budget() + "). The records before it have run");
	}

	/** Releases the load of the job: it holds only its report. */
	public void endLoad() {
		this.budget.end(this, true);
	}

	/** Releases all memory, because the response was written. */
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
	 * The bytes that the job holds beyond its base. This method and those below are
	 * called under the budget's lock.
	 */
	long excess() {
		return excessWith(0, 0);
	}

	/** The bytes of the load beyond the base. */
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

	void setClosed(boolean closed) {
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
