package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The bytes of the kept replies, one after the other, and the memory they take. A reply
 * arrives in pieces and can be dropped until it is complete.
 */
final class CapturedBytes {

	private static final int MAX_REUSED_BYTES = 32 << 10;

	private static final int LARGE_BYTES = 1 << 20;

	/** The most bytes captured in all while optional replies are added. */
	private static final int MAX_OPTIONAL_BYTES = 4 << 20;

	/**
	 * The most bytes kept of an error: enough for its code and for more text than Redis's
	 * own errors have.
	 */
	private static final int ERROR_BYTES = 512;

	/** The most bytes kept of an error if there is no memory for it. */
	private static final int MIN_ERROR_BYTES = 48;

	private static final byte[] OK = "+OK\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] CUT = "...\r\n".getBytes(StandardCharsets.US_ASCII);

	private final MemoryReservation reservation;

	private long reserved;

	private byte[] bytes = new byte[256];

	private int size;

	/** The index after the last complete reply. */
	private int end;

	/** Whether the current error was cut. */
	private boolean cut;

	/**
	 * Creates an empty buffer.
	 * @param reservation the memory for replies that a report can do without
	 */
	CapturedBytes(MemoryReservation reservation) {
		this.reservation = reservation;
	}

	void clear() {
		this.size = 0;
		this.end = 0;
		this.cut = false;
		if (this.bytes.length > MAX_REUSED_BYTES) {
			this.bytes = new byte[256];
		}
		this.reservation.release(this.reserved);
		this.reserved = 0;
	}

	void add(ByteBuf in, int length) {
		int needed = ensureCapacity(length);
		in.getBytes(in.readerIndex(), this.bytes, this.size, length);
		this.size = needed;
	}

	/**
	 * Adds a piece of a reply that a report can do without. Returns {@code false} if
	 * there is no memory for the piece. The whole reply is dropped then.
	 */
	boolean tryAdd(ByteBuf in, int length) {
		boolean added = length <= MAX_OPTIONAL_BYTES - this.size && tryReserveFor(length);
		if (added) {
			add(in, length);
		}
		else {
			discard();
		}
		return added;
	}

	/** Adds a piece of an error, up to the bytes that are kept of one. */
	void addError(ByteBuf in, int length) {
		int needed = Math.min(this.size + length, this.end + ERROR_BYTES) + CUT.length;
		boolean hasMemory = needed <= Math.max(this.reserved, MAX_REUSED_BYTES)
				|| tryReserve((needed > this.bytes.length) ? sizeFor(needed) : this.bytes.length);
		int most = (hasMemory) ? ERROR_BYTES : MIN_ERROR_BYTES;
		int kept = Math.min(length, this.end + most - this.size);
		if (kept > 0) {
			add(in, kept);
		}
		this.cut |= kept < length;
	}

	/** Ends an error with dots if it was cut. */
	void endError() {
		if (!this.cut) {
			return;
		}
		this.cut = false;
		// Drop the last character or CR, because it may be cut.
		while ((this.bytes[this.size - 1] & 0xc0) == 0x80) {
			this.size--;
		}
		this.size -= (this.bytes[this.size - 1] < 0 || this.bytes[this.size - 1] == '\r') ? 1 : 0;
		int needed = ensureCapacity(CUT.length);
		System.arraycopy(CUT, 0, this.bytes, this.size, CUT.length);
		this.size = needed;
		if (this.bytes[this.end] == '!') {
			// The header has the full length. The new one has as many digits or fewer.
			int from = Resp.skipLine(this.bytes, this.end);
			int to = Resp.putHeader(this.bytes, this.end, '!', this.size - from - 2);
			System.arraycopy(this.bytes, from, this.bytes, to, this.size - from);
			this.size -= from - to;
		}
	}

	void addBulk(byte[] value) {
		ensureCapacity(value.length + Resp.MAX_HEADER + 2);
		this.size = Resp.putBulk(this.bytes, this.size, value, 0, value.length);
	}

	void addInteger(long value) {
		addLine((":" + value + "\r\n").getBytes(StandardCharsets.US_ASCII));
	}

	void addOk() {
		addLine(OK);
	}

	private void addLine(byte[] line) {
		int needed = ensureCapacity(line.length);
		System.arraycopy(line, 0, this.bytes, this.size, line.length);
		this.size = needed;
	}

	boolean isInteger() {
		return this.size > this.end && this.bytes[this.end] == ':';
	}

	/** The array with the bytes. The caller must not modify it. */
	byte[] bytes() {
		return this.bytes;
	}

	int start() {
		return this.end;
	}

	/** Ends the current reply. Returns the index after it, where the next one begins. */
	int end() {
		this.end = this.size;
		return this.end;
	}

	void discard() {
		this.size = this.end;
		this.cut = false;
	}

	/** Drops the current reply, an error, and parses it. */
	Refusal discardError() {
		discard();
		return Refusal.of(String.valueOf(decoder(this.end, Encoding.UTF8).next()));
	}

	ReplyDecoder decoder(int from, Encoding encoding) {
		return new ReplyDecoder(this.bytes, from, encoding);
	}

	private boolean tryReserveFor(int length) {
		int needed = this.size + length;
		return needed <= Math.max(this.bytes.length, MAX_REUSED_BYTES) || tryReserve(sizeFor(needed));
	}

	/**
	 * Takes the memory of an array of this size. Returns {@code false} if it is not free.
	 */
	private boolean tryReserve(int size) {
		long more = MemoryReservation.ofArray(size) - this.reserved;
		boolean free = this.reservation.tryReserve(more);
		this.reserved += (free) ? more : 0;
		return free;
	}

	/** Grows the array for more bytes. Returns the size with them. */
	private int ensureCapacity(int length) {
		int needed = this.size + length;
		if (needed > this.bytes.length) {
			this.bytes = Arrays.copyOf(this.bytes, sizeFor(needed));
		}
		return needed;
	}

	/**
	 * The next size of the array. A large array grows by a quarter only, because it may
	 * already fill most of the heap.
	 */
	private int sizeFor(int needed) {
		int more = (this.bytes.length < LARGE_BYTES) ? this.bytes.length : this.bytes.length / 4;
		return Math.max(needed, this.bytes.length + more);
	}

}
