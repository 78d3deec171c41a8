package io.pipeset.engine.slab;

import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The replies to a slab's records. Nearly all say no more than that the command ran, and
 * are only counted; each of the others is a finding. A command that several records have
 * in common has one reply, which is entered for each of them.
 */
final class Replies {

	private final CoalescedCommands common;

	/** The records that are answered. */
	private int count;

	/** The commands that are answered, each of one record or more. */
	private int commands;

	/** The elements still to come of a reply, each of which answers a record. */
	private long dealt;

	private Phase phase = Phase.OWN;

	/** The replies still to come in this phase, if it has several. */
	private int left;

	/** The commands behind an ASKING, which is answered as well. */
	private @Nullable AskingCommands asking;

	/** Redis's error to an ASKING, after which the node redirects the command. */
	private @Nullable Refusal askingRefused;

	/** Whether the commands are a transaction. */
	private boolean transaction;

	private boolean discarded;

	/** Redis's error to MULTI, after which every command runs by itself. */
	private @Nullable Refusal multiRefused;

	/** Whether Redis will not load the scripts of this slab. */
	private boolean scriptsRefused;

	private final NotableReplies findings;

	/**
	 * No replies yet.
	 * @param room the memory for replies that a report may do without
	 */
	Replies(CoalescedCommands common, MemoryReservation room) {
		this.common = common;
		this.findings = new NotableReplies(room);
	}

	void clear() {
		this.count = 0;
		this.commands = 0;
		this.dealt = 0;
		this.phase = Phase.OWN;
		this.asking = null;
		this.askingRefused = null;
		this.transaction = false;
		this.discarded = false;
		this.multiRefused = null;
		this.scriptsRefused = false;
		this.findings.clear();
	}

	/**
	 * Says which replies come beside those to the slab's own commands.
	 * @param scripts how many scripts are loaded first
	 * @param asking the commands behind an ASKING; {@code null} if there are none
	 * @param transaction whether MULTI comes ahead of the commands, and EXEC behind them
	 */
	void expect(int scripts, @Nullable AskingCommands asking, boolean transaction) {
		this.asking = asking;
		this.transaction = transaction;
		this.left = scripts;
		this.phase = (scripts > 0) ? Phase.SCRIPTS : behindScripts();
	}

	private Phase behindScripts() {
		return (this.asking != null && this.asking.isAhead(0)) ? Phase.ASKING : behindAsking();
	}

	private Phase behindAsking() {
		return (this.transaction) ? Phase.MULTI : Phase.OWN;
	}

	/** Whether the next reply does not answer one of the slab's own commands. */
	boolean isOtherNext() {
		return this.phase != Phase.OWN;
	}

	/** Whether the next reply is that to EXEC, whose elements are the commands' own. */
	boolean isExecNext() {
		return this.phase == Phase.EXEC;
	}

	/** Whether the elements of the next reply, an array, answer a record each. */
	boolean isDealtNext() {
		return this.dealt == 0 && !isOtherNext() && this.common.isDealt(this.commands);
	}

	/**
	 * Notes a reply that does not answer one of the slab's own commands; an error has
	 * been captured before.
	 */
	void other(Kind kind) {
		boolean refused = kind == Kind.ERROR;
		switch (this.phase) {
			case SCRIPTS -> {
				// A script that cannot be loaded is missed by the command that runs it.
				this.scriptsRefused |= refused && !this.findings.captured().dropError().means(Meaning.TRANSIENT);
				this.phase = (--this.left > 0) ? Phase.SCRIPTS : behindScripts();
			}
			case ASKING -> {
				this.askingRefused = (refused) ? this.findings.captured().dropError() : this.askingRefused;
				this.phase = behindAsking();
			}
			case MULTI -> {
				this.multiRefused = (refused) ? this.findings.captured().dropError() : null;
				this.left = this.common.count();
				this.phase = (refused) ? Phase.OWN : Phase.QUEUED;
			}
			case QUEUED -> {
				int command = this.common.count() - this.left;
				if (refused) {
					this.findings.add(Kind.ERROR, this.common.end(command - 1), this.common.end(command));
				}
				this.phase = (--this.left > 0) ? Phase.QUEUED : Phase.EXEC;
			}
			case EXEC -> discarded(refused);
			case EXEC_ALONE -> execAlone(refused);
			case OWN -> throw new IllegalStateException("The reply is one to a command of the slab");
		}
		this.findings.captured().drop();
	}

	/** The reply to EXEC, if it is no array: Redis ran nothing of the transaction. */
	private void discarded(boolean refused) {
		if (!refused) {
			throw new DecoderException("Redis answered EXEC with neither an array nor an error");
		}
		this.phase = Phase.OWN;
		this.discarded = true;
		this.count = this.common.records();
		this.findings.add(Kind.ERROR, this.count, this.count + 1);
	}

