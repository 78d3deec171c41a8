package io.pipeset.record.body;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The piece of a body that is in memory. It is never larger than one record of the
 * largest size and a read-ahead, whatever the length of the body.
 */
public final class BodyBuffer {

	private static final int USUAL_BYTES = 64 * 1024;

	private static final int CALM_FILLS = 64;

	/** A larger buffer is given up as soon as its record is read. */
	private static final int MOST_KEPT_BYTES = 1 << 20;

	private static final byte[] BYTE_ORDER_MARK = { (byte) 0xEF, (byte) 0xBB, (byte) 0xBF };

	private static final UnsupportedFile[] FOREIGN = UnsupportedFile.values();

	private final InputStream body;

	private final int mostBytes;

	private final MemoryReservation room;

	private byte[] bytes = new byte[USUAL_BYTES];

	private int start;

	private int end;

	/**
	 * Written for every record, by one thread alone: an ordered store is enough for the
	 * others, and costs no fence.
	 */
	private final AtomicLong consumed = new AtomicLong();

	private volatile long filled;

	private int calmFills;

	public BodyBuffer(InputStream body, RecordLimit limit) {
		this.body = body;
		this.room = limit.room();
		this.mostBytes = (int) Math.min((long) limit.bytes() + USUAL_BYTES, Integer.MAX_VALUE - 8);
	}

	/**
	 * The array that holds the piece; another one after a {@link #fill() fill}, or when a
	 * record begins.
	 * @return the array, which parsers may write to within a record
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The first byte of the piece that is not consumed.
	 * @return its index in the array
	 */
	public int start() {
		return this.start;
	}

	/**
	 * The end of the piece.
	 * @return the index after its last byte
	 */
	public int end() {
		return this.end;
	}

	/**
	 * The place in the whole body of a byte in the buffer.
	 * @param at its index in the array
	 * @return its offset in the body, from 0
	 */
	public long offset(int at) {
		return this.consumed.getPlain() + (at - this.start);
	}

	/**
	 * Gives up all bytes before a place. They stay readable until the next fill.
	 * @param to the index of the first byte that is kept
	 */
	public void consume(int to) {
		this.consumed.setRelease(this.consumed.getPlain() + to - this.start);
		this.start = to;
	}

	/**
	 * The part of the bytes read from the body so far that is consumed. Any thread may
	 * ask at any time.
	 * @return 0 to 1
	 */
	public double consumed() {
		// In this order no more is consumed than was read.
		long bytes = this.consumed.getAcquire();
		return bytes / (double) Math.max(1, this.filled);
	}

	/**
	 * Begins a record, whose predecessor is not read any more. A large buffer is given up
	 * then if somebody waits for memory: the next fill may be far away.
	 */
	public void beginRecord() {
		if (this.bytes.length > USUAL_BYTES && this.end - this.start <= USUAL_BYTES && this.room.isScarce()) {
			resize(USUAL_BYTES);
		}
	}

	/**
	 * Reads once, which may block, so that it is called only when no complete record is
	 * left. The bytes that are not consumed move to the front, at most once for each
	 * record.
	 * @return {@code false} at the end of the body
	 * @throws IOException if the body cannot be read
	 */
	public boolean fill() throws IOException {
		makeRoom();
		int count = this.body.read(this.bytes, this.end, Math.min(this.bytes.length - this.end, USUAL_BYTES));
		if (count < 0) {
			return false;
		}
		this.end += count;
		this.filled = offset(this.end);
		return true;
	}

	/**
	 * Consumes the byte order mark that some editors put at the beginning of a text. A
	 * body that begins as a {@link UnsupportedFile} does is refused here.
	 * @throws MalformedBodyException if the body is none of records
	 * @throws IOException if the body cannot be read
	 */
	public void skipByteOrderMark() throws IOException {
		for (UnsupportedFile foreign : FOREIGN) {
			if (begins(foreign.length(), foreign::has)) {
				String first = new String(this.bytes, this.start, foreign.length() - 1, StandardCharsets.ISO_8859_1);
				throw new MalformedBodyException(0, foreign.message(first));
			}
		}
		if (begins(BYTE_ORDER_MARK.length, (place, found) -> found == BYTE_ORDER_MARK[place])) {
			consume(this.start + BYTE_ORDER_MARK.length);
		}
	}

	/** Whether the bytes that are not consumed begin with some of ASCII. */
	public boolean begins(String ascii) throws IOException {
		return begins(ascii.length(), (place, found) -> found == ascii.charAt(place));
	}

	/** Waits for no more bytes than it takes to tell. */
	private boolean begins(int length, Beginning beginning) throws IOException {
		for (int i = 0; i < length; i++) {
			if ((this.start + i == this.end && !fill()) || !beginning.has(i, this.bytes[this.start + i])) {
				return false;
			}
		}
		return true;
	}

	private void makeRoom() {
		int length = this.end - this.start;
		int capacity = capacityFor(length);
		if (capacity != this.bytes.length) {
			resize(capacity);
		}
		else if (this.start > 0) {
			System.arraycopy(this.bytes, this.start, this.bytes, 0, length);
			this.start = 0;
			this.end = length;
		}
	}

	private void resize(int capacity) {
		long given = further(this.bytes.length);
		this.room.take(further(capacity));
		this.bytes = Arrays.copyOfRange(this.bytes, this.start, this.start + capacity);
		this.room.give(given);
		this.end -= this.start;
		this.start = 0;
	}

	// The buffer of a large record is kept for a while, as large records tend to come in
	// numbers.
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

	/** The memory that a buffer takes beyond the usual one, which every job has. */
	private static long further(int capacity) {
		return (capacity == USUAL_BYTES) ? 0 : MemoryReservation.ofArray(capacity);
	}

	/** Compares the first bytes of a body. */
	private interface Beginning {

		boolean has(int place, byte found);

	}

}
