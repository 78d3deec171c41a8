package io.pipeset.engine.slab;

import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The replies to a slab's records. Nearly all of them say only that the command ran, and
 * are only counted. The others are kept as {@link NotableReplies}. The reply to a
 * coalesced command is noted for each of its records.
 */
final class Replies {

	private final CoalescedCommands coalesced;

	/** The number of records answered. */
	private int count;

	/** The number of commands answered. Each has one record or more. */
	private int answeredCommands;

	/** Elements to come of an array reply. Each element answers a record. */
	private long elementsLeft;

	private Phase phase = Phase.OWN;

	/** Replies to come in this phase, if it has several. */
	private int repliesLeft;

	/** Whether the reply to an ASKING comes before the others. */
	private boolean asking;

	/** Redis's error to ASKING. The node then redirects the next command. */
	private @Nullable Refusal askingRefused;

	private boolean transaction;

	/** Whether the mark of the lane comes at the end of the transaction. */
	private boolean marked;

	/** The scripts that are loaded in the transaction. */
	private int scripts;

	/** Whether the mark of the lane was not there before the transaction. */
	private boolean markMissing;

	private boolean discarded;

	/** Redis's error to MULTI. Every command then runs by itself. */
	private @Nullable Refusal multiRefused;

	/** Whether Redis refused to load the slab's scripts, and would again. */
	private boolean scriptsRefused;

	private final NotableReplies notableReplies;

	/**
	 * Creates an empty list of replies.
	 * @param reservation the memory for replies that a report can do without
	 */
	Replies(CoalescedCommands coalesced, MemoryReservation reservation) {
		this.coalesced = coalesced;
		this.notableReplies = new NotableReplies(reservation);
	}

	void clear() {
		this.count = 0;
		this.answeredCommands = 0;
		this.elementsLeft = 0;
		this.phase = Phase.OWN;
		this.asking = false;
		this.askingRefused = null;
		this.transaction = false;
		this.marked = false;
		this.scripts = 0;
		this.markMissing = false;
		this.discarded = false;
		this.multiRefused = null;
		this.scriptsRefused = false;
		this.notableReplies.clear();
	}

	/**
	 * Sets which control replies come in addition to the replies to the slab's own
	 * commands.
	 * @param scripts how many scripts are loaded first
	 * @param asking whether an ASKING comes before the commands, or before MULTI
	 * @param transaction whether MULTI comes before the commands, and EXEC after them
	 * @param marked whether the transaction begins with the scripts, and ends with the
	 * mark of the lane
	 */
	void expect(int scripts, boolean asking, boolean transaction, boolean marked) {
		this.asking = asking;
		this.transaction = transaction;
		this.marked = marked;
		this.scripts = (marked) ? scripts : 0;
		this.repliesLeft = scripts;
		this.phase = (scripts > 0 && !marked) ? Phase.SCRIPTS : afterScripts();
	}

	/** The commands of the transaction, with the scripts and the mark of the lane. */
	private int transactionCommands() {
		return this.scripts + this.coalesced.count() + ((this.marked) ? 1 : 0);
	}

	private Phase afterScripts() {
		return (this.asking) ? Phase.ASKING : afterAsking();
	}

	private Phase afterAsking() {
		return (this.transaction) ? Phase.MULTI : Phase.OWN;
	}

	/**
	 * Whether the next reply is a control reply: it answers none of the slab's own
	 * commands.
	 */
	boolean isControlNext() {
		return this.phase != Phase.OWN;
	}

	/**
	 * Whether the next reply answers EXEC. Its elements are the replies to the slab's
	 * commands.
	 */
	boolean isExecNext() {
		return this.phase == Phase.EXEC;
	}

	/** Whether the next reply is an array whose elements answer one record each. */
	boolean isArrayNext() {
		return this.elementsLeft == 0 && !isControlNext() && this.coalesced.hasArrayReply(this.answeredCommands);
	}

