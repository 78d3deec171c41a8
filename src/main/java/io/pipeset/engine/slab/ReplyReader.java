package io.pipeset.engine.slab;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.NotableReplies.Kind;

/**
 * Counts replies of every type of RESP2 and RESP3 without an object for each. The network
 * may cut the replies anywhere. Pushes are skipped, because they answer no command.
 */
final class ReplyReader {

	private static final int OK = ('+' << 24) | ('O' << 16) | ('K' << 8) | '\r';

	/** The reply of most commands that count. */
	private static final int ONE = (':' << 24) | ('1' << 16) | ('\r' << 8) | '\n';

	private static final int CRLF_BYTES = 2;

	/**
	 * A bulk string with this many digits in its length, or more, is not read at once.
	 */
	private static final int MAX_DIGITS = 8;

	/** Values to come until the reply is complete; 0 between replies. */
	private long valuesLeft;

	/** The marker of the line being read; 0 between lines. */
	private int marker;

	/** The digits of the line read so far. */
	private long number;

	private boolean negative;

	/** Bytes to come of a bulk string and its CRLF. */
	private long bulkLeft;

	/** Whether the line is the reply's first, and not one inside of it. */
	private boolean ownLine;

	/** Whether an attribute comes before the reply's first line. */
	private boolean attribute;

	private Kind kind = Kind.VALUE;

	private boolean push;

	/** Whether to keep the reply if it is no error. Errors are always kept. */
	private boolean wanted;

	private boolean error;

	private boolean capture;

	/** Whether a report can do without the captured bytes. */
	private boolean optional;

	private boolean noteValue;

	/** How many bytes of the reply are still captured. A larger one is dropped. */
	private int captureLeft;

	/** Whether the reply is of no interest if it is a positive number. */
	private boolean dropsPositive;

	private boolean control;

	/** If the reply is an array, whether its elements are replies to commands. */
	private boolean expectsNested;

	private boolean nested;

	/** Forgets a reply that the connection brought only in part. */
	void clear() {
		this.valuesLeft = 0;
		this.marker = 0;
		this.bulkLeft = 0;
	}

	/**
	 * Reads the replies to a slab's attempt.
	 * @param in the bytes received, cut anywhere
	 * @return whether every command of the slab is answered; later bytes stay unread
	 */
	boolean read(ByteBuf in, Attempt attempt) {
		Replies replies = attempt.replies();
		int commands = attempt.count();
		while (replies.count() < commands || replies.isControlNext()) {
			if (this.valuesLeft == 0) {
				if (in.readableBytes() >= 5 && in.getInt(in.readerIndex()) == OK && !replies.isControlNext()
						&& !attempt.capturesNext()) {
					in.skipBytes(5);
					replies.countPlain();
					continue;
				}
				if (in.readableBytes() >= 4 && in.getInt(in.readerIndex()) == ONE && !replies.isControlNext()
						&& (attempt.dropsNextIfPositive() || (!attempt.capturesNext() && !attempt.notesNextValue()))) {
					in.skipBytes(4);
					replies.countPlain();
					continue;
				}
				if (!in.isReadable()) {
					return false;
				}
				if (captureBulk(in, attempt)) {
					continue;
				}
				begin(in.getByte(in.readerIndex()), attempt);
			}
			if (!readReply(in, replies)) {
				return false;
			}
			if (this.valuesLeft == 0) {
				end(replies);
			}
		}
		return true;
	}

	/** Captures a bulk string that is needed and complete, as most values are. */
	private static boolean captureBulk(ByteBuf in, Attempt attempt) {
		int from = in.readerIndex();
		Replies replies = attempt.replies();
		if (in.getByte(from) != '$' || replies.isControlNext() || replies.isArrayNext() || !attempt.needsNextReply()) {
			return false;
		}
		int last = in.writerIndex() - 1;
		int at = from + 1;
		int length = 0;
		byte digit = 0;
		while (at <= last && at - from <= MAX_DIGITS) {
			digit = in.getByte(at);
			if (digit < '0' || digit > '9') {
				break;
			}
			length = length * 10 + (digit - '0');
			at++;
		}
		int whole = at - from + length + 2 * CRLF_BYTES;
		if (digit != '\r' || at == from + 1 || whole > Math.min(in.readableBytes(), attempt.maxNextBytes())) {
			return false;
		}
		replies.notableReplies().captured().add(in, whole);
		in.skipBytes(whole);
		replies.addNotable(Kind.VALUE);
		return true;
	}

