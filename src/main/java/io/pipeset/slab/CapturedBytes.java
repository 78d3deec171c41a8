package io.pipeset.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.room.Room;

/**
 * The bytes of the replies that are kept, one behind the other, and the memory they take.
 * A reply comes in pieces; until it has ended it can be dropped.
 */
final class CapturedBytes {

	private static final int KEPT_BYTES = 32 << 10;

	private static final int LARGE_BYTES = 1 << 20;

	/** The most that is captured while replies come that a report may do without. */
	private static final int MAX_OPTIONAL_BYTES = 4 << 20;

	private final Room room;

	/** The memory that was taken for replies that a report may do without. */
	private long taken;

	private byte[] bytes = new byte[256];

	private int size;

	/** The end of the last complete reply. */
	private int end;

	/**
	 * No bytes yet.
	 * @param room the memory for replies that a report may do without
	 */
	CapturedBytes(Room room) {
		this.room = room;
	}

	void clear() {
		this.size = 0;
		this.end = 0;
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

	/** Adds a bulk string. */
	void addBulk(byte[] value) {
		reserve(value.length + Resp.MAX_HEADER + 2);
		this.size = Resp.putBulk(this.bytes, this.size, value, 0, value.length);
	}

	/** Adds an integer. */
	void addInteger(long value) {
		byte[] line = (":" + value + "\r\n").getBytes(StandardCharsets.US_ASCII);
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
	}

	/** Forgets the reply that has not ended, an error. */
	String dropError() {
		drop();
		return String.valueOf(decoder(this.end, Encoding.UTF8).next());
	}

	ReplyDecoder decoder(int from, Encoding encoding) {
		return new ReplyDecoder(this.bytes, from, encoding);
	}

	private boolean takeFor(int length) {
		int needed = this.size + length;
		if (needed <= Math.max(this.bytes.length, KEPT_BYTES)) {
			return true;
		}
		long more = Room.ofArray(sizeFor(needed)) - this.taken;
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
