package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;

/**
 * Reads replies for their values, wherever the network cuts them, and hands each value to
 * its lookup. It skips pushes and attributes. A reply of another type than those of
 * {@link Lookup} is refused.
 */
final class ValueReader {

	/** The most bytes of a line that are kept: an error may be longer. */
	private static final int MAX_LINE_BYTES = 512;

	private static final int NO_BULK = -1;

	private final byte[] line = new byte[MAX_LINE_BYTES];

	private int lineBytes;

	private int lastByte;

	/** Bytes still to come of a string and its CRLF. */
	private long bulk = NO_BULK;

	/** Values still to come before the reply is whole; 0 between replies. */
	private long values;

	/** Values still to come of a push or an attribute. */
	private long skipped;

	private int answered;

	/**
	 * Reads on.
	 * @param replies the replies that it expects in all
	 * @return whether all have come; the bytes behind are left unread
	 */
	boolean read(ByteBuf in, Lookup lookup, int replies) {
		while (this.answered < replies) {
			boolean whole = (this.bulk != NO_BULK) ? readBulk(in, lookup) : readLine(in, lookup);
			if (!whole) {
				return false;
			}
		}
		return true;
	}

	private boolean readBulk(ByteBuf in, Lookup lookup) {
		int content = (int) Math.min(Math.max(0, this.bulk - 2), in.readableBytes());
		if (this.skipped > 0) {
			in.skipBytes(content);
		}
		else if (content > 0) {
			lookup.bulk(in, content);
		}
		this.bulk -= content;
		if (this.bulk > 2) {
			return false;
		}
		int end = (int) Math.min(this.bulk, in.readableBytes());
		in.skipBytes(end);
		this.bulk -= end;
		if (this.bulk > 0) {
			return false;
		}
		this.bulk = NO_BULK;
		if (this.skipped > 0) {
			this.skipped--;
		}
		else {
			lookup.bulkEnds();
			valueEnds();
		}
		return true;
	}

	private boolean readLine(ByteBuf in, Lookup lookup) {
		int at = in.readerIndex();
		int to = in.writerIndex();
		while (at < to && this.lastByte != '\n') {
			byte next = in.getByte(at++);
			if (this.lineBytes < MAX_LINE_BYTES) {
				this.line[this.lineBytes++] = next;
			}
			this.lastByte = next;
		}
		in.readerIndex(at);
		if (this.lastByte != '\n') {
			return false;
		}
		int end = this.lineBytes;
		while (end > 0 && (this.line[end - 1] == '\n' || this.line[end - 1] == '\r')) {
			end--;
		}
		this.lineBytes = 0;
		this.lastByte = 0;
		if (end == 0) {
			throw Lookup.doesNotFit("an empty line");
		}
		if (this.skipped > 0) {
			skip(end);
		}
		else {
			take(end, lookup);
		}
		return true;
	}

	private void take(int end, Lookup lookup) {
		switch (this.line[0]) {
			case '+' -> {
				lookup.text(this.line, 1, end);
				valueEnds();
			}
			case ':' -> {
				lookup.number(number(end));
				valueEnds();
			}
			case '-' -> {
				lookup.error(new String(this.line, 1, end - 1, StandardCharsets.UTF_8));
				valueEnds();
			}
			case '_' -> nil(lookup);
			case '$', '=' -> {
				long length = number(end);
				if (length < 0) {
					nil(lookup);
				}
				else {
					this.bulk = length + 2;
				}
			}
			case '*' -> {
				long elements = number(end);
				if (elements < 0) {
					nil(lookup);
				}
				else {
					lookup.array(elements);
					this.values = Math.max(1, this.values) + elements;
					valueEnds();
				}
			}
			case '>' -> this.skipped = number(end);
			case '|' -> this.skipped = 2 * number(end);
			default -> throw Lookup.doesNotFit("'" + (char) this.line[0] + "'");
		}
	}

	private void nil(Lookup lookup) {
		lookup.nil();
		valueEnds();
	}

	private void valueEnds() {
		this.values = Math.max(1, this.values) - 1;
		if (this.values == 0) {
			this.answered++;
		}
	}

	/** Takes a line of a push or an attribute. */
	private void skip(int end) {
		switch (this.line[0]) {
			case '+', '-', ':', '_', ',', '#', '(' -> this.skipped--;
			case '$', '=', '!' -> {
				long length = number(end);
				if (length < 0) {
					this.skipped--;
				}
				else {
					this.bulk = length + 2;
				}
			}
			case '*', '~', '>' -> this.skipped += Math.max(0, number(end)) - 1;
			case '%' -> this.skipped += 2 * number(end) - 1;
			case '|' -> this.skipped += 2 * number(end);
			default -> throw Lookup.doesNotFit("'" + (char) this.line[0] + "'");
		}
	}

	private long number(int end) {
		boolean negative = this.line[1] == '-';
		long number = 0;
		int from = (negative) ? 2 : 1;
		for (int i = from; i < end; i++) {
			int digit = this.line[i] - '0';
			if (digit < 0 || digit > 9 || i - from > 18) {
				throw new DecoderException("Redis sent a number that is none: "
						+ new String(this.line, 0, end, StandardCharsets.ISO_8859_1));
			}
			number = number * 10 + digit;
		}
		if (end <= from) {
			throw new DecoderException("Redis sent a number without digits");
		}
		return (negative) ? -number : number;
	}

}
