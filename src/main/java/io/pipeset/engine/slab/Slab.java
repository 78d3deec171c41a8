package io.pipeset.engine.slab;

import java.util.BitSet;
import java.util.Queue;

import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.Account;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;

/**
 * A group of commands that goes to Redis in one write, and the replies to them. A slab
 * has one owner at a time. The thread that reads the input fills it, and its lane sends
 * it. The connection's event loop owns it while it is in flight, and then the lane
 * settles it.
 */
public final class Slab {

	/** The most bytes in one write. Only a single command may be larger. */
	public static final int MAX_BYTES = 1 << 20;

	/** The most bytes in one transaction. Only a single command may be larger. */
	public static final int MAX_ATOMIC_BYTES = 4 << 20;

	private final Commands commands;

	private final Attempt attempt;

	private final EarlierAttempts earlierAttempts = new EarlierAttempts();

	/** The commands to send again. */
	private final BitSet toResend = new BitSet(0);

	private final SlabSlots slots;

	private boolean waits;

	/** Creates an empty slab that takes memory without a limit. */
	public Slab() {
		this(0, 0, MemoryReservation.UNLIMITED);
	}

	/**
	 * Creates an empty slab with arrays of the expected size. If memory is scarce, the
	 * arrays begin small.
	 * @param commands the number of commands expected
	 * @param bytes the bytes of RESP expected
	 * @param reservation the memory for the slab; the caller may have to wait for the
	 * memory of a small one
	 */
	public Slab(int commands, int bytes, MemoryReservation reservation) {
		this.commands = new Commands(commands, bytes, reservation);
		this.attempt = new Attempt(this.commands, reservation);
		this.slots = new SlabSlots(this.commands, this.attempt, this.toResend);
	}

	/** Whether the slab is too large to keep for reuse. */
	public boolean isLarge() {
		return this.commands.isLarge();
	}

	/** Gives the slab's memory back. The slab must not be used afterwards. */
	public void release() {
		this.attempt.clear();
		this.commands.release();
	}

	/**
	 * Empties the slab for reuse.
	 * @param captureAll whether to keep every reply, even if the outcome does not depend
	 * on it
	 * @param atomic whether the next commands run as one transaction
	 */
	public void clear(boolean captureAll, boolean atomic) {
		this.attempt.setCaptureAll(captureAll);
		this.commands.clear(atomic);
		this.earlierAttempts.clear();
		this.waits = false;
		clearAttempt();
	}

	/**
	 * Adds a record as one command. The slab copies the data that it needs. The first
	 * command may exceed the maximum size.
	 * @param record a valid record
	 * @return {@code false} if the slab would exceed its maximum size, or if there is no
	 * memory for the command
	 */
	public boolean add(Record record) {
		boolean added = this.commands.add(record);
		if (added && record.mayHaveRun()) {
			this.earlierAttempts.addEarlierRun(count() - 1);
		}
		return added;
	}

	/**
	 * Whether a record fits into the slab by size. This does not check for free memory.
	 * @param record a valid record
	 */
	public boolean isOpenFor(Record record) {
		return this.commands.isOpenFor(record);
	}

	/**
	 * Waits for the memory that a record takes in this slab.
	 * @param record a valid record
	 * @throws MemoryLimitException if that memory will never be free
	 */
	public void ensureCapacity(Record record) {
		this.commands.reserve(record);
	}

	/** The number of commands. */
	public int count() {
		return this.commands.count();
	}

	/** The index of the first record in the job. */
	public long firstIndex() {
		return this.commands.table().index(0);
	}

	/** The index of the last record in the job. */
	public long lastIndex() {
		return this.commands.table().index(count() - 1);
	}

	/**
	 * The size of the write before any commands are coalesced: commands, loading of
	 * scripts, MULTI and EXEC.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return this.commands.bytes();
	}

	/** Whether the connection has finished with the slab, answered or not. */
	public boolean isDone() {
		return this.attempt.isDone();
	}

	/**
	 * Whether some commands may have reached Redis.
	 * @return {@code false} if certainly none did
	 */
	public boolean isWritten() {
		return this.attempt.isWritten();
	}

	/**
	 * Whether an earlier attempt, or an earlier run of the job, may have sent some of the
	 * commands.
	 */
	public boolean isSentAgain() {
		return this.earlierAttempts.isAnyWritten();
	}

	/**
	 * Holds the slab back until all earlier commands of its lane are answered, if slots
	 * are moving.
	 */
	public void setWaits() {
		this.waits = true;
	}

	/**
	 * Whether the slab is held back until all earlier commands of its lane are answered,
	 * if slots are moving.
	 */
	public boolean waits() {
		return this.waits;
	}

