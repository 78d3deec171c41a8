package io.pipeset.receipt;

import java.time.Duration;
import java.util.Map;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Effect;
import io.pipeset.record.LimitedPop;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

/**
 * Limits the values that a job pops to those that its report can hold. A popped value
 * exists nowhere else, so the job stops before it pops too much.
 * <p>
 * The size of a value is known only after its pop. So a job pops few values before it
 * pops many, and expects the next values to be as large as the largest so far. A pop of
 * several values that may not fit is limited by its bytes, and leaves the other values in
 * Redis.
 */
public final class PopBudget {

	/** The expected size of a value before the first one has arrived. */
	private static final long FIRST_VALUE_BYTES = 64 << 10;

	/**
	 * The same in a transaction, whose pops are all sent before the first value arrives.
	 */
	private static final long FIRST_VALUE_IN_TRANSACTION_BYTES = 4 << 10;

	/** How many values may be in flight for each value that has arrived. */
	private static final int MAX_GROWTH = 4;

	/** A pop of more values is always limited; they may suddenly be larger. */
	private static final int MAX_UNLIMITED = 16;

	/** The memory of a value in addition to its bytes, which exist twice for a while. */
	private static final int VALUE_BYTES = 100;

	/**
	 * The divisor of the shared memory that values in flight may take; a single job may
	 * get half of the shared memory.
	 */
	private static final int IN_FLIGHT_DIVISOR = 8;

	/** The least memory that is reserved at once. */
	private static final long STEP_BYTES = 64 << 10;

	/** How long the job waits for memory before it stops. */
	private static final Duration MAX_MEMORY_WAIT = Duration.ofSeconds(10);

	/** The values of one element, for operations whose second argument is how many. */
	private static final Map<String, Integer> VALUES_OF_POPS = Map.of("SPOP", 1, "ZPOPMIN", 2, "ZPOPMAX", 2);

	private final long maxValues;

	private final long maxBytes;

	private final boolean atomic;

	private final long firstValueBytes;

	private final Account account;

	private final JobStop stop;

	private final Lanes lanes;

	private final MemoryShare memory;

	/** The memory that is reserved for values. */
	private long reserved;

	/** The memory of the values that had arrived when the lanes were last drained. */
	private long heldBytes;

	private final String memoryLimit;

	/** The limit that the last limited pop had, for messages. */
	private String limit;

	/** The values popped before the lanes were last drained. */
	private long taken;

	/** The bytes of these values. */
	private long takenBytes;

	/** The requested values whose replies have arrived, including nils. */
	private long arrived;

	/** The values requested since the lanes were last drained. */
	private long requested;

	/** The pops that requested these values. */
	private long requestedPops;

	/** Whether a pop was limited since the lanes were last drained. */
	private boolean limited;

	/**
	 * The budget of a job.
	 * @param maxValues the most values that the job may pop
	 * @param maxBytes the most bytes of these values
	 * @param context the account, the stop and the settings of the job
	 * @param lanes the lanes of the pops, drained before their replies are counted
	 */
	public PopBudget(long maxValues, long maxBytes, LaneContext context, Lanes lanes, MemoryShare memory) {
		this.maxValues = maxValues;
		this.maxBytes = maxBytes;
		this.atomic = context.settings().atomic();
		this.firstValueBytes = (this.atomic) ? FIRST_VALUE_IN_TRANSACTION_BYTES : FIRST_VALUE_BYTES;
		this.account = context.account();
		this.stop = context.stop();
		this.lanes = lanes;
		this.memory = memory;
		this.limit = "pipeset.limits.max-popped-bytes=" + this.maxBytes;
		this.memoryLimit = "the memory that other jobs leave of pipeset.memory.budget=" + this.memory.budget();
	}

	/**
	 * Reserves memory for the values that a record may pop. If necessary, waits for the
	 * pops in flight, or limits the record.
	 * @param record a valid record
	 * @return {@code false} if the job is stopped instead
	 */
	public boolean admits(Record record) {
		if (this.limited && !this.atomic) {
			drain();
		}
		if (this.limited && stopIfCutShort()) {
			return false;
		}
		if (!this.account.wantsValues()) {
			record.forgoValues();
		}
		return (record.effect() == Effect.DESCRIBED) ? admitsDescribed(record)
				: !record.effect().isPop() || admitsPop(record);
	}

	/**
	 * Makes room for the strings that an operation may return that only the server
	 * describes: one, or as many as a pop of a set asks for.
	 */
	private boolean admitsDescribed(Record record) {
		Integer values = VALUES_OF_POPS.get(record.operation().toString());
		long count = (values != null && record.argumentCount() > 1) ? record.number(1) : 1;
		long wanted = ((values != null) ? values : 1) * Math.max(1, Math.min(count, Integer.MAX_VALUE));
		if (!fits(wanted) || !(this.atomic || isWithinGrowth(wanted))) {
			drain();
			if (!hasRoom(record, wanted)) {
				return false;
			}
		}
		if (!reserve(memoryFor(wanted, false))) {
			drain();
			long all = memoryFor(wanted, false);
			if (!reserve(all) && !reserveSome(all)) {
				stop(record.operation() + " would take more", this.memoryLimit);
				return false;
			}
		}
		this.requested += wanted;
		this.requestedPops++;
		return true;
	}

	/** Stops the job if a record may take more than the limits allow. */
	private boolean hasRoom(Record record, long wanted) {
		if (wanted > this.maxValues - this.taken) {
			stop(record.operation() + " would take more", "pipeset.limits.max-popped=" + this.maxValues);
			return false;
		}
		if (this.takenBytes >= this.maxBytes) {
			stop(record.operation() + " would take more", this.limit);
			return false;
		}
		return true;
	}

