package io.pipeset.engine.slab;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.NotableReplies.Kind;

/**
 * Counts off replies of every type of RESP2 and RESP3, wherever the network cuts them,
 * and makes no object for any of them. It skips pushes, which answer no command.
 */
final class ReplyReader {

	private static final int OK = ('+' << 24) | ('O' << 16) | ('K' << 8) | '\r';

	private static final int CRLF_BYTES = 2;

	/** Of the length of a string that is taken at once. */
	private static final int MOST_DIGITS = 8;

	/** Values still to come before the reply is whole; 0 between replies. */
	private long values;

	/** The marker of the line that is being read; 0 between lines. */
	private int marker;

	/** The line's number so far. */
	private long number;

	private boolean negative;

	/** Bytes still to come of a bulk string and its CRLF. */
	private long bulk;

	/** Whether the next line is the reply's own, and not one inside of it. */
	private boolean own;

	/** Whether an attribute comes ahead of the reply's own line. */
	private boolean attribute;

	private Kind kind = Kind.VALUE;

	private boolean push;

	/** Whether the reply is wanted, unless it is an error, which always is. */
	private boolean wanted;

	private boolean error;

	private boolean capture;

	/** Whether a report may do without the captured bytes. */
	private boolean optional;

	private boolean note;

	private boolean other;

	/** Whether the elements of the reply, if it is an array, are replies of their own. */
	private boolean deals;

	/** Whether the reply is such an array. */
	private boolean header;

	/** Forgets a reply of which the connection brought only the beginning. */
	void clear() {
		this.values = 0;
		this.marker = 0;
		this.bulk = 0;
	}

	/**
	 * Reads the replies to a slab's attempt.
	 * @param in the bytes that have come, cut anywhere
	 * @return whether every command of the slab is answered; the bytes behind are left
	 * unread
	 */
	boolean read(ByteBuf in, Attempt attempt) {
		Replies replies = attempt.replies();
		int commands = attempt.commands().count();
		while (replies.count() < commands || replies.isOtherNext()) {
			if (this.values == 0) {
				if (in.readableBytes() >= 5 && in.getInt(in.readerIndex()) == OK && !replies.isOtherNext()
						&& !attempt.capturesNext()) {
					in.skipBytes(5);
					replies.plain();
					continue;
				}
				if (!in.isReadable()) {
					return false;
				}
				if (takeBulk(in, attempt)) {
					continue;
				}
				begin(in.getByte(in.readerIndex()), attempt);
			}
			if (!readOn(in, replies)) {
				return false;
			}
			if (this.values == 0) {
				end(replies);
			}
		}
		return true;
	}

	/** Takes a string that is wanted and is here as a whole, as most values are. */
	private static boolean takeBulk(ByteBuf in, Attempt attempt) {
		int from = in.readerIndex();
		Replies replies = attempt.replies();
		if (in.getByte(from) != '$' || replies.isOtherNext() || replies.isDealtNext() || !attempt.takesNext()) {
			return false;
		}
		int last = in.writerIndex() - 1;
		int at = from + 1;
		int length = 0;
		byte digit = 0;
		while (at <= last && at - from <= MOST_DIGITS) {
			digit = in.getByte(at);
			if (digit < '0' || digit > '9') {
				break;
			}
			length = length * 10 + (digit - '0');
			at++;
		}
		int whole = at - from + length + 2 * CRLF_BYTES;
		if (digit != '\r' || at == from + 1 || whole > in.readableBytes()) {
			return false;
		}
		replies.findings().captured().add(in, whole);
		in.skipBytes(whole);
		replies.finding(Kind.VALUE);
		return true;
	}

