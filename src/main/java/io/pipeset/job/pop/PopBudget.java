package io.pipeset.job.pop;

import java.time.Duration;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.record.LimitedPop;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

/**
 * Lets a job take no more values out of Redis than its report can carry. A value that was
 * taken exists nowhere else, so the job stops before it takes too much.
 * <p>
 * The size of a value is known only when it is here. So a job asks for few values before
 * it asks for many, and expects the next ones to be as large as the largest so far. A pop
 * of several values that may not fit leaves the values in Redis for which there is no
 * room.
 */
public final class PopBudget {

	/** The size that a value is expected to have before one was seen. */
	private static final long UNSEEN_BYTES = 64 << 10;

	/**
	 * The same in a transaction, whose values are all asked for before one of them is
	 * here.
	 */
	private static final long UNSEEN_IN_TRANSACTION_BYTES = 4 << 10;

	/** The number of values that may be on their way for each that was seen. */
	private static final int GROWTH = 4;

	/**
	 * A pop of more values than this is held to the limit by itself, whatever was seen
	 * before: larger values may come all of a sudden.
	 */
	private static final int MOST_AT_ONCE = 16;

	/**
	 * The memory of a value beside its bytes, which are there twice for a while.
	 */
	private static final int VALUE_BYTES = 100;

	/**
	 * Values on their way may take one in so many of the bytes that jobs share; a job
	 * that is alone gets half of them.
	 */
	private static final int PART_ON_THE_WAY = 8;

	/** The least memory that is taken at once. */
	private static final long STEP_BYTES = 64 << 10;

	/** How long the job waits for memory before it stops. */
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

	/** The memory of the values that were here at the last look. */
	private long heldBytes;

	private final String memoryLimit;

	/** The limit that a pop of many values was held to, for messages. */
	private String limit;

	private long taken;

	private long takenBytes;

	/** The values that were asked for and answered, even with a nil. */
	private long seen;

	/** The values that were asked for since the last look. */
	private long asked;

	/** The pops that asked for these. */
	private long askedPops;

	/** Whether a pop was limited since the last look, and so may have been cut short. */
	private boolean limited;

	/**
	 * Begins with nothing taken.
	 * @param context the job's account, its stop, and whether its batches are
	 * transactions
	 * @param lanes the lanes that pops go into, which are drained before a look at the
	 * answers
	 */
	public PopBudget(long maxValues, long maxBytes, LaneContext context, Lanes lanes, MemoryShare memory) {
		this.maxValues = maxValues;
		this.maxBytes = maxBytes;
		this.atomic = context.settings().atomic();
		this.unseenBytes = (this.atomic) ? UNSEEN_IN_TRANSACTION_BYTES : UNSEEN_BYTES;
		this.account = context.account();
		this.stop = context.stop();
		this.lanes = lanes;
		this.memory = memory;
		this.limit = "pipeset.limits.max-popped-bytes=" + this.maxBytes;
		this.memoryLimit = "the memory that other jobs leave of pipeset.memory.budget=" + this.memory.budget();
	}

	/**
	 * Makes room for the values that a record may take, if need be by waiting for pops
	 * that are on their way.
	 * @param record a good record
	 * @return {@code false} if the job is to stop instead
	 */
	public boolean admits(Record record) {
		if (this.limited && !this.atomic) {
			look();
		}
		if (this.limited && endIfCutShort()) {
			return false;
		}
		if (!this.account.wantsValues()) {
			record.forgoValues();
		}
		return !record.effect().takesValues() || admitsPop(record);
	}

	/** The job is through, and needs no more memory than its report. */
	public void end() {
		giveBack();
		endIfCutShort();
	}

	/**
	 * Stops the job, once all pops are answered, if one of them left values in Redis
	 * because of the limit.
	 */
	private boolean endIfCutShort() {
		boolean cutShort = this.account.taken().isCutShort();
		if (cutShort) {
			stop("A pop asked for more values", this.limit);
		}
		this.limited &= this.atomic;
		return cutShort;
	}