	/** The reply to EXEC where MULTI was refused: there is no transaction to run. */
	private void execAlone(boolean refused) {
		this.phase = Phase.OWN;
		if (!refused) {
			// It ran another one, in which the commands were only queued.
			this.count = 0;
			this.commands = 0;
			this.findings.clear();
			throw new DecoderException("Redis refused MULTI, and yet took EXEC");
		}
	}

	/** A reply begins whose elements are replies of their own. */
	void begin(long elements) {
		// Nothing of it is kept, nor of an attribute ahead of it.
		this.findings.captured().drop();
		if (isOtherNext()) {
			executed(elements);
		}
		else if (elements > this.common.end(this.commands) - this.count) {
			throw new DecoderException("Redis answered a pop with " + elements + " values, more than it was asked for");
		}
		else if (elements > 0) {
			this.dealt = elements;
		}
		else {
			answer(Kind.NIL);
		}
	}

	/** Redis ran the transaction; the replies of its commands come next. */
	private void executed(long commands) {
		if (commands != this.common.count() || this.findings.count() > 0) {
			throw new DecoderException(
					"Redis answered EXEC with " + commands + " replies to " + this.common.count() + " commands");
		}
		this.phase = Phase.OWN;
	}

	/** Whether Redis ran nothing of a transaction; the last finding says why. */
	boolean isDiscarded() {
		return this.discarded;
	}

	/** The error to MULTI, after which Redis ran each command by itself. */
	@Nullable Refusal multiRefused() {
		return this.multiRefused;
	}

	/** Redis's error to an ASKING, without which it redirects the command behind it. */
	@Nullable Refusal askingRefused() {
		return this.askingRefused;
	}

	/** Whether a script that is missing will be missing the next time as well. */
	boolean areScriptsRefused() {
		return this.scriptsRefused;
	}

	/** Counts a reply that says no more than that the command ran. */
	void plain() {
		answer(null);
	}

	/** Notes a reply that says more; its bytes have been captured before if wanted. */
	void finding(Kind kind) {
		answer(kind);
	}

	/** A reply answers all records of its command, or one of them if it is dealt out. */
	private void answer(@Nullable Kind kind) {
		if (isDealtNext() && kind != Kind.NIL && kind != Kind.ERROR) {
			throw new DecoderException("Redis answered several pops with neither a list, nor a nil, nor an error");
		}
		int end = (this.dealt > 0) ? this.count + 1 : this.common.end(this.commands);
		if (kind != null) {
			note(kind, end);
		}
		this.count = end;
		if (this.dealt > 1) {
			this.dealt--;
			return;
		}
		if (this.dealt == 1 && end < this.common.end(this.commands)) {
			// There were fewer values than records that asked for one.
			this.dealt = 0;
			answer(Kind.NIL);
			return;
		}
		this.dealt = 0;
		this.commands++;
		if (this.asking != null && !this.transaction && this.asking.isAhead(this.commands)) {
			this.phase = Phase.ASKING;
		}
		if (this.multiRefused != null && this.commands == this.common.count()) {
			this.phase = Phase.EXEC_ALONE;
		}
	}

	private void note(Kind kind, int end) {
		if (kind == Kind.VALUE && end - this.count > 1 && this.common.tellsLengths(this.count)
				&& this.findings.captured().isInteger()) {
			long length = this.findings.dropInteger();
			for (int record = this.count; record < end; record++) {
				length -= this.common.elements(record);
			}
			for (int record = this.count; record < end; record++) {
				length += this.common.elements(record);
				this.findings.addInteger(length, record);
			}
		}
		else if (kind == Kind.VALUE && end - this.count > 1 && this.common.tellsOtherwise(this.count)
				&& this.findings.captured().isInteger()) {
			// Each SET would have been answered OK.
			this.findings.captured().drop();
			this.findings.addOk(this.count, end);
		}
		else {
			this.findings.add(kind, this.count, end);
		}
	}

	/** Notes a value that was found elsewhere in place of a reply that was lost. */
	void found(byte[] value) {
		// The connection may have ended in the middle of a reply.
		this.findings.addBulk(value, this.count++);
	}

	NotableReplies findings() {
		return this.findings;
	}

	/** The number of records that are answered. */
	int count() {
		return this.count;
	}

	/** The replies to one write, in their order; most slabs have their own alone. */
	private enum Phase {

		/** To SCRIPT LOAD. */
		SCRIPTS,

		/** To ASKING, ahead of a command or of MULTI. */
		ASKING,

		/** To MULTI. */
		MULTI,

		/** To each command of a transaction, as it is queued. */
		QUEUED,

		/** To EXEC: an array, whose elements are the commands' own, or an error. */
		EXEC,

		/** To the slab's own commands. */
		OWN,

		/** To EXEC behind the commands if MULTI was refused; it runs nothing. */
		EXEC_ALONE

	}

}
