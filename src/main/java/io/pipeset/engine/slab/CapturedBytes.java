package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The bytes of the replies that are kept, one behind the other, and the memory they take.
 * A reply comes in pieces; until it has ended it can be dropped.
 */
final class CapturedBytes {

	private static final int KEPT_BYTES = 32 << 10;

	private static final int LARGE_BYTES = 1 << 20;

	/** The most that is captured while replies come that a report may do without. */
	private static final int MAX_OPTIONAL_BYTES = 4 << 20;

	/** The bytes of an error that are kept: its code, and more than Redis itself says. */
	private static final int ERROR_BYTES = 512;

	/** The bytes that are kept of an error for which there is no memory. */
	private static final int LEAST_ERROR_BYTES = 48;

	private static final byte[] OK = "+OK\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] CUT = "...\r\n".getBytes(StandardCharsets.US_ASCII);

	private final MemoryReservation room;

	/** The memory that was taken for replies that a report may do without. */
	private long taken;

	private byte[] bytes = new byte[256];

	private int size;

	/** The end of the last complete reply. */
	private int end;

	/** Whether some of the error that has not ended was left out. */
	private boolean cut;

	/**
	 * No bytes yet.
	 * @param room the memory for replies that a report may do without
	 */
	CapturedBytes(MemoryReservation room) {
		this.room = room;
	}

	void clear() {
		this.size = 0;
		this.end = 0;
		this.cut = false;
		if (this.bytes.length > KEPT_BYTES) {
			this.bytes = new byte[256];
		}
		this.room.give(this.taken);
		this.taken = 0;
	}

	/** Adds a piece of a reply. */
	void add(ByteBuf in, int length) {
		int needed = reserve(length);
		in.getBytes(in.readerIndex(), this.bytes, this.size, length);
		this.size = needed;
	}

	/**
	 * Adds a piece of a reply that a report may do without; {@code false} where there is
	 * no room for it, after which nothing of the reply is left.
	 */
	boolean addIfRoom(ByteBuf in, int length) {
		boolean hasRoom = length <= MAX_OPTIONAL_BYTES - this.size && takeFor(length);
		if (hasRoom) {
			add(in, length);
		}
		else {
			drop();
		}
		return hasRoom;
	}

	/** Adds a piece of an error, as far as its beginning is not there yet. */
	void addError(ByteBuf in, int length) {
		int needed = Math.min(this.size + length, this.end + ERROR_BYTES) + CUT.length;
		boolean hasRoom = needed <= Math.max(this.taken, KEPT_BYTES)
				|| take((needed > this.bytes.length) ? sizeFor(needed) : this.bytes.length);
		int most = (hasRoom) ? ERROR_BYTES : LEAST_ERROR_BYTES;
		int kept = Math.min(length, this.end + most - this.size);
		if (kept > 0) {
			add(in, kept);
		}
		this.cut |= kept < length;
	}

	/** Ends an error with dots where it was cut. */
	void endError() {
		if (!this.cut) {
			return;
		}
		this.cut = false;
		// Rather one character less than a part of one.
		while ((this.bytes[this.size - 1] & 0xc0) == 0x80) {
			this.size--;
		}
		this.size -= (this.bytes[this.size - 1] < 0 || this.bytes[this.size - 1] == '\r') ? 1 : 0;
		int needed = reserve(CUT.length);
		System.arraycopy(CUT, 0, this.bytes, this.size, CUT.length);
		this.size = needed;
		if (this.bytes[this.end] == '!') {
			// Its line says how long it was, in as many digits or more.
			int from = Resp.skipLine(this.bytes, this.end);
			int to = Resp.putHeader(this.bytes, this.end, '!', this.size - from - 2);
			System.arraycopy(this.bytes, from, this.bytes, to, this.size - from);
			this.size -= from - to;
		}
	}

	void addBulk(byte[] value) {
		reserve(value.length + Resp.MAX_HEADER + 2);
		this.size = Resp.putBulk(this.bytes, this.size, value, 0, value.length);
	}

	void addInteger(long value) {
		addLine((":" + value + "\r\n").getBytes(StandardCharsets.US_ASCII));
	}

	/** Adds the reply of a SET that ran. */
	void addOk() {
		addLine(OK);
	}

	private void addLine(byte[] line) {
		int needed = reserve(line.length);
		System.arraycopy(line, 0, this.bytes, this.size, line.length);
		this.size = needed;
	}

	/** Whether the reply that has not ended is an integer. */
	boolean isInteger() {
		return this.size > this.end && this.bytes[this.end] == ':';
	}

	/** The array that holds the bytes; not to be modified. */
	byte[] bytes() {
		return this.bytes;
	}

	/** The beginning of the reply that has not ended. */
	int start() {
		return this.end;
	}

	/** Ends a reply; where it ends, and the next one begins. */
	int end() {
		this.end = this.size;
		return this.end;
	}

	/** Forgets the reply that has not ended. */
	void drop() {
		this.size = this.end;
		this.cut = false;
	}

	/** Forgets the reply that has not ended, an error. */
	Refusal dropError() {
		drop();
		return Refusal.of(String.valueOf(decoder(this.end, Encoding.UTF8).next()));
	}

	ReplyDecoder decoder(int from, Encoding encoding) {
		return new ReplyDecoder(this.bytes, from, encoding);
	}

	private boolean takeFor(int length) {
		int needed = this.size + length;
		return needed <= Math.max(this.bytes.length, KEPT_BYTES) || take(sizeFor(needed));
	}

	/** Takes the memory of an array of this size; false where there is none. */
	private boolean take(int size) {
		long more = MemoryReservation.ofArray(size) - this.taken;
		boolean taken = this.room.tryTake(more);
		this.taken += (taken) ? more : 0;
		return taken;
	}

	/** Makes the array large enough for more bytes; the size with them. */
	private int reserve(int length) {
		int needed = this.size + length;
		if (needed > this.bytes.length) {
			this.bytes = Arrays.copyOf(this.bytes, sizeFor(needed));
		}
		return needed;
	}

	/**
	 * A large array may be most of the heap already, and its copy would take as much
	 * again if it were twice as large.
	 */
	private int sizeFor(int needed) {
		int more = (this.bytes.length < LARGE_BYTES) ? this.bytes.length : this.bytes.length / 4;
		return Math.max(needed, this.bytes.length + more);
	}

}
