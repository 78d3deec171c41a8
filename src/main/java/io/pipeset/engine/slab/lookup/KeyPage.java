package io.pipeset.engine.slab.lookup;

import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The keys of one page of SCAN, and what Redis knows of each, in arrays that the next
 * page uses again. One thread after the other uses a page: that of the connection fills
 * it, and then it belongs to that of the job.
 */
public final class KeyPage {

	/** Stands for a figure that a key does not have: it is gone, or was not asked for. */
	public static final long UNKNOWN = -2;

	private static final int BYTES_OF_KEY = Integer.BYTES + 1 + 2 * Long.BYTES;

	private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

	private final MemoryReservation room;

	private long taken;

	private byte[] bytes = new byte[0];

	private int used;

	private int[] ends = new int[0];

	private byte[] types = new byte[0];

	private long[] sizes = new long[0];

	private long[] ttls = new long[0];

	private int count;

	/** The size of all keys, including those for which there was no room. */
	private long allBytes;

	private long allKeys;

	private boolean isTooLarge;

	private String cursor = Scan.START;

	public KeyPage(MemoryReservation room) {
		this.room = room;
	}

	/** Forgets the keys, for another page. */
	public void clear() {
		this.used = 0;
		this.count = 0;
		this.allBytes = 0;
		this.allKeys = 0;
		this.isTooLarge = false;
		this.cursor = Scan.START;
	}

	/** Forgets some of the keys, before anything is known of them. */
	public void retain(Condition condition) {
		int kept = 0;
		int from = 0;
		this.used = 0;
		for (int key = 0; key < this.count; key++) {
			int to = this.ends[key];
			if (condition.holds(this.bytes, from, to)) {
				System.arraycopy(this.bytes, from, this.bytes, this.used, to - from);
				this.used += to - from;
				this.ends[kept++] = this.used;
			}
			from = to;
		}
		this.count = kept;
	}

	/** Takes the next bytes of a key, which is not whole before {@link #endKey}. */
	void append(ByteBuf in, int length) {
		this.allBytes += length;
		if (growBytes(length)) {
			in.readBytes(this.bytes, this.used, length);
			this.used += length;
		}
		else {
			in.skipBytes(length);
		}
	}

	void endKey() {
		this.allKeys++;
		if (!this.isTooLarge && growKeys()) {
			this.ends[this.count] = this.used;
			this.sizes[this.count] = UNKNOWN;
			this.ttls[this.count] = UNKNOWN;
			this.types[this.count] = KeyTypes.NONE;
			this.count++;
		}
	}

	private boolean growBytes(int more) {
		if (!this.isTooLarge && this.used + (long) more > this.bytes.length) {
			long size = Math.min(MOST_BYTES, Math.max(this.used + (long) more, Math.max(4096, 2L * this.used)));
			if (this.used + (long) more > MOST_BYTES || !take(size - this.bytes.length)) {
				this.isTooLarge = true;
			}
			else {
				this.bytes = Arrays.copyOf(this.bytes, (int) size);
			}
		}
		return !this.isTooLarge;
	}

	private boolean growKeys() {
		if (this.count == this.ends.length) {
			int size = Math.max(256, 2 * this.count);
			if (take((size - this.count) * (long) BYTES_OF_KEY)) {
				resizeKeys(size);
			}
			else {
				this.isTooLarge = true;
			}
		}
		return !this.isTooLarge;
	}

	private void resizeKeys(int size) {
		this.ends = Arrays.copyOf(this.ends, size);
		this.types = Arrays.copyOf(this.types, size);
		this.sizes = Arrays.copyOf(this.sizes, size);
		this.ttls = Arrays.copyOf(this.ttls, size);
	}

	private boolean take(long more) {
		boolean mine = this.room.tryTake(more);
		this.taken += (mine) ? more : 0;
		return mine;
	}

	/**
	 * Whether there was no memory for some of the keys. The page is then to be asked for
	 * again.
	 */
	public boolean isTooLarge() {
		return this.isTooLarge;
	}

	/**
	 * Takes the memory that the page was in want of, for which the caller's thread may
	 * wait, and forgets the keys.
	 * @throws MemoryLimitException if there will never be so much
	 */
	public void makeRoom() {
		long keyBytes = this.allBytes;
		long keys = this.allKeys;
		close();
		if (keyBytes > MOST_BYTES || keys > MOST_BYTES / Long.BYTES) {
			throw new MemoryLimitException("the keys of one page of SCAN take " + keyBytes + " bytes");
		}
		// A page that is asked for again may have some more.
		int sizeOfBytes = (int) Math.min(MOST_BYTES, keyBytes + keyBytes / 8 + 4096);
		int sizeOfKeys = (int) (keys + keys / 8 + 256);
		long needed = sizeOfBytes + sizeOfKeys * (long) BYTES_OF_KEY;
		this.room.take(needed);
		this.taken = needed;
		this.bytes = new byte[sizeOfBytes];
		resizeKeys(sizeOfKeys);
	}

	/** Gives the page's memory back, and forgets the keys. */
	public void close() {
		clear();
		this.bytes = new byte[0];
		resizeKeys(0);
		this.room.give(this.taken);
		this.taken = 0;
	}

	public int count() {
		return this.count;
	}

	/**
	 * The bytes of all keys.
	 * @return an array that is overwritten by the next page
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The first byte of a key.
	 * @param key its number on the page
	 * @return an index of {@link #bytes}
	 */
	public int start(int key) {
		return (key == 0) ? 0 : this.ends[key - 1];
	}

	/**
	 * The byte behind a key.
	 * @param key its number on the page
	 * @return an index of {@link #bytes}
	 */
	public int end(int key) {
		return this.ends[key];
	}

	/**
	 * The type of a key.
	 * @param key its number on the page
	 * @return a number of {@link KeyTypes}
	 */
	public int type(int key) {
		return this.types[key];
	}

	/**
	 * The memory that a key takes in Redis.
	 * @param key its number on the page
	 * @return bytes, or {@link #UNKNOWN}
	 */
	public long size(int key) {
		return this.sizes[key];
	}

	/**
	 * The time that a key has left.
	 * @param key its number on the page
	 * @return milliseconds, -1 for ever, or {@link #UNKNOWN} for a key that is gone
	 */
	public long ttl(int key) {
		return this.ttls[key];
	}

	/**
	 * The cursor behind the page.
	 * @return {@link Scan#START} if it is the last
	 */
	public String cursor() {
		return this.cursor;
	}

	void cursor(String cursor) {
		this.cursor = cursor;
	}

	void type(int key, int type) {
		this.types[key] = (byte) type;
	}

	void size(int key, long size) {
		this.sizes[key] = size;
	}

	void ttl(int key, long ttl) {
		this.ttls[key] = ttl;
	}

	/** A condition on keys. */
	@FunctionalInterface
	public interface Condition {

		/**
		 * Whether a key meets it.
		 * @param to the byte behind it
		 */
		boolean holds(byte[] bytes, int from, int to);

	}

}
