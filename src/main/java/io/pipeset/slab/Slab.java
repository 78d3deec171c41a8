package io.pipeset.slab;

import java.util.BitSet;
import java.util.Queue;

import io.pipeset.record.NoRoomException;
import io.pipeset.record.Record;
import io.pipeset.record.Room;
import io.pipeset.report.Account;
import org.jspecify.annotations.Nullable;

/**
 * Commands that are written at once, and what Redis answered. Filled by the thread that
 * reads, then owned by its lane, by the connection's event loop while it is on its way,
 * and by the lane again, which hands it back to be filled anew.
 */
public final class Slab {

	/** The bytes in one write, at most, but for a single command that is larger. */
	public static final int MAX_BYTES = 1 << 20;

	/** The bytes in one transaction, at most, but for a single command that is larger. */
	public static final int MAX_ATOMIC_BYTES = 4 << 20;

	private final Commands commands;

	private final Attempt attempt;

	private final LostAttempts lostAttempts = new LostAttempts();

	/** Which commands are to be sent again. */
	private final BitSet again = new BitSet(0);

	/** A slab that grows as it is filled. */
	public Slab() {
		this(0, 0, Room.UNLIMITED);
	}

	/**
	 * A slab with room from the start.
	 * @param commands how many are expected
	 * @param bytes their size
	 * @param room where its memory is taken, if need be after a wait for that of an empty
	 * slab
	 */
	public Slab(int commands, int bytes, Room room) {
		this.commands = new Commands(commands, bytes, room);
		this.attempt = new Attempt(this.commands, room);
	}

	/**
	 * Whether it is too large to be kept for later.
	 * @return {@code false} for nearly all
	 */
	public boolean isLarge() {
		return this.commands.isLarge();
	}

	/** Gives its memory back; after that it is not used any more. */
	public void release() {
		this.attempt.clear();
		this.commands.release();
	}

	/**
	 * Forgets all, to be filled anew.
	 * @param captureAll whether to keep every reply, and not only what tells an outcome
	 * @param atomic whether its commands are to run as one transaction
	 */
	public void clear(boolean captureAll, boolean atomic) {
		this.attempt.captureAll(captureAll);
		this.commands.clear(atomic);
		this.lostAttempts.clear();
		forgetAttempt();
	}

	/**
	 * Adds a record as one command, of which nothing is kept but copies.
	 * @param record a good record
	 * @return {@code false} where it would go beyond the size of a write, which the first
	 * never does, or where there is no memory for it
	 */
	public boolean add(Record record) {
		return this.commands.add(record);
	}

	/**
	 * Waits for the memory that a record takes in this slab, which is empty.
	 * @param record a good record
	 * @throws NoRoomException if there will be none
	 */
	public void makeRoom(Record record) {
		this.commands.makeRoom(record);
	}

	/**
	 * The commands in it.
	 * @return 0 or more
	 */
	public int count() {
		return this.commands.count();
	}

	/**
	 * The place of its first record in the job.
	 * @return the index, which grows in the order in which a lane sends
	 */
	public long firstIndex() {
		return this.commands.table().index(0);
	}

	/**
	 * The place of its last record in the job.
	 * @return the index, that of the first record or higher
	 */
	public long lastIndex() {
		return this.commands.table().index(count() - 1);
	}

	/**
	 * The size of the commands in it, and of the scripts they run.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return this.commands.bytes();
	}

	/**
	 * Whether it came back from its connection, answered or not.
	 * @return {@code false} until then
	 */
	public boolean isDone() {
		return this.attempt.isDone();
	}

	/**
	 * Whether some of it may have reached Redis.
	 * @return {@code false} where it certainly did not
	 */
	public boolean isWritten() {
		return this.attempt.isWritten();
	}

	/**
	 * Whether its commands run as one transaction.
	 * @return {@code false} where each runs by itself
	 */
	public boolean isAtomic() {
		return this.commands.areAtomic();
	}

	/**
	 * Whether every command was answered.
	 * @return {@code false} until then, and for a slab that was lost
	 */
	public boolean isAnswered() {
		return this.attempt.isAnswered();
	}

	/**
	 * Whether some of it may have run, this time, without an answer.
	 * @return {@code false} where everything is known of this attempt
	 */
	public boolean isUnknown() {
		return this.attempt.isUnknown();
	}

	/**
	 * How many commands were answered with a value.
	 * @return 0 or more; only for commands all of whose values are kept
	 */
	public int values() {
		return replies().values();
	}

	/**
	 * Resolves what is unknown, by the values that it turns out to have taken: the first
	 * commands without an answer took them in order, and the others did not run.
	 * @param values the values of this slab and of those sent after it; what is this
	 * slab's is removed
	 */
	public void resolve(Queue<byte[]> values) {
		this.attempt.resolve(values);
	}

	/**
	 * The one error code that Redis gave to all commands.
	 * @return the error's first word, or {@code null} where they differ or some ran
	 */
	public @Nullable String soleError() {
		return errors().soleCode();
	}

	/**
	 * An error that says of a command that it did not run, and may later.
	 * @return the first such error's code, or {@code null}
	 */
	public @Nullable String passingError() {
		return (replies().errors() > 0) ? errors().passingCode() : null;
	}

	/**
	 * Enters what became of every command, but for those that are to be sent again, and
	 * remembers which of these may have run.
	 * @param account the job's account
	 * @param loss why commands were not answered, where some were not
	 */
	public void settle(Account account, @Nullable Loss loss) {
		Loss known = (loss != null) ? loss : Loss.UNEXPLAINED;
		new SlabOutcomes(this, account, known).enter();
		if (isUnknown()) {
			// A transaction may have run as a whole, of which only a part was heard.
			int from = (isAtomic()) ? 0 : replies().count();
			this.again.stream()
				.filter((command) -> command >= from)
				.forEach((lost) -> this.lostAttempts.add(lost, known));
		}
	}

	/**
	 * Forgets all but what is to be sent again, and makes that ready to be sent.
	 * @return {@code false} where nothing is
	 */
	public boolean retry() {
		this.commands.retain(this.again);
		this.lostAttempts.retain(this.again);
		forgetAttempt();
		return count() > 0;
	}

	/**
	 * Takes it for written, as the driver does not give it back and may still write it.
	 */
	public void abandon() {
		this.attempt.abandon();
	}

	/**
	 * The slab as its connection sees it.
	 * @return the same object for all attempts
	 */
	public Attempt attempt() {
		return this.attempt;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.attempt.replies();
	}

	SlabErrors errors() {
		return this.attempt.errors();
	}

	BitSet again() {
		return this.again;
	}

	/** How a command was lost before this attempt, if it may have run then. */
	@Nullable Loss earlierLoss(int command) {
		return this.lostAttempts.of(command);
	}

	private void forgetAttempt() {
		this.attempt.clear();
		this.again.clear();
	}

	@Override
	public String toString() {
		return "slab of " + this.commands + ", " + replies().count() + " answered";
	}

}
