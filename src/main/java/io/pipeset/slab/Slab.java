package io.pipeset.slab;

import java.util.BitSet;
import java.util.Queue;

import io.netty.buffer.ByteBuf;
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

	private final Replies replies;

	private final EarlierLosses earlier = new EarlierLosses();

	/** Which commands are to be sent again. */
	private final BitSet again = new BitSet(0);

	private boolean captureAll;

	private volatile boolean written;

	/** Whether it is known that what is unanswered did not run. */
	private boolean resolved;

	private volatile boolean done;

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
		this.replies = new Replies(room);
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
		this.replies.clear();
		this.commands.release();
	}

	/**
	 * Forgets all, to be filled anew.
	 * @param captureAll whether to keep every reply, and not only what tells an outcome
	 * @param atomic whether its commands are to run as one transaction
	 */
	public void clear(boolean captureAll, boolean atomic) {
		this.captureAll = captureAll;
		this.commands.clear(atomic);
		this.earlier.clear();
		forgetJourney();
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
		return this.commands.index(0);
	}

	/**
	 * The place of its last record in the job.
	 * @return the index, that of the first record or higher
	 */
	public long lastIndex() {
		return this.commands.index(count() - 1);
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
		return this.done;
	}

	/**
	 * Whether some of it may have reached Redis.
	 * @return {@code false} where it certainly did not
	 */
	public boolean isWritten() {
		return this.written;
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
		return this.replies.count() == count();
	}

	/**
	 * Whether some of it may have run, this time, without an answer.
	 * @return {@code false} where everything is known of this attempt
	 */
	public boolean isUnknown() {
		return this.written && !this.resolved && !isAnswered();
	}

	/**
	 * How many commands were answered with a value.
	 * @return 0 or more; only for commands all of whose values are kept
	 */
	public int values() {
		return this.replies.values();
	}

	/**
	 * Resolves what is unknown, by the values that it turns out to have taken: the first
	 * commands without an answer took them in order, and the others did not run.
	 * @param values the values of this slab and of those sent after it; what is this
	 * slab's is removed
	 */
	public void resolve(Queue<byte[]> values) {
		if (this.written) {
			while (!isAnswered() && !values.isEmpty()) {
				this.replies.found(values.remove());
			}
			this.resolved = true;
		}
	}

	/**
	 * The one error code that Redis gave to all commands.
	 * @return the error's first word, or {@code null} where they differ or some ran
	 */
	public @Nullable String soleError() {
		return new SlabErrors(this).soleCode();
	}

	/**
	 * An error that says of a command that it did not run, and may later.
	 * @return the first such error's code, or {@code null}
	 */
	public @Nullable String passingError() {
		return (this.replies.errors() > 0) ? new SlabErrors(this).passingCode() : null;
	}

	/**
	 * Enters what became of every command, but for those that are to be sent again, and
	 * remembers which of these may have run.
	 * @param account the job's account
	 * @param loss why commands were not answered, where some were not
	 */
	public void settle(Account account, @Nullable Loss loss) {
		Loss known = (loss != null) ? loss : Loss.UNEXPLAINED;
		new Settlement(this, account, known).enter();
		if (isUnknown()) {
			// A transaction may have run as a whole, of which only a part was heard.
			int from = (isAtomic()) ? 0 : this.replies.count();
			this.again.stream().filter((command) -> command >= from).forEach((lost) -> this.earlier.add(lost, known));
		}
	}

	/**
	 * Forgets all but what is to be sent again, and makes that ready to be sent.
	 * @return {@code false} where nothing is
	 */
	public boolean retry() {
		this.commands.retain(this.again);
		this.earlier.retain(this.again);
		forgetJourney();
		return count() > 0;
	}

	/**
	 * Takes it for written, as the driver does not give it back and may still write it.
	 */
	public void abandon() {
		this.written = true;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.replies;
	}

	BitSet again() {
		return this.again;
	}

	/** How a command was lost before this attempt, if it may have run then. */
	@Nullable Loss earlierLoss(int command) {
		return this.earlier.of(command);
	}

	/** Whether the next reply is kept. */
	boolean capturesNext() {
		return this.captureAll || takesNext();
	}

	/** Whether the next reply has values that are nowhere else. */
	boolean takesNext() {
		return this.commands.form(this.replies.count()).takesValues();
	}

	/** Whether the next reply says something by being a value, kept or not. */
	boolean notesNext() {
		return this.commands.form(this.replies.count()).notesValues();
	}

	/**
	 * Writes all of it as RESP.
	 * @param out a buffer on its way to the socket
	 */
	public void writeTo(ByteBuf out) {
		this.written = true;
		this.commands.writeTo(out);
		this.replies.expectOthers(this.commands.preamble().commands());
		if (isAtomic()) {
			this.replies.expectTransaction(count());
		}
	}

	/**
	 * The socket did not take all of it. So its end is certainly not on its way, without
	 * which no transaction runs.
	 * @param atAll whether it took nothing
	 */
	public void notTaken(boolean atAll) {
		if (atAll || isAtomic()) {
			this.written = false;
		}
	}

	/** It came back from its connection. */
	public void done() {
		this.done = true;
	}

	/**
	 * Takes all of it for unanswered: nobody knows whose the replies were.
	 */
	public void forgetReplies() {
		this.replies.clear();
	}

	/**
	 * Whether the connection is left in a transaction.
	 * @return {@code true} where whoever had the connection next would add to it
	 */
	public boolean leavesTransactionOpen() {
		return new SlabErrors(this).isTransactionOpen();
	}

	private void forgetJourney() {
		this.written = false;
		this.resolved = false;
		this.done = false;
		this.replies.clear();
		this.again.clear();
	}

	@Override
	public String toString() {
		return "slab of " + this.commands + ", " + this.replies.count() + " answered";
	}

}