	private void begin(byte first, Attempt attempt) {
		this.valuesLeft = 1;
		this.ownLine = true;
		this.attribute = false;
		this.push = first == '>';
		this.kind = Kind.VALUE;
		Replies replies = attempt.replies();
		this.control = replies.isControlNext();
		this.expectsNested = replies.isExecNext() || replies.isArrayNext();
		this.nested = false;
		this.noteValue = !this.control && attempt.notesNextValue();
		this.dropsPositive = first == ':' && !this.control && attempt.dropsNextIfPositive();
		this.optional = !this.control && !attempt.needsNextReply();
		this.wanted = !this.push && !this.control && !this.expectsNested && attempt.capturesNext();
		this.error = false;
		this.capture = false;
		this.captureLeft = (this.wanted) ? attempt.maxNextBytes() : 0;
	}

	/** Begins the reply's own first line. An attribute before it is not kept. */
	private void begin(int marker) {
		this.error = marker == '-' || marker == '!';
		this.capture = this.error || this.wanted;
	}

	private void end(Replies replies) {
		if (this.push) {
			return;
		}
		if (this.error) {
			replies.notableReplies().captured().endError();
		}
		if (this.nested) {
			replies.beginArray(this.number);
		}
		else if (this.control) {
			replies.control(this.kind, this.number);
		}
		else if (this.kind == Kind.VALUE && !this.capture && !this.noteValue) {
			replies.countPlain();
		}
		else if (this.dropsPositive && this.number > 0 && !this.negative) {
			replies.notableReplies().captured().discard();
			replies.countPlain();
		}
		else {
			replies.addNotable(this.kind);
		}
	}

	/**
	 * Reads until the reply is complete, or returns {@code false} at the end of the
	 * bytes.
	 */
	private boolean readReply(ByteBuf in, Replies replies) {
		while (this.valuesLeft > 0) {
			if (this.bulkLeft > 0) {
				int length = (int) Math.min(this.bulkLeft, in.readableBytes());
				take(in, replies, length);
				this.bulkLeft -= length;
				if (this.bulkLeft > 0) {
					return false;
				}
				this.valuesLeft--;
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
			this.ownLine |= this.attribute && this.valuesLeft == 1;
			if (this.ownLine && this.marker != '|') {
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
		this.ownLine = false;
		this.marker = 0;
		return true;
	}

	private void endLine() {
		switch (this.marker) {
			case '+', ':', ',', '#', '(' -> this.valuesLeft--;
			case '-' -> {
				setKind(Kind.ERROR);
				this.valuesLeft--;
			}
			case '_' -> nil();
			case '$', '=' -> {
				if (this.negative) {
					nil();
				}
				else {
					this.bulkLeft = this.number + 2;
				}
			}
			case '!' -> {
				setKind(Kind.ERROR);
				this.bulkLeft = this.number + 2;
			}
			case '*' -> {
				if (this.negative) {
					nil();
				}
				else {
					this.nested = this.ownLine && this.expectsNested;
					this.valuesLeft += (this.nested) ? -1 : this.number - 1;
				}
			}
			case '~', '>' -> this.valuesLeft += this.number - 1;
			case '%' -> this.valuesLeft += 2 * this.number - 1;
			case '|' -> {
				this.attribute |= this.ownLine;
				this.valuesLeft += 2 * this.number;
			}
			default -> throw new DecoderException("'" + (char) this.marker + "' is no type of a RESP reply");
		}
	}

	private void nil() {
		setKind(Kind.NIL);
		this.valuesLeft--;
	}

	private void setKind(Kind kind) {
		if (this.ownLine) {
			this.kind = kind;
		}
	}

	private void take(ByteBuf in, Replies replies, int length) {
		CapturedBytes captured = replies.notableReplies().captured();
		if (this.error) {
			captured.addError(in, length);
		}
		else if (this.capture && this.optional) {
			this.capture = captured.tryAdd(in, length);
		}
		else if (this.capture && length > this.captureLeft) {
			this.capture = false;
			captured.discard();
		}
		else if (this.capture) {
			this.captureLeft -= length;
			captured.add(in, length);
		}
		in.skipBytes(length);
	}

}