	/**
	 * Handles a control reply. If it is an error, its bytes have been captured.
	 * @param number the value of a number
	 */
	void control(Kind kind, long number) {
		boolean refused = kind == Kind.ERROR;
		switch (this.phase) {
			case SCRIPTS -> {
				// The command of a missing script gets NOSCRIPT: this is not reported.
				this.scriptsRefused |= refused
						&& !this.notableReplies.captured().discardError().means(Meaning.TRANSIENT);
				this.phase = (--this.repliesLeft > 0) ? Phase.SCRIPTS : afterScripts();
			}
			case ASKING -> {
				this.askingRefused = (refused) ? this.notableReplies.captured().discardError() : this.askingRefused;
				this.phase = afterAsking();
			}
			case MULTI -> {
				this.multiRefused = (refused) ? this.notableReplies.captured().discardError() : null;
				this.repliesLeft = transactionCommands();
				this.phase = (refused) ? ownOrLoaded() : Phase.QUEUED;
			}
			case QUEUED -> {
				int command = transactionCommands() - this.repliesLeft - this.scripts;
				if (refused && command >= 0) {
					this.notableReplies.add(Kind.ERROR, this.coalesced.end(command - 1), this.coalesced.end(command));
				}
				this.phase = (--this.repliesLeft > 0) ? Phase.QUEUED : Phase.EXEC;
			}
			case EXEC -> discarded(refused);
			case LOADED -> this.phase = (--this.repliesLeft > 0) ? Phase.LOADED : Phase.OWN;
			case MARK -> {
				this.markMissing = refused || number > 0;
				this.phase = (this.multiRefused != null) ? Phase.EXEC_WITHOUT_MULTI : Phase.OWN;
			}
			case EXEC_WITHOUT_MULTI -> execWithoutMulti(refused);
			case OWN -> throw new IllegalStateException("The next reply answers a command of the slab");
		}
		this.notableReplies.captured().discard();
	}

	/** Handles a reply to EXEC that is no array: Redis ran nothing of the transaction. */
	private void discarded(boolean refused) {
		if (!refused) {
			throw new DecoderException("Redis answered EXEC with neither an array nor an error");
		}
		this.phase = Phase.OWN;
		this.discarded = true;
		this.count = this.coalesced.records();
		this.notableReplies.add(Kind.ERROR, this.count, this.count + 1);
	}

	/**
	 * Handles the reply to EXEC after Redis refused MULTI, when there is no transaction
	 * to run.
	 */
	private void execWithoutMulti(boolean refused) {
		this.phase = Phase.OWN;
		if (!refused) {
			// Redis ran another transaction, in which our commands were only queued.
			this.count = 0;
			this.answeredCommands = 0;
			this.notableReplies.clear();
			throw new DecoderException("Redis refused MULTI, but ran EXEC");
		}
	}

	/** Begins a reply whose elements are replies to commands. */
	void beginArray(long elements) {
		// Neither the array's header nor an attribute before it is kept.
		this.notableReplies.captured().discard();
		if (isControlNext()) {
			beginTransaction(elements);
		}
		else if (elements > this.coalesced.end(this.answeredCommands) - this.count) {
			throw new DecoderException("Redis answered a pop with " + elements + " values, more than were requested");
		}
		else if (elements > 0) {
			this.elementsLeft = elements;
		}
		else {
			answer(Kind.NIL);
		}
	}

	/** Redis ran the transaction. The replies to its commands follow. */
	private void beginTransaction(long replies) {
		if (replies != transactionCommands() || this.notableReplies.count() > 0) {
			throw new DecoderException(
					"Redis answered EXEC with " + replies + " replies to " + transactionCommands() + " commands");
		}
		this.phase = ownOrLoaded();
	}

	private Phase ownOrLoaded() {
		this.repliesLeft = this.scripts;
		return (this.scripts > 0) ? Phase.LOADED : Phase.OWN;
	}

	/** Whether Redis ran nothing of the transaction. The last notable reply says why. */
	boolean isDiscarded() {
		return this.discarded;
	}

	/**
	 * Redis's error to MULTI, or {@code null}. After an error, each command runs by
	 * itself.
	 */
	@Nullable Refusal multiRefused() {
		return this.multiRefused;
	}

	/**
	 * Redis's last error to ASKING, or {@code null}. The node then redirects the next
	 * command.
	 */
	@Nullable Refusal askingRefused() {
		return this.askingRefused;
	}

