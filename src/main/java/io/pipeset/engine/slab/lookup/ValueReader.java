package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;

/**
 * Reads replies and passes each value to its lookup. The network may cut the replies
 * anywhere. Pushes and attributes are skipped. A reply type that {@link Lookup} does not
 * have is refused.
 */
final class ValueReader {

	/** The most bytes kept of a line. An error may be longer. */
	private static final int MAX_LINE_BYTES = 512;

	private static final int NO_BULK = -1;

	private final byte[] line = new byte[MAX_LINE_BYTES];

	private int lineBytes;

	private int lastByte;

	/** Bytes to come of a bulk string and its CRLF. */
	private long bulkLeft = NO_BULK;

	/** Values to come until the reply is complete; 0 between replies. */
	private long valuesLeft;

	/** Values to come of a push or an attribute. */
	private long skipsLeft;

	private int answered;

	/**
	 * Reads as many replies as there are.
	 * @param replies the number of replies expected in all
	 * @return whether all have arrived; later bytes stay unread
	 */
	boolean read(ByteBuf in, Lookup lookup, int replies) {
		while (this.answered < replies) {
			boolean whole = (this.bulkLeft != NO_BULK) ? readBulk(in, lookup) : readLine(in, lookup);
			if (!whole) {
				return false;
			}
		}
		return true;
	}

	private boolean readBulk(ByteBuf in, Lookup lookup) {
		int content = (int) Math.min(Math.max(0, this.bulkLeft - 2), in.readableBytes());
		if (this.skipsLeft > 0) {
			in.skipBytes(content);
		}
		else if (content > 0) {
			lookup.bulk(in, content);
		}
		this.bulkLeft -= content;
		if (this.bulkLeft > 2) {
			return false;
		}
		int end = (int) Math.min(this.bulkLeft, in.readableBytes());
		in.skipBytes(end);
		this.bulkLeft -= end;
		if (this.bulkLeft > 0) {
			return false;
		}
		this.bulkLeft = NO_BULK;
		if (this.skipsLeft > 0) {
			this.skipsLeft--;
		}
		else {
			lookup.endBulk();
			endValue();
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
			throw Lookup.unexpected("an empty line");
		}
		if (this.skipsLeft > 0) {
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
				endValue();
			}
			case ':' -> {
				lookup.number(number(end));
				endValue();
			}
			case '-' -> {
				lookup.error(new String(this.line, 1, end - 1, StandardCharsets.UTF_8));
				endValue();
			}
			case '_' -> nil(lookup);
			case '$', '=' -> {
				long length = number(end);
				if (length < 0) {
					nil(lookup);
				}
				else {
					this.bulkLeft = length + 2;
				}
			}
			case '*' -> {
				long elements = number(end);
				if (elements < 0) {
					nil(lookup);
				}
				else {
					lookup.array(elements);
					this.valuesLeft = Math.max(1, this.valuesLeft) + elements;
					endValue();
				}
			}
			case '>' -> this.skipsLeft = number(end);
			case '|' -> this.skipsLeft = 2 * number(end);
			default -> throw Lookup.unexpected("'" + (char) this.line[0] + "'");
		}
	}

	private void nil(Lookup lookup) {
		lookup.nil();
		endValue();
	}

	private void endValue() {
		this.valuesLeft = Math.max(1, this.valuesLeft) - 1;
		if (this.valuesLeft == 0) {
			this.answered++;
		}
	}

	/** Handles a line of a push or an attribute. */
	private void skip(int end) {
		switch (this.line[0]) {
			case '+', '-', ':', '_', ',', '#', '(' -> this.skipsLeft--;
			case '$', '=', '!' -> {
				long length = number(end);
				if (length < 0) {
					this.skipsLeft--;
				}
				else {
					this.bulkLeft = length + 2;
				}
			}
			case '*', '~', '>' -> this.skipsLeft += Math.max(0, number(end)) - 1;
			case '%' -> this.skipsLeft += 2 * number(end) - 1;
			case '|' -> this.skipsLeft += 2 * number(end);
			default -> throw Lookup.unexpected("'" + (char) this.line[0] + "'");
		}
	}

	private long number(int end) {
		boolean negative = this.line[1] == '-';
		long number = 0;
		int from = (negative) ? 2 : 1;
		for (int i = from; i < end; i++) {
			int digit = this.line[i] - '0';
			if (digit < 0 || digit > 9 || i - from > 18) {
				throw new DecoderException(
						"Redis sent an invalid number: " + new String(this.line, 0, end, StandardCharsets.ISO_8859_1));
			}
			number = number * 10 + digit;
		}
		if (end <= from) {
			throw new DecoderException("Redis sent a number without digits");
		}
		return (negative) ? -number : number;
	}

}
