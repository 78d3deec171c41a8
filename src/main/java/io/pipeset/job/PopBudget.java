package io.pipeset.job;

import java.time.Duration;

import io.pipeset.record.LimitedPop;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

/**
 * Sees to it that a job takes no more values out of Redis than its report can carry: what
 * was taken exists nowhere else, so a job stops before it takes too much.
 * <p>
 * How large a value is turns out when it is there. So a job asks for few values before it
 * asks for many, and takes those to come to be as large as the largest so far. A pop of
 * several values for which that is not enough leaves in Redis what does not fit.
 */
final class PopBudget {

	/** What a value is taken to be before one was seen. */
	private static final long UNSEEN_BYTES = 64 << 10;

	/** The same where none can be looked at before all of a transaction are asked for. */
	private static final long UNSEEN_IN_TRANSACTION_BYTES = 4 << 10;

	/** The values that may be on their way for each that was seen. */
	private static final int GROWTH = 4;

	/**
	 * The values of one pop, beyond which it is held to the limit by itself, whatever was
	 * seen: larger ones may come all of a sudden.
	 */
	private static final int MOST_AT_ONCE = 16;

	/**
	 * What a value takes in memory beside its bytes, which are there twice for a while.
	 */
	private static final int VALUE_BYTES = 100;

	/** Memory is taken by so much at least. */
	private static final long STEP_BYTES = 64 << 10;

	/** How long memory is waited for before the job takes no more. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final long maxValues;

	private final long maxBytes;

	private final boolean atomic;

	private final long unseenBytes;

	private final Account account;

	private final JobStop stop;

	private final Lanes lanes;

	private final MemoryShare memory;

	/** The memory that was taken for values. */
	private long reserved;

	/** The memory that those take that were there at the last look. */
	private long heldBytes;

	private final String memoryLimit;

	/** Why a pop of many values was limited. */
	private String limit;

	private long taken;

	private long takenBytes;

	/** The values that were asked for, and answered, be it with a nil. */
	private long seen;

	/** Those that were asked for since. */
	private long asked;

	/** The pops that asked for them. */
	private long askedPops;

	/** Whether a pop may have been cut short that nobody has looked at yet. */
	private boolean limited;

	PopBudget(JobLimits limits, JobContext context, Lanes lanes) {
		this.maxValues = limits.maxPopped();
		this.maxBytes = limits.maxPoppedBytes().toBytes();
		this.atomic = context.settings().isAtomic();
		this.unseenBytes = (this.atomic) ? UNSEEN_IN_TRANSACTION_BYTES : UNSEEN_BYTES;
		this.account = context.account();
		this.stop = context.stop();
		this.lanes = lanes;
		this.memory = context.memory();
		this.limit = "pipeset.limits.max-popped-bytes=" + this.maxBytes;
		this.memoryLimit = "the memory that other jobs leave of pipeset.memory.budget=" + this.memory.budget();
	}

	/**
	 * Makes room for what a record may take, if need be by waiting for what is on its
	 * way.
	 * @return {@code false} where the job is to stop instead
	 */
	boolean admits(Record record) {
		if (this.limited && !this.atomic) {
			look();
		}
		if (this.limited && endIfCutShort()) {
			return false;
		}
		return !record.form().takesValues() || admitsPop(record);
	}

	/** Now that the job is through: it needs no more memory than its report. */
	void end() {
		giveBack();
		endIfCutShort();
	}

	/** Stops the job, now that all is answered, where a pop left values for the limit. */
	private boolean endIfCutShort() {
		boolean cutShort = this.account.isCutShort();
		if (cutShort) {
			stop("A pop asked for more values", this.limit);
		}
		this.limited &= this.atomic;
		return cutShort;
	}

	private boolean admitsPop(Record record) {
		boolean counted = record.argumentCount() > 1 && !record.form().keepsValues();
		long wanted = (counted) ? record.number(1) : 1;
		// What a transaction pops is looked at when the transaction is through.
		if (!fits(wanted) || !(this.atomic || (isModest(wanted) && wanted <= MOST_AT_ONCE))) {
			look();
			if (wanted > this.maxValues - this.taken) {
				stop(record.operation() + " would take more", "pipeset.limits.max-popped=" + this.maxValues);
				return false;
			}
			if (this.takenBytes >= this.maxBytes) {
				stop(record.operation() + " would take more", this.limit);
				return false;
			}
		}
		boolean limits = wanted > 1 && !(fits(wanted) && isModest(wanted) && (this.atomic || wanted <= MOST_AT_ONCE));
		boolean isShort = false;
		if (!reserve(memoryFor(wanted, limits))) {
			look();
			long all = memoryFor(wanted, limits);
			isShort = !reserve(all);
			if (isShort && !reserveSome(all)) {
				stop(record.operation() + " would take more", this.memoryLimit);
				return false;
			}
		}
		if (limits || (isShort && wanted > 1)) {
			limit(record, wanted);
		}
		this.asked += wanted;
		this.askedPops++;
		return true;
	}

