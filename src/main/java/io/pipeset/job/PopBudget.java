package io.pipeset.job;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

/**
 * Sees to it that a job takes no more values out of Redis than its report can carry: what
 * was taken exists nowhere else, so a job stops before it takes too much.
 */
final class PopBudget {

	/** What a value is taken to be before one was seen. */
	private static final long UNSEEN_BYTES = 64 << 10;

	private final long maxValues;

	private final long maxBytes;

	private final Account account;

	private final JobStop stop;

	private final Lanes lanes;

	private long taken;

	private long asked;

	PopBudget(JobLimits limits, JobContext context, Lanes lanes) {
		this.maxValues = limits.maxPopped();
		this.maxBytes = limits.maxPoppedBytes().toBytes();
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
		if (!record.form().takesValues()) {
			return true;
		}
		boolean counted = record.argumentCount() > 1 && !record.form().keepsValues();
		long wanted = (counted) ? record.number(1) : 1;
		if (!fits(wanted)) {
			this.lanes.drain();
			this.taken = this.account.taken();
			this.asked = 0;
			if (wanted > this.maxValues - this.taken) {
				stop(record.operation(), "max-popped=" + this.maxValues);
				return false;
			}
			if (this.account.takenBytes() >= this.maxBytes) {
				stop(record.operation(), "max-popped-bytes=" + this.maxBytes);
				return false;
			}
		}
		this.asked += wanted;
		return true;
	}

	private boolean fits(long wanted) {
		long largest = Math.max(this.account.largestTakenBytes(), (this.account.taken() == 0) ? UNSEEN_BYTES : 1);
		return wanted <= this.maxValues - this.taken - this.asked
				&& this.account.takenBytes() + (this.asked + wanted) * largest <= this.maxBytes;
	}

	private void stop(Operation operation, String limit) {
		this.stop.because(Cause.STOPPED, operation + " would take more out of Redis than pipeset.limits." + limit
				+ " allows one job; what was taken is in this report, and the rest is still in Redis");
	}

}
