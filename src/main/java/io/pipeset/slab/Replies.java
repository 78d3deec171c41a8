package io.pipeset.slab;

import io.netty.handler.codec.DecoderException;
import io.pipeset.record.room.Room;
import io.pipeset.slab.Findings.Kind;
import io.pipeset.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * The replies to a slab's records. Nearly all say no more than that the command ran, and
 * are only counted; each of the others is a finding. A command that several records have
 * in common has one reply, which is entered for each of them.
 */
final class Replies {

	private final CommonCommands common;

	/** The records that are answered. */
	private int count;

	/** The commands that are answered, each of one record or more. */
	private int commands;

	/** The elements still to come of a reply, each of which answers a record. */
	private long dealt;

	/** The replies still to come first, which do not answer the slab's own commands. */
	private int others;

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

	private final Findings findings;

	/**
	 * No replies yet.
	 * @param room the memory for replies that a report may do without
	 */
	Replies(CommonCommands common, Room room) {
		this.common = common;
		this.findings = new Findings(room);
	}

	void clear() {
		this.count = 0;
		this.commands = 0;
		this.dealt = 0;
		this.others = 0;
		this.asking = null;
		this.askingRefused = null;
		this.transaction = false;
		this.discarded = false;
		this.multiRefused = null;
		this.scriptsRefused = false;
		this.findings.clear();
	}

	/** Says how many replies come ahead of those to the slab's own commands. */
	void expectOthers(int others) {
		this.others = others;
	}

	/** Says which commands, each of one record, come behind an ASKING. */
	void expectAsking(AskingCommands asking) {
		this.asking = asking;
		this.others += (asking.isAhead(0)) ? 1 : 0;
	}

	/**
	 * Says that the commands are a transaction. Redis answers MULTI first, then queues
	 * each command with an answer, and then begins the reply to EXEC, whose elements are
	 * the commands' own replies.
	 */
	void expectTransaction() {
		this.others += 1 + this.common.count() + 1;
		this.transaction = true;
	}

	/** Whether the next reply does not answer one of the slab's own commands. */
	boolean isOtherNext() {
		return this.others > 0;
	}

	/** Whether the next reply is that to EXEC, whose elements are the commands' own. */
	boolean isExecNext() {
		return this.others == 1 && isTransaction();
	}

	private boolean isTransaction() {
		return this.transaction && this.multiRefused == null;
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
		if (this.multiRefused != null) {
			execAlone(kind);
			return;
		}
		// The reply to MULTI is at -1, those to its commands from 0 on, and EXEC's last.
		int queued = this.common.count();
		boolean ofAsking = isAskingNext();
		int command = queued + 1 - this.others--;
		boolean ofTransaction = isTransaction() && command >= -1;
		if (ofTransaction && kind == Kind.ERROR) {
			refused(command);
		}
		else if (ofTransaction && command == queued) {
			throw new DecoderException("Redis answered EXEC with neither an array nor an error");
		}
		else if (ofAsking && kind == Kind.ERROR) {
			this.askingRefused = this.findings.captured().dropError();
		}
		else {
			// A script that cannot be loaded is missed by the command that runs it.
			this.scriptsRefused |= kind == Kind.ERROR && !this.findings.captured().dropError().means(Meaning.TRANSIENT);
			this.findings.captured().drop();
		}
	}

	/** Whether the next reply is that to an ASKING, which comes last of all others. */
	private boolean isAskingNext() {
		int behind = (this.transaction) ? 1 + this.common.count() + 1 : 0;
		return this.asking != null && this.others == behind + 1 && this.asking.isAhead(this.commands);
	}

	/** Redis refused MULTI, a command of the transaction, or EXEC. */
	private void refused(int command) {
		if (command < 0) {
			this.multiRefused = this.findings.captured().dropError();
			this.others = 0;
		}
		else if (command < this.common.count()) {
			this.findings.add(Kind.ERROR, this.common.end(command - 1), this.common.end(command));
		}
		else {
			this.discarded = true;
			this.count = this.common.records();
			this.findings.add(Kind.ERROR, this.count, this.count + 1);
		}
	}

	/** The reply to EXEC where MULTI was refused: there is no transaction to run. */
	private void execAlone(Kind kind) {
		this.others = 0;
		if (kind != Kind.ERROR) {
			// It ran another one, in which the commands were only queued.
			this.count = 0;
			this.commands = 0;
			this.findings.clear();
			throw new DecoderException("Redis refused MULTI, and yet took EXEC");
		}
		this.findings.captured().drop();
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
		this.others = 0;
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
			this.others = 1;
		}
		if (this.multiRefused != null && this.commands == this.common.count()) {
			// EXEC is answered next, though it runs nothing.
			this.others = 1;
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

	Findings findings() {
		return this.findings;
	}

	/** The number of records that are answered. */
	int count() {
		return this.count;
	}

}