	/** Releases the memory that the report does not need, because the job has ended. */
	public void end() {
		correctReservation();
		stopIfCutShort();
	}

	/** Stops the job if a limited pop left values; called after all replies. */
	private boolean stopIfCutShort() {
		boolean cutShort = this.account.taken().isCutShort();
		if (cutShort) {
			stop("A pop requested more values", this.limit);
		}
		this.limited &= this.atomic;
		return cutShort;
	}

	private boolean admitsPop(Record record) {
		boolean counted = record.argumentCount() > 1 && !record.effect().keepsValues();
		long wanted = (counted) ? record.number(1) : 1;
		// The values of a transaction are looked at when the transaction is through.
		if (!fits(wanted) || !(this.atomic || (isWithinGrowth(wanted) && wanted <= MAX_UNLIMITED))) {
			drain();
			if (!hasRoom(record, wanted)) {
				return false;
			}
		}
		boolean limits = wanted > 1
				&& !(fits(wanted) && isWithinGrowth(wanted) && (this.atomic || wanted <= MAX_UNLIMITED));
		boolean isShort = false;
		if (crowdsReport(wanted, limits) || !reserve(memoryFor(wanted, limits))) {
			drain();
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
		this.requested += wanted;
		this.requestedPops++;
		return true;
	}

	/** Limits the bytes of a pop; it leaves other values in Redis. */
	private void limit(Record record, long wanted) {
		long allowed = this.maxBytes - expectedBytes(0);
		long memory = (this.reserved - this.heldBytes - VALUE_BYTES * (this.requested + wanted)) / 2
				- this.requested * likelyValueBytes();
		LimitedPop.limit(record, Math.max(0, Math.min(allowed, memory)));
		this.limited = true;
		this.limit = (memory < allowed) ? this.memoryLimit : "pipeset.limits.max-popped-bytes=" + this.maxBytes;
	}

	/**
	 * Whether the reservation for values in flight would take memory that the report
	 * needs for other records. Draining the lanes releases most of it.
	 */
	private boolean crowdsReport(long wanted, boolean limited) {
		return !this.atomic && this.requested > 0
				&& memoryFor(wanted, limited) - this.heldBytes > this.memory.shared() / IN_FLIGHT_DIVISOR;
	}

	/** Reserves memory up to a total, if so much is free. */
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

	/** Reserves as much of a total as is free, or waits for the memory of one value. */
	private boolean reserveSome(long all) {
		long least = Math.max(STEP_BYTES, memoryFor(1, false) - this.reserved);
		long taken = all - this.reserved;
		while (taken > least && !this.memory.takeForReport(taken, 0)) {
			taken /= 2;
		}
		if (taken <= least) {
			taken = least;
			if (!this.memory.takeForReport(least, MAX_MEMORY_WAIT.toNanos())) {
				return false;
			}
		}
		this.reserved += taken;
		return true;
	}

	/**
	 * The memory for all values of the job: those that have arrived, those in flight, and
	 * some more.
	 * @param wanted how many more
	 * @param limited whether these may be larger than all values before
	 */
	private long memoryFor(long wanted, boolean limited) {
		long expected = likelyValueBytes();
		long bytes = this.requested * expected
				+ wanted * ((limited) ? Math.max(expected, FIRST_VALUE_BYTES) : expected);
		return this.heldBytes + (this.requested + wanted) * VALUE_BYTES
				+ (this.requestedPops + 1) * this.account.taken().popBytes()
				+ 2 * Math.min(bytes, Math.max(0, this.maxBytes - this.takenBytes));
	}

	/**
	 * Corrects the reservation to the memory of the values that have arrived, which may
	 * be smaller or larger than expected.
	 */
	private void correctReservation() {
		this.heldBytes = this.account.taken().heldBytes();
		this.memory.correctReport(this.heldBytes - this.reserved);
		this.reserved = this.heldBytes;
	}

	/** Waits for the replies of all pops, and counts their values. */
	private void drain() {
		this.lanes.drain();
		correctReservation();
		this.taken = this.account.taken().count();
		this.takenBytes = this.account.taken().bytes();
		this.arrived += this.requested;
		this.requested = 0;
		this.requestedPops = 0;
	}

	private boolean fits(long wanted) {
		return wanted <= this.maxValues - this.taken - this.requested && expectedBytes(wanted) <= this.maxBytes;
	}

	/** Whether so many values may be in flight, compared with those that have arrived. */
	private boolean isWithinGrowth(long wanted) {
		return this.requested + wanted <= Math.max(1, MAX_GROWTH * this.arrived);
	}

	/** The bytes of all values of the job, including those in flight and some more. */
	private long expectedBytes(long wanted) {
		return this.takenBytes + (this.requested + wanted) * expectedValueBytes(FIRST_VALUE_BYTES);
	}

	/**
	 * The expected size of a value when memory is reserved. Before the first value, it
	 * falls with each nil, because empty lists need no memory.
	 */
	private long likelyValueBytes() {
		return expectedValueBytes(this.firstValueBytes / Math.max(1, this.arrived));
	}

	private long expectedValueBytes(long firstValueBytes) {
		long largest = this.account.taken().largestBytes();
		return Math.max(1, (largest == 0 && this.taken == 0) ? firstValueBytes : largest);
	}

	private void stop(String requested, String limit) {
		this.stop.stop(Cause.STOPPED, requested + " out of Redis than " + limit
				+ " allows one job; the values popped so far are in this report, and the others are still in Redis"
				+ ((this.account.taken().areSeparate()) ? ""
						: ". With results=none values are not kept, and have no limit"));
	}

}
