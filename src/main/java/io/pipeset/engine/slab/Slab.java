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
 * Commands that go to Redis in one write, and the answers of Redis. A slab has one owner
 * at a time: the thread that reads the input fills it, its lane sends it, the
 * connection's event loop has it while it is on its way, and the lane settles it.
 */
public final class Slab {

	/** The most bytes in one write; only a single command may be larger. */
	public static final int MAX_BYTES = 1 << 20;

	/** The most bytes in one transaction; only a single command may be larger. */
	public static final int MAX_ATOMIC_BYTES = 4 << 20;

	private final Commands commands;

	private final Attempt attempt;

	private final EarlierAttempts earlier = new EarlierAttempts();

	/** The commands that are to be sent again. */
	private final BitSet again = new BitSet(0);

	private final SlabSlots slots;

	private boolean waits;

	/** A slab that grows as it is filled. */
	public Slab() {
		this(0, 0, MemoryReservation.UNLIMITED);
	}

	/**
	 * A slab with room from the start.
	 * @param commands the number of commands that are expected
	 * @param room the memory for the slab; the caller may have to wait for that of an
	 * empty slab
	 */
	public Slab(int commands, int bytes, MemoryReservation room) {
		this.commands = new Commands(commands, bytes, room);
		this.attempt = new Attempt(this.commands, room);
		this.slots = new SlabSlots(this.commands, this.attempt, this.again);
	}

	/** Whether the slab is too large to be kept for later. */
	public boolean isLarge() {
		return this.commands.isLarge();
	}

	/** Gives the slab's memory back; the slab is not used after that. */
	public void release() {
		this.attempt.clear();
		this.commands.release();
	}

	/**
	 * Empties the slab, so that it can be filled anew.
	 * @param captureAll whether to keep every reply, even one that tells no outcome
	 */
	public void clear(boolean captureAll, boolean atomic) {
		this.attempt.captureAll(captureAll);
		this.commands.clear(atomic);
		this.earlier.clear();
		this.slots.clear();
		this.waits = false;
		forgetAttempt();
	}

	/**
	 * Adds a record as one command; the slab copies all that it keeps of it.
	 * @param record a good record
	 * @return {@code false} where the slab would grow beyond the size of a write, which
	 * the first command may do, or where there is no memory for the command
	 */
	public boolean add(Record record) {
		boolean added = this.commands.add(record);
		if (added && record.mayHaveRun()) {
			this.earlier.addOfService(count() - 1);
		}
		return added;
	}

	/**
	 * Whether a record would leave the slab within its size, if there is memory for it.
	 * @param record a good record
	 */
	public boolean isOpenFor(Record record) {
		return this.commands.isOpenFor(record);
	}

	/**
	 * Waits for the memory that a record takes in this slab.
	 * @param record a good record
	 * @throws MemoryLimitException if that memory will never be free
	 */
	public void makeRoom(Record record) {
		this.commands.makeRoom(record);
	}

	/** The number of commands. */
	public int count() {
		return this.commands.count();
	}

	/** The place of the first record in the job. */
	public long firstIndex() {
		return this.commands.table().index(0);
	}

	/** The place of the last record in the job. */
	public long lastIndex() {
		return this.commands.table().index(count() - 1);
	}

	/**
	 * The size of the commands, and of the scripts they run.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return this.commands.bytes();
	}

	/** Whether the slab came back from its connection, answered or not. */
	public boolean isDone() {
		return this.attempt.isDone();
	}

	/**
	 * Whether some commands may have reached Redis.
	 * @return {@code false} where certainly none did
	 */
	public boolean isWritten() {
		return this.attempt.isWritten();
	}

	/** Whether the slab was written at an earlier attempt, and is sent again. */
	public boolean isSentAgain() {
		return this.earlier.areWritten();
	}

	/**
	 * Has the slab wait until all commands ahead of it are answered, while slots move.
	 */
	public void setWaits() {
		this.waits = true;
	}

	/**
	 * Whether the slab is sent only once all commands ahead of it are answered, while
	 * slots move.
	 */
	public boolean waits() {
		return this.waits;
	}

	/** Whether some of the commands are scripts. */
	public boolean hasScripts() {
		return this.commands.scripts().count() > 0;
	}

	/** Whether the commands run as one transaction. */
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

	/** Whether some commands may have run without an answer. */
	public boolean isUnknown() {
		return this.attempt.isUnknown();
	}

	/**
	 * How many commands were answered with a value.
	 * @return 0 or more; only for commands all of whose values are kept
	 */
	public int values() {
		return replies().findings().values();
	}

	/**
	 * Resolves unknown commands by the values that they turn out to have taken: the first
	 * commands without an answer took one value each, in order, and the others did not
	 * run.
	 * @param values the values of this slab and of those sent after it; those of this
	 * slab are removed
	 */
	public void resolve(Queue<byte[]> values) {
		this.attempt.resolve(values);
	}

	/**
	 * The errors that Redis answered.
	 * @return a view that is valid until the next attempt
	 */
	public SlabErrors errors() {
		return this.attempt.errors();
	}

	/**
	 * Lets neighbouring records go as one command at the next attempt. Records that are
	 * sent again all go by themselves.
	 */
	public void coalesce(Coalescing allowed) {
		if (!isSentAgain()) {
			this.attempt.coalesce(allowed);
		}
	}

	/**
	 * Enters the outcome of every command that is not to be sent again into the account,
	 * and remembers which of the others may have run.
	 * @param loss why commands were not answered, if some were not
	 */
	public void settle(Account account, @Nullable Loss loss) {
		Loss known = (loss != null) ? loss : Loss.UNEXPLAINED;
		new SlabOutcomes(this, account, known).enter();
		if (isUnknown()) {
			// A transaction may have run as a whole, though only a part was answered.
			this.earlier.add(this.again, (isAtomic()) ? 0 : replies().count(), known);
		}
	}

	/**
	 * Keeps only the commands that are to be sent again, and makes them ready to be sent.
	 * @return {@code false} where there are none
	 */
	public boolean retry() {
		BitSet asking = this.slots.keep(this.again);
		this.commands.retain(this.again);
		this.earlier.retain(this.again, isWritten());
		forgetAttempt();
		this.attempt.ask(asking);
		return count() > 0;
	}

	/** Takes note that all commands are about to be written. */
	public void sends(OutcomeLog log) {
		for (int command = 0; command < count(); command++) {
			log.sent(this.commands.table().index(command));
		}
		log.flush();
	}

	/** The slab as its connection sees it. */
	public Attempt attempt() {
		return this.attempt;
	}

	/** The slots of the commands, for a cluster. */
	public SlabSlots slots() {
		return this.slots;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.attempt.replies();
	}

	BitSet again() {
		return this.again;
	}

	/** How a command was lost before this attempt, or {@code null} if it did not run. */
	@Nullable Loss earlierLoss(int command) {
		return this.earlier.of(command);
	}

	/** Notes that a command ran, and that a failover may have lost it. */
	void ranUnconfirmed(int command, Loss why) {
		this.earlier.add(command, why);
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