	/** Whether Redis refused to load a script, and would again. */
	boolean areScriptsRefused() {
		return this.scriptsRefused;
	}

	/** Counts a reply that says only that the command ran. */
	void countPlain() {
		answer(null);
	}

	/** Adds a notable reply. If its bytes are needed, they have been captured. */
	void addNotable(Kind kind) {
		answer(kind);
	}

	/**
	 * Answers all records of the current command, or one record if the reply is an array
	 * element.
	 */
	private void answer(@Nullable Kind kind) {
		if (isArrayNext() && kind != Kind.NIL && kind != Kind.ERROR) {
			throw new DecoderException("Redis answered several pops with neither a list, nor a nil, nor an error");
		}
		int end = (this.elementsLeft > 0) ? this.count + 1 : this.coalesced.end(this.answeredCommands);
		if (kind != null) {
			note(kind, end);
		}
		this.count = end;
		if (this.elementsLeft > 1) {
			this.elementsLeft--;
			return;
		}
		if (this.elementsLeft == 1 && end < this.coalesced.end(this.answeredCommands)) {
			// Redis returned fewer values than there are records.
			this.elementsLeft = 0;
			answer(Kind.NIL);
			return;
		}
		this.elementsLeft = 0;
		this.answeredCommands++;
		if (this.answeredCommands == this.coalesced.count() && (this.marked || this.multiRefused != null)) {
			this.phase = (this.marked) ? Phase.MARK : Phase.EXEC_WITHOUT_MULTI;
		}
	}

	private void note(Kind kind, int end) {
		if (kind == Kind.VALUE && end - this.count > 1 && this.coalesced.repliesWithLength(this.count)
				&& this.notableReplies.captured().isInteger()) {
			long length = this.notableReplies.discardInteger();
			for (int record = this.count; record < end; record++) {
				length -= this.coalesced.elements(record);
			}
			for (int record = this.count; record < end; record++) {
				length += this.coalesced.elements(record);
				this.notableReplies.addInteger(length, record);
			}
		}
		else if (kind == Kind.VALUE && end - this.count > 1 && this.coalesced.hasOtherReply(this.count)
				&& this.notableReplies.captured().isInteger()) {
			// Redis would have answered OK to each SET.
			this.notableReplies.captured().discard();
			this.notableReplies.addOk(this.count, end);
		}
		else {
			this.notableReplies.add(kind, this.count, end);
		}
	}

	/** Adds a value that was read from another list in place of a lost reply. */
	void addFound(byte[] value) {
		// Drop the part of a reply that a lost connection may have left.
		this.notableReplies.addBulk(value, this.count++);
	}

	/**
	 * Answers all commands whose replies were lost, because the mark of the lane says
	 * that they ran.
	 * @return how many replies were lost
	 */
	int addLost() {
		this.notableReplies.captured().discard();
		int lost = this.coalesced.records() - this.count;
		this.count = this.coalesced.records();
		return lost;
	}

	/** Whether the mark of the lane was not there before the transaction. */
	boolean isMarkMissing() {
		return this.markMissing;
	}

	NotableReplies notableReplies() {
		return this.notableReplies;
	}

	/** The number of records answered. */
	int count() {
		return this.count;
	}

	/**
	 * The order of the replies to one write. Most slabs have only the replies to their
	 * own commands.
	 */
	private enum Phase {

		/** Replies to SCRIPT LOAD. */
		SCRIPTS,

		/** The reply to ASKING, before the command or MULTI. */
		ASKING,

		/** The reply to MULTI. */
		MULTI,

		/** QUEUED or an error for each command of a transaction. */
		QUEUED,

		/** The reply to EXEC: an error, or an array with the replies to the commands. */
		EXEC,

		/** Replies to the scripts that are loaded in the transaction. */
		LOADED,

		/** Replies to the slab's own commands. */
		OWN,

		/** The reply to the mark of the lane: 0, or 1 if it was not there. */
		MARK,

		/** The reply to EXEC after MULTI was refused. It runs nothing. */
		EXEC_WITHOUT_MULTI

	}

}
