package io.pipeset.job;

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

	/** The values that may be on their way for each that was seen. */
	private static final int GROWTH = 4;

	/**
	 * The values of one pop, beyond which it is held to the limit by itself, whatever was
	 * seen: larger ones may come all of a sudden.
	 */
	private static final int MOST_AT_ONCE = 16;

	private final long maxValues;

	private final long maxBytes;

	private final boolean atomic;

	private final Account account;

	private final JobStop stop;

	private final Lanes lanes;

	private long taken;

	private long takenBytes;

	/** The values that were asked for, and answered, be it with a nil. */
	private long seen;

	/** Those that were asked for since. */
	private long asked;

	/** Whether a pop may have been cut short that nobody has looked at yet. */
	private boolean limited;

	PopBudget(JobLimits limits, JobContext context, Lanes lanes) {
		this.maxValues = limits.maxPopped();
		this.maxBytes = limits.maxPoppedBytes().toBytes();
		this.atomic = context.settings().isAtomic();
		this.account = context.account();
		this.stop = context.stop();
		this.lanes = lanes;
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

	/** Stops the job, now that all is answered, where a pop left values for the limit. */
	boolean endIfCutShort() {
		boolean cutShort = this.account.isCutShort();
		if (cutShort) {
			stop("A pop asked for more values", "max-popped-bytes=" + this.maxBytes);
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
				stop(record.operation() + " would take more", "max-popped=" + this.maxValues);
				return false;
			}
			if (this.takenBytes >= this.maxBytes) {
				stop(record.operation() + " would take more", "max-popped-bytes=" + this.maxBytes);
				return false;
			}
		}
		if (wanted > 1 && !(fits(wanted) && isModest(wanted) && (this.atomic || wanted <= MOST_AT_ONCE))) {
			LimitedPop.limit(record, Math.max(0, this.maxBytes - expectedBytes(0)));
			this.limited = true;
		}
		this.asked += wanted;
		return true;
	}

	/** Waits until all pops are answered. */
	private void look() {
		this.lanes.drain();
		this.taken = this.account.taken();
		this.takenBytes = this.account.takenBytes();
		this.seen += this.asked;
		this.asked = 0;
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
		long largest = this.account.largestTakenBytes();
		return this.takenBytes
				+ (this.asked + wanted) * ((largest == 0 && this.taken == 0) ? UNSEEN_BYTES : Math.max(largest, 1));
	}

	private void stop(String asked, String limit) {
		this.stop.because(Cause.STOPPED, asked + " out of Redis than pipeset.limits." + limit
				+ " allows one job; what was taken is in this report, and the rest is still in Redis");
	}

}
