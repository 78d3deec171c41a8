package io.pipeset.record;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * The piece of a body that is in memory: never more than one record of the largest size
 * and a read-ahead, whatever the length of the body.
 */
final class BodyBuffer {

	private static final int USUAL_BYTES = 64 * 1024;

	private static final int CALM_FILLS = 64;

	/** A buffer that is larger is given up as soon as its record is through. */
	private static final int MOST_KEPT_BYTES = 1 << 20;

	private static final byte[] BYTE_ORDER_MARK = { (byte) 0xEF, (byte) 0xBB, (byte) 0xBF };

	private static final byte[] GZIP = { 0x1F, (byte) 0x8B };

	private final InputStream body;

	private final int mostBytes;

	private final Room room;

	private byte[] bytes = new byte[USUAL_BYTES];

	private int start;

	private int end;

	private long consumed;

	private int calmFills;

	/**
	 * Holds a piece of a body.
	 * @param body where it comes from
	 * @param limit the largest record
	 */
	BodyBuffer(InputStream body, RecordLimit limit) {
		this.body = body;
		this.room = limit.room();
		this.mostBytes = (int) Math.min((long) limit.bytes() + USUAL_BYTES, Integer.MAX_VALUE - 8);
	}

	byte[] bytes() {
		return this.bytes;
	}

	int start() {
		return this.start;
	}

	int end() {
		return this.end;
	}

	/** The place in the whole body of a place in the buffer. */
	long offset(int at) {
		return this.consumed + (at - this.start);
	}

	/** Gives up everything before a place; its bytes stand until the next fill. */
	void consume(int to) {
		this.consumed += to - this.start;
		this.start = to;
	}

	/**
	 * Reads once, which may block: so only when no complete record is left. What is not
	 * consumed moves to the front, hence at most once for each record.
	 * @return {@code false} at the end of the body
	 */
	boolean fill() throws IOException {
		makeRoom();
		int count = this.body.read(this.bytes, this.end, this.bytes.length - this.end);
		if (count < 0) {
			return false;
		}
		this.end += count;
		return true;
	}

	/**
	 * Consumes the mark that some editors put at the beginning of a text, which in no
	 * format begins as gzip does.
	 */
	void skipByteOrderMark() throws IOException {
		if (begins(GZIP)) {
			throw new MalformedBodyException(0, Remedies.SAY_GZIP);
		}
		if (begins(BYTE_ORDER_MARK)) {
			consume(this.start + BYTE_ORDER_MARK.length);
		}
	}

	private boolean begins(byte[] mark) throws IOException {
		for (int i = 0; i < mark.length; i++) {
			if ((this.start + i == this.end && !fill()) || this.bytes[this.start + i] != mark[i]) {
				return false;
			}
		}
		return true;
	}

	private void makeRoom() {
		int length = this.end - this.start;
		int capacity = capacityFor(length);
		if (capacity != this.bytes.length) {
			long given = further(this.bytes.length);
			this.room.take(further(capacity));
			this.bytes = Arrays.copyOfRange(this.bytes, this.start, this.start + capacity);
			this.room.give(given);
		}
		else if (this.start > 0) {
			System.arraycopy(this.bytes, this.start, this.bytes, 0, length);
		}
		this.start = 0;
		this.end = length;
	}

	// A giant record's buffer is kept for a while, as giants tend to come in numbers.
	private int capacityFor(int length) {
		int capacity = this.bytes.length;
		if (length == capacity) {
			this.calmFills = 0;
			return (int) Math.min(capacity * 2L, this.mostBytes);
		}
		if (length > USUAL_BYTES / 2) {
			this.calmFills = 0;
			return capacity;
		}
		this.calmFills++;
		boolean kept = this.calmFills <= CALM_FILLS && capacity <= MOST_KEPT_BYTES && !this.room.isScarce();
		return (kept) ? capacity : USUAL_BYTES;
	}

	/** What a buffer of a size takes beyond that of the usual one. */
	private static long further(int capacity) {
		return (capacity == USUAL_BYTES) ? 0 : Room.ofArray(capacity);
	}

}