	/** Has a pop of many values leave those in Redis for which there is no room. */
	private void limit(Record record, long wanted) {
		long allowed = this.maxBytes - expectedBytes(0);
		long memory = (this.reserved - this.heldBytes - VALUE_BYTES * (this.asked + wanted)) / 2
				- this.asked * likelyValueBytes();
		LimitedPop.limit(record, Math.max(0, Math.min(allowed, memory)));
		this.limited = true;
		this.limit = (memory < allowed) ? this.memoryLimit : "pipeset.limits.max-popped-bytes=" + this.maxBytes;
	}

	/** Takes the memory of what was asked for and of what is wanted, if it is free. */
	private boolean reserve(long all) {
		long more = all - this.reserved;
		if (more <= 0) {
			return true;
		}
		long step = Math.max(more, STEP_BYTES);
		boolean taken = this.memory.tryTakeForReport(step);
		this.reserved += (taken) ? step : 0;
		return taken;
	}

	/** Takes as much of it as is free, or waits for that of one value. */
	private boolean reserveSome(long all) {
		long least = Math.max(STEP_BYTES, memoryFor(1, false) - this.reserved);
		long taken = all - this.reserved;
		while (taken > least && !this.memory.takeForReport(taken, 0)) {
			taken /= 2;
		}
		if (taken <= least) {
			taken = least;
			if (!this.memory.takeForReport(least, PATIENCE.toNanos())) {
				return false;
			}
		}
		this.reserved += taken;
		return true;
	}

	/**
	 * The memory of what the job will have taken once it has what it asked for, and more.
	 * @param limited whether the values wanted may be larger than all before
	 */
	private long memoryFor(long wanted, boolean limited) {
		long expected = likelyValueBytes();
		long bytes = this.asked * expected + wanted * ((limited) ? Math.max(expected, UNSEEN_BYTES) : expected);
		return this.heldBytes + (this.asked + wanted) * VALUE_BYTES + (this.askedPops + 1) * this.account.popBytes()
				+ 2 * Math.min(bytes, Math.max(0, this.maxBytes - this.takenBytes));
	}

	/**
	 * Gives back what was taken for values that were smaller, or not there; larger ones
	 * are here already, and count as well.
	 */
	private void giveBack() {
		this.heldBytes = this.account.heldBytes();
		this.memory.correctReport(this.heldBytes - this.reserved);
		this.reserved = this.heldBytes;
	}

	/** Waits until all pops are answered. */
	private void look() {
		this.lanes.drain();
		giveBack();
		this.taken = this.account.taken();
		this.takenBytes = this.account.takenBytes();
		this.seen += this.asked;
		this.asked = 0;
		this.askedPops = 0;
	}

	private boolean fits(long wanted) {
		return wanted <= this.maxValues - this.taken - this.asked && expectedBytes(wanted) <= this.maxBytes;
	}

	/** Whether as many values can be asked for at once, of which few are known. */
	private boolean isModest(long wanted) {
		return this.asked + wanted <= Math.max(1, GROWTH * this.seen);
	}

	/** What the job will have taken once it has what it asked for, and more. */
	private long expectedBytes(long wanted) {
		return this.takenBytes + (this.asked + wanted) * expectedValueBytes(UNSEEN_BYTES);
	}

	/** For memory: the more lists were empty, the less is likely to be needed. */
	private long likelyValueBytes() {
		return expectedValueBytes(this.unseenBytes / Math.max(1, this.seen));
	}

	private long expectedValueBytes(long unseenBytes) {
		long largest = this.account.largestTakenBytes();
		return Math.max(1, (largest == 0 && this.taken == 0) ? unseenBytes : largest);
	}

	private void stop(String asked, String limit) {
		this.stop.because(Cause.STOPPED, asked + " out of Redis than " + limit
				+ " allows one job; what was taken is in this report, and the rest is still in Redis");
	}

}
