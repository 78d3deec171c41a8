package io.pipeset.record.body;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The part of a body that is in memory. It never holds more than one record of the
 * largest size and a read-ahead, however long the body is.
 */
public final class BodyBuffer {

	private static final int DEFAULT_BYTES = 64 * 1024;

	private static final int MAX_SMALL_FILLS = 64;

	/** A larger buffer is released as soon as its record is read. */
	private static final int MAX_KEPT_BYTES = 1 << 20;

	private static final byte[] BYTE_ORDER_MARK = { (byte) 0xEF, (byte) 0xBB, (byte) 0xBF };

	private static final UnsupportedFile[] UNSUPPORTED = UnsupportedFile.values();

	private final InputStream body;

	private final int maxBytes;

	private final MemoryReservation memory;

	private byte[] bytes = new byte[DEFAULT_BYTES];

	private int start;

	private int end;

	/**
	 * The bytes consumed so far. Only one thread writes it, once for every record. An
	 * ordered store is enough for readers, and needs no memory fence.
	 */
	private final AtomicLong consumed = new AtomicLong();

	private volatile long filled;

	private int smallFills;

	public BodyBuffer(InputStream body, RecordLimit limit) {
		this.body = body;
		this.memory = limit.memory();
		this.maxBytes = (int) Math.min((long) limit.bytes() + DEFAULT_BYTES, Integer.MAX_VALUE - 8);
	}

	/**
	 * The array that holds the buffered bytes. A {@link #fill() fill}, or the begin of a
	 * record, may replace it.
	 * @return the array; parsers may write to it within a record
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The first byte that is not consumed.
	 * @return its index in the array
	 */
	public int start() {
		return this.start;
	}

	/**
	 * The end of the buffered bytes.
	 * @return the index after the last byte
	 */
	public int end() {
		return this.end;
	}

	/**
	 * The position in the body of a byte in the buffer.
	 * @param at its index in the array
	 * @return its offset in the body, from 0
	 */
	public long offset(int at) {
		return this.consumed.getPlain() + (at - this.start);
	}

	/**
	 * Consumes all bytes before an index. They stay readable until the next fill.
	 * @param to the index of the first byte that is not consumed
	 */
	public void consume(int to) {
		this.consumed.setRelease(this.consumed.getPlain() + to - this.start);
		this.start = to;
	}

	/**
	 * The consumed share of the bytes read from the body so far. Any thread may call this
	 * at any time.
	 * @return 0 to 1
	 */
	public double consumed() {
		// Read in this order, the consumed bytes are never more than the filled bytes.
		long bytes = this.consumed.getAcquire();
		return bytes / (double) Math.max(1, this.filled);
	}

	/**
	 * Begins a record; the bytes of the previous one are no longer needed. If a thread
	 * waits for memory, a large buffer is released now, because the next fill may be far
	 * away.
	 */
	public void beginRecord() {
		if (this.bytes.length > DEFAULT_BYTES && this.end - this.start <= DEFAULT_BYTES && this.memory.isScarce()) {
			resize(DEFAULT_BYTES);
		}
	}

	/**
	 * Reads from the body once. This may block, so call it only when the buffer holds no
	 * complete record. It moves the bytes that are not consumed to the front, at most
	 * once for each record.
	 * @return {@code false} at the end of the body
	 * @throws IOException if the body cannot be read
	 */
	public boolean fill() throws IOException {
		makeSpace();
		int count = this.body.read(this.bytes, this.end, Math.min(this.bytes.length - this.end, DEFAULT_BYTES));
		if (count < 0) {
			return false;
		}
		this.end += count;
		this.filled = offset(this.end);
		return true;
	}

	/**
	 * Consumes the byte order mark that some editors put at the beginning of a text. It
	 * refuses a body that begins like an {@link UnsupportedFile}.
	 * @throws MalformedBodyException if the body does not contain records
	 * @throws IOException if the body cannot be read
	 */
	public void skipByteOrderMark() throws IOException {
		for (UnsupportedFile unsupported : UNSUPPORTED) {
			if (begins(unsupported.length(), unsupported::matches)) {
				String first = new String(this.bytes, this.start, unsupported.length() - 1,
						StandardCharsets.ISO_8859_1);
				throw new MalformedBodyException(0, unsupported.message(first));
			}
		}
		if (begins(BYTE_ORDER_MARK.length, (position, found) -> found == BYTE_ORDER_MARK[position])) {
			consume(this.start + BYTE_ORDER_MARK.length);
		}
	}

	/** Whether the bytes that are not consumed begin with an ASCII text. */
	public boolean begins(String ascii) throws IOException {
		return begins(ascii.length(), (position, found) -> found == ascii.charAt(position));
	}

	/** Reads no more bytes than necessary to decide. */
	private boolean begins(int length, ByteTest expected) throws IOException {
		for (int i = 0; i < length; i++) {
			if ((this.start + i == this.end && !fill()) || !expected.matches(i, this.bytes[this.start + i])) {
				return false;
			}
		}
		return true;
	}

	private void makeSpace() {
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
		long released = reservedBytes(this.bytes.length);
		this.memory.reserve(reservedBytes(capacity));
		this.bytes = Arrays.copyOfRange(this.bytes, this.start, this.start + capacity);
		this.memory.release(released);
		this.end -= this.start;
		this.start = 0;
	}

	// The buffer of a large record is kept for a while: they often come in groups.
	private int capacityFor(int length) {
		int capacity = this.bytes.length;
		if (length == capacity) {
			this.smallFills = 0;
			return (int) Math.min(capacity * 2L, this.maxBytes);
		}
		if (length > DEFAULT_BYTES / 2) {
			this.smallFills = 0;
			return capacity;
		}
		this.smallFills++;
		boolean keep = this.smallFills <= MAX_SMALL_FILLS && capacity <= MAX_KEPT_BYTES && !this.memory.isScarce();
		return (keep) ? capacity : DEFAULT_BYTES;
	}

	/** The bytes to reserve for a buffer. The usual buffer needs no reservation. */
	private static long reservedBytes(int capacity) {
		return (capacity == DEFAULT_BYTES) ? 0 : MemoryReservation.ofArray(capacity);
	}

	/** Tests the first bytes of a body one by one. */
	private interface ByteTest {

		boolean matches(int position, byte found);

	}

}