	private void begin(byte first, Attempt attempt) {
		this.values = 1;
		this.own = true;
		this.attribute = false;
		this.push = first == '>';
		this.kind = Kind.VALUE;
		Replies replies = attempt.replies();
		this.other = replies.isOtherNext();
		this.deals = replies.isExecNext() || replies.isDealtNext();
		this.header = false;
		this.note = !this.other && attempt.notesNext();
		this.optional = !this.other && !attempt.takesNext();
		this.wanted = !this.push && !this.other && !this.deals && attempt.capturesNext();
		this.error = false;
		this.capture = false;
	}

	/** The reply's own line begins, behind an attribute, of which nothing is kept. */
	private void begin(int marker) {
		this.error = marker == '-' || marker == '!';
		this.capture = this.error || this.wanted;
	}

	private void end(Replies replies) {
		if (this.push) {
			return;
		}
		if (this.error) {
			replies.findings().captured().endError();
		}
		if (this.header) {
			replies.begin(this.number);
		}
		else if (this.other) {
			replies.other(this.kind);
		}
		else if (this.kind == Kind.VALUE && !this.capture && !this.note) {
			replies.plain();
		}
		else {
			replies.finding(this.kind);
		}
	}

	/**
	 * Reads until the reply is whole or there is no more; {@code false} for the latter.
	 */
	private boolean readOn(ByteBuf in, Replies replies) {
		while (this.values > 0) {
			if (this.bulk > 0) {
				int length = (int) Math.min(this.bulk, in.readableBytes());
				take(in, replies, length);
				this.bulk -= length;
				if (this.bulk > 0) {
					return false;
				}
				this.values--;
			}
			else if (!readLine(in, replies)) {
				return false;
			}
		}
		return true;
	}

	private boolean readLine(ByteBuf in, Replies replies) {
		int from = in.readerIndex();
		int to = in.writerIndex();
		int at = from;
		if (this.marker == 0) {
			if (at == to) {
				return false;
			}
			this.marker = in.getByte(at++);
			this.number = 0;
			this.negative = false;
			this.own |= this.attribute && this.values == 1;
			if (this.own && this.marker != '|') {
				begin(this.marker);
			}
		}
		byte next = 0;
		while (at < to && next != '\n') {
			next = in.getByte(at++);
			if (next >= '0' && next <= '9') {
				this.number = this.number * 10 + (next - '0');
			}
			else if (next == '-') {
				this.negative = true;
			}
		}
		take(in, replies, at - from);
		if (next != '\n') {
			return false;
		}
		endLine();
		this.own = false;
		this.marker = 0;
		return true;
	}

	private void endLine() {
		switch (this.marker) {
			case '+', ':', ',', '#', '(' -> this.values--;
			case '-' -> {
				setKind(Kind.ERROR);
				this.values--;
			}
			case '_' -> nil();
			case '$', '=' -> {
				if (this.negative) {
					nil();
				}
				else {
					this.bulk = this.number + 2;
				}
			}
			case '!' -> {
				setKind(Kind.ERROR);
				this.bulk = this.number + 2;
			}
			case '*' -> {
				if (this.negative) {
					nil();
				}
				else {
					this.header = this.own && this.deals;
					this.values += (this.header) ? -1 : this.number - 1;
				}
			}
			case '~', '>' -> this.values += this.number - 1;
			case '%' -> this.values += 2 * this.number - 1;
			case '|' -> {
				this.attribute |= this.own;
				this.values += 2 * this.number;
			}
			default -> throw new DecoderException("'" + (char) this.marker + "' begins no reply that RESP knows");
		}
	}

	private void nil() {
		setKind(Kind.NIL);
		this.values--;
	}

	private void setKind(Kind kind) {
		if (this.own) {
			this.kind = kind;
		}
	}

	private void take(ByteBuf in, Replies replies, int length) {
		CapturedBytes captured = replies.findings().captured();
		if (this.error) {
			captured.addError(in, length);
		}
		else if (this.capture && this.optional) {
			this.capture = captured.addIfRoom(in, length);
		}
		else if (this.capture) {
			captured.add(in, length);
		}
		in.skipBytes(length);
	}

}
