package io.pipeset.slab;

import java.util.Arrays;

import io.netty.handler.codec.DecoderException;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.room.Room;
import org.jspecify.annotations.Nullable;

/**
 * What Redis answered to a slab. Nearly all replies say no more than that the command
 * ran, and are only counted; each of the others is a finding, with the position of its
 * command.
 */
final class Replies {

	private int count;

	/** The replies still to come first, which do not answer the slab's own commands. */
	private int others;

	/** The number of commands in the transaction, or -1 without one. */
	private int queued;

	private boolean discarded;

	/** Redis's error to MULTI, after which every command runs by itself. */
	private @Nullable String multiRefused;

	/** Whether Redis will not load the scripts of this slab. */
	private boolean scriptsRefused;

	private int findings;

	private int errors;

	private int[] positions = new int[8];

	private Kind[] kinds = new Kind[8];

	private int[] ends = new int[8];

	private final CapturedBytes captured;

	/**
	 * No replies yet.
	 * @param room the memory for replies that a report may do without
	 */
	Replies(Room room) {
		this.captured = new CapturedBytes(room);
	}

	void clear() {
		this.count = 0;
		this.others = 0;
		this.queued = -1;
		this.discarded = false;
		this.multiRefused = null;
		this.scriptsRefused = false;
		this.findings = 0;
		this.errors = 0;
		this.captured.clear();
	}

	/** Says how many replies come ahead of those to the slab's own commands. */
	void expectOthers(int others) {
		this.others = others;
	}

	/**
	 * Says that the commands are a transaction. Redis answers MULTI first, then queues
	 * each command with an answer, and then begins the reply to EXEC, whose elements are
	 * the commands' own replies.
	 */
	void expectTransaction(int commands) {
		this.others += 1 + commands + 1;
		this.queued = commands;
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
		return this.queued >= 0 && this.multiRefused == null;
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
		// That to MULTI is at -1, those to what is queued at 0, 1, 2, and EXEC's behind.
		int position = this.queued + 1 - this.others--;
		boolean ofTransaction = isTransaction() && position >= -1;
		if (ofTransaction && kind == Kind.ERROR) {
			refused(position);
		}
		else if (ofTransaction && position == this.queued) {
			throw new DecoderException("Redis answered EXEC with neither an array nor an error");
		}
		else {
			// A script that cannot be loaded is missed by the command that runs it.
			this.scriptsRefused |= kind == Kind.ERROR
					&& !RedisErrors.isPassing(RedisErrors.firstWord(this.captured.dropError()));
			this.captured.drop();
		}
	}

	/** Redis refused MULTI, a command of the transaction, or EXEC. */
	private void refused(int position) {
		if (position < 0) {
			this.multiRefused = this.captured.dropError();
			this.others = 0;
			return;
		}
		finding(Kind.ERROR, position);
		if (position == this.queued) {
			this.discarded = true;
			this.count = this.queued;
		}
	}

	/** The reply to EXEC where MULTI was refused: there is no transaction to run. */
	private void execAlone(Kind kind) {
		this.others = 0;
		if (kind != Kind.ERROR) {
			// It ran another one, in which the commands were only queued.
			this.count = 0;
			this.findings = 0;
			this.errors = 0;
			this.captured.clear();
			throw new DecoderException("Redis refused MULTI, and yet took EXEC");
		}
		this.captured.drop();
	}

	/** Redis ran the transaction; the replies of its commands come next. */
	void executed(long commands) {
		if (commands != this.queued || this.findings > 0) {
			throw new DecoderException(
					"Redis answered EXEC with " + commands + " replies to " + this.queued + " commands");
		}
		this.others = 0;
	}

	/** Whether Redis ran nothing of a transaction; the last finding says why. */
	boolean isDiscarded() {
		return this.discarded;
	}

	/** The error to MULTI, after which Redis ran each command by itself. */
	@Nullable String multiRefused() {
		return this.multiRefused;
	}

	/** Whether a script that is missing will be missing the next time as well. */
	boolean areScriptsRefused() {
		return this.scriptsRefused;
	}

	/** Counts a reply that says no more than that the command ran. */
	void plain() {
		next();
	}

	/** Notes a reply that says more; its bytes have been captured before if wanted. */
	void finding(Kind kind) {
		finding(kind, next());
	}

	/** Counts a reply, after the last of which EXEC is answered if MULTI was refused. */
	private int next() {
		int position = this.count++;
		if (this.multiRefused != null && this.count == this.queued) {
			this.others = 1;
		}
		return position;
	}

	private void finding(Kind kind, int position) {
		int finding = this.findings++;
		if (finding == this.positions.length) {
			this.positions = Arrays.copyOf(this.positions, finding * 2);
			this.kinds = Arrays.copyOf(this.kinds, finding * 2);
			this.ends = Arrays.copyOf(this.ends, finding * 2);
		}
		this.positions[finding] = position;
		this.kinds[finding] = kind;
		this.ends[finding] = this.captured.end();
		if (kind == Kind.ERROR) {
			this.errors++;
		}
	}

	/** Notes a value that was found elsewhere in place of a reply that was lost. */
	void found(byte[] value) {
		// The connection may have ended in the middle of a reply.
		this.captured.drop();
		this.captured.addBulk(value);
		finding(Kind.VALUE);
	}

	CapturedBytes captured() {
		return this.captured;
	}

	int count() {
		return this.count;
	}

	int findings() {
		return this.findings;
	}

	int errors() {
		return this.errors;
	}

	int values() {
		int values = 0;
		for (int finding = 0; finding < this.findings; finding++) {
			values += (this.kinds[finding] == Kind.VALUE) ? 1 : 0;
		}
		return values;
	}

	int position(int finding) {
		return this.positions[finding];
	}

	Kind kind(int finding) {
		return this.kinds[finding];
	}

	int bytes(int finding) {
		return this.ends[finding] - start(finding);
	}

	ReplyDecoder decoder(int finding, Encoding encoding) {
		return this.captured.decoder(start(finding), encoding);
	}

	private int start(int finding) {
		return (finding == 0) ? 0 : this.ends[finding - 1];
	}

	/** The kind of the reply. */
	enum Kind {

		/** An error; captured. */
		ERROR,

		/** A nil; not captured. */
		NIL,

		/** Anything else; captured where it is wanted. */
		VALUE

	}

}