	/** Whether some commands run scripts that the slab loads. */
	public boolean hasScripts() {
		return this.commands.scripts().count() > 0;
	}

	/**
	 * Ends the transaction with the mark of its lane.
	 * @param value the value of the mark after the last command
	 */
	public void setMark(LaneMark mark, String value) {
		this.commands.setMark(mark, value);
	}

	/**
	 * Reads what the records should have left, instead of writing them. Call this before
	 * the first record.
	 */
	public void verify(Verification verification) {
		this.commands.verify(verification);
	}

	/** The value of the mark of the lane after the last command. */
	public String markValue() {
		return this.commands.markValue();
	}

	/** Whether the mark of the lane was not in Redis before the transaction. */
	public boolean isMarkMissing() {
		return replies().isMarkMissing();
	}

	/** Whether Redis ran the transaction. */
	public boolean hasRun() {
		return isAnswered() && !replies().isDiscarded();
	}

	/** Whether the commands run as one transaction. */
	public boolean isAtomic() {
		return this.commands.areAtomic();
	}

	/**
	 * Whether every command was answered.
	 * @return {@code false} before that, and if the slab was lost
	 */
	public boolean isAnswered() {
		return this.attempt.isAnswered();
	}

	/** Whether some commands may have run, although Redis's reply to them is missing. */
	public boolean isUnknown() {
		return this.attempt.isUnknown();
	}

	/**
	 * How many commands were answered with a value. The count is right only if the slab
	 * keeps the values of all its commands.
	 * @return 0 or more
	 */
	public int values() {
		return replies().notableReplies().values();
	}

	/**
	 * Resolves unknown commands by the values that they took out of Redis. The first
	 * commands without a reply took one value each, in order. The others did not run.
	 * @param values the values of this slab and of later slabs; this method removes the
	 * values of this slab
	 */
	public void resolve(Queue<byte[]> values) {
		this.attempt.resolve(values);
	}

	/**
	 * The errors in Redis's replies.
	 * @return a view that is valid until the next attempt
	 */
	public SlabErrors errors() {
		return this.attempt.errors();
	}

	/**
	 * Lets the next attempt send neighbouring records as one command. This changes
	 * nothing if records are sent again, because each of those is sent by itself.
	 * @param allowed the coalesced commands that the connection allows
	 */
	public void coalesce(Coalescing allowed) {
		if (!isSentAgain()) {
			this.attempt.coalesce(allowed);
		}
	}

	/**
	 * Adds the outcomes of this attempt to the job's account, except for the commands to
	 * send again. Remembers which of those may have run.
	 * @param loss why some commands were not answered; {@code null} if all were
	 */
	public void settle(Account account, @Nullable Loss loss) {
		Loss known = (loss != null) ? loss : Loss.UNEXPLAINED;
		new SlabOutcomes(this, account, known).enter();
		if (isUnknown()) {
			// All of a transaction may have run, even if only a part was answered.
			this.earlierAttempts.add(this.toResend.get(0, this.attempt.count()), (isAtomic()) ? 0 : replies().count(),
					known);
		}
	}

	/** Whether some commands are marked to be sent again. */
	public boolean isResent() {
		return !this.toResend.isEmpty();
	}

	/**
	 * Keeps only the commands to send again, and prepares the next attempt.
	 * @return {@code false} if there are none
	 */
	public boolean retry() {
		this.commands.retain(this.toResend);
		this.earlierAttempts.retain(this.toResend, isWritten());
		clearAttempt();
		return count() > 0;
	}

	/** Logs that the attempt's commands are about to be written. */
	public void sends(OutcomeLog log) {
		for (int command = 0; this.commands.verification() == null && command < this.attempt.count(); command++) {
			log.sent(this.commands.table().index(command));
		}
		log.flush();
		log.requireSafe();
	}

	/** The current attempt, which is all that a connection needs of the slab. */
	public Attempt attempt() {
		return this.attempt;
	}

	/** The cluster slots of the commands. */
	public SlabSlots slots() {
		return this.slots;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.attempt.replies();
	}

	BitSet toResend() {
		return this.toResend;
	}

	/**
	 * How an earlier attempt lost a command, or {@code null} if the command did not run
	 * there.
	 */
	@Nullable Loss earlierLoss(int command) {
		return this.earlierAttempts.of(command);
	}

	/** Notes that a command ran, but that a failover may lose its effect. */
	void addUnconfirmed(int command, Loss why) {
		this.earlierAttempts.add(command, why);
	}

	private void clearAttempt() {
		this.attempt.clear();
		this.toResend.clear();
	}

	@Override
	public String toString() {
		return "slab of " + this.commands + ", " + replies().count() + " answered";
	}

}