	private boolean admitsPop(Record record) {
		boolean counted = record.argumentCount() > 1 && !record.effect().keepsValues();
		long wanted = (counted) ? record.number(1) : 1;
		// The values of a transaction are looked at when the transaction is through.
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
		if (crowdsReport(wanted, limits) || !reserve(memoryFor(wanted, limits))) {
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

	/** Has a pop of many values leave the values in Redis for which there is no room. */
	private void limit(Record record, long wanted) {
		long allowed = this.maxBytes - expectedBytes(0);
		long memory = (this.reserved - this.heldBytes - VALUE_BYTES * (this.asked + wanted)) / 2
				- this.asked * likelyValueBytes();
		LimitedPop.limit(record, Math.max(0, Math.min(allowed, memory)));
		this.limited = true;
		this.limit = (memory < allowed) ? this.memoryLimit : "pipeset.limits.max-popped-bytes=" + this.maxBytes;
	}

	/**
	 * Whether the values on their way would take memory that the other records need, to
	 * be listed, and most of which comes back with a look.
	 */
	private boolean crowdsReport(long wanted, boolean limited) {
		return !this.atomic && this.asked > 0
				&& memoryFor(wanted, limited) - this.heldBytes > this.memory.shared() / PART_ON_THE_WAY;
	}

	/** Takes memory until the job has as much as it needs in all, if so much is free. */
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

	/** Takes as much of that memory as is free, or waits for the memory of one value. */
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
	 * The memory of all values of the job, with those it asked for and some more.
	 * @param limited whether the values wanted may be larger than all before
	 */
	private long memoryFor(long wanted, boolean limited) {
		long expected = likelyValueBytes();
		long bytes = this.asked * expected + wanted * ((limited) ? Math.max(expected, UNSEEN_BYTES) : expected);
		return this.heldBytes + (this.asked + wanted) * VALUE_BYTES
				+ (this.askedPops + 1) * this.account.taken().popBytes()
				+ 2 * Math.min(bytes, Math.max(0, this.maxBytes - this.takenBytes));
	}

	/**
	 * Gives back the memory of values that were smaller than expected, or did not exist.
	 * Values that were larger are here already, and count as well.
	 */
	private void giveBack() {
		this.heldBytes = this.account.taken().heldBytes();
		this.memory.correctReport(this.heldBytes - this.reserved);
		this.reserved = this.heldBytes;
	}

	/** Waits until all pops are answered. */
	private void look() {
		this.lanes.drain();
		giveBack();
		this.taken = this.account.taken().count();
		this.takenBytes = this.account.taken().bytes();
		this.seen += this.asked;
		this.asked = 0;
		this.askedPops = 0;
	}

	private boolean fits(long wanted) {
		return wanted <= this.maxValues - this.taken - this.asked && expectedBytes(wanted) <= this.maxBytes;
	}

	/**
	 * Whether so many values may be asked for at once, considering how many were seen.
	 */
	private boolean isModest(long wanted) {
		return this.asked + wanted <= Math.max(1, GROWTH * this.seen);
	}

	/**
	 * The bytes that the job will have taken with the values it asked for and some more.
	 */
	private long expectedBytes(long wanted) {
		return this.takenBytes + (this.asked + wanted) * expectedValueBytes(UNSEEN_BYTES);
	}

	/**
	 * The size for which memory is taken: the more lists were empty, the less is likely
	 * to be needed.
	 */
	private long likelyValueBytes() {
		return expectedValueBytes(this.unseenBytes / Math.max(1, this.seen));
	}

	private long expectedValueBytes(long unseenBytes) {
		long largest = this.account.taken().largestBytes();
		return Math.max(1, (largest == 0 && this.taken == 0) ? unseenBytes : largest);
	}

	private void stop(String asked, String limit) {
		this.stop.because(Cause.STOPPED,
				asked + " out of Redis than " + limit
						+ " allows one job; what was taken is in this report, and the rest is still in Redis"
						+ ((this.account.taken().areApart()) ? ""
								: ". With results=none values are not kept, and count for no limit"));
	}

}
