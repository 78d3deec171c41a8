package io.pipeset.engine.slab.lookup;

import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The keys of one page of SCAN and the facts about each key, in arrays that the next page
 * reuses. One thread at a time uses a page: the connection's thread fills it, and then
 * the job's thread reads it.
 */
public final class KeyPage {

	/**
	 * The value of a figure that is not known: the key is gone, or the figure was not
	 * requested.
	 */
	public static final long UNKNOWN = -2;

	private static final int BYTES_OF_KEY = Integer.BYTES + 1 + 2 * Long.BYTES;

	private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

	private final MemoryReservation reservation;

	private long reserved;

	private byte[] bytes = new byte[0];

	private int used;

	private int[] ends = new int[0];

	private byte[] types = new byte[0];

	private long[] sizes = new long[0];

	private long[] ttls = new long[0];

	private int count;

	/** The bytes of all keys, including keys for which there was no memory. */
	private long allBytes;

	private long allKeys;

	private boolean tooLarge;

	private String cursor = Scan.START;

	public KeyPage(MemoryReservation reservation) {
		this.reservation = reservation;
	}

	/** Removes all keys, before the next page. */
	public void clear() {
		this.used = 0;
		this.count = 0;
		this.allBytes = 0;
		this.allKeys = 0;
		this.tooLarge = false;
		this.cursor = Scan.START;
	}

	/**
	 * Keeps only the keys that meet a condition. It must be called before the facts about
	 * keys are read.
	 */
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

	/** Adds the next bytes of a key, which is complete after {@link #endKey}. */
	void append(ByteBuf in, int length) {
		this.allBytes += length;
		if (ensureBytes(length)) {
			in.readBytes(this.bytes, this.used, length);
			this.used += length;
		}
		else {
			in.skipBytes(length);
		}
	}

	void endKey() {
		this.allKeys++;
		if (!this.tooLarge && ensureKeys()) {
			this.ends[this.count] = this.used;
			this.sizes[this.count] = UNKNOWN;
			this.ttls[this.count] = UNKNOWN;
			this.types[this.count] = KeyTypes.NONE;
			this.count++;
		}
	}

	private boolean ensureBytes(int more) {
		if (!this.tooLarge && this.used + (long) more > this.bytes.length) {
			long size = Math.min(MAX_BYTES, Math.max(this.used + (long) more, Math.max(4096, 2L * this.used)));
			if (this.used + (long) more > MAX_BYTES || !tryReserve(size - this.bytes.length)) {
				this.tooLarge = true;
			}
			else {
				this.bytes = Arrays.copyOf(this.bytes, (int) size);
			}
		}
		return !this.tooLarge;
	}

	private boolean ensureKeys() {
		if (this.count == this.ends.length) {
			int size = Math.max(256, 2 * this.count);
			if (tryReserve((size - this.count) * (long) BYTES_OF_KEY)) {
				resizeKeys(size);
			}
			else {
				this.tooLarge = true;
			}
		}
		return !this.tooLarge;
	}

	private void resizeKeys(int size) {
		this.ends = Arrays.copyOf(this.ends, size);
		this.types = Arrays.copyOf(this.types, size);
		this.sizes = Arrays.copyOf(this.sizes, size);
		this.ttls = Arrays.copyOf(this.ttls, size);
	}

	private boolean tryReserve(long more) {
		boolean free = this.reservation.tryReserve(more);
		this.reserved += (free) ? more : 0;
		return free;
	}

	/**
	 * Whether there was no memory for some of the keys. The page must then be scanned
	 * again.
	 */
	public boolean isTooLarge() {
		return this.tooLarge;
	}

	/**
	 * Waits for the memory that the page needs, and removes all keys.
	 * @throws MemoryLimitException if that memory will never be free
	 */
	public void ensureCapacity() {
		long keyBytes = this.allBytes;
		long keys = this.allKeys;
		close();
		if (keyBytes > MAX_BYTES || keys > MAX_BYTES / Long.BYTES) {
			throw new MemoryLimitException("the keys of one page of SCAN take " + keyBytes + " bytes");
		}
		// The page may have some more keys when it is scanned again.
		int sizeOfBytes = (int) Math.min(MAX_BYTES, keyBytes + keyBytes / 8 + 4096);
		int sizeOfKeys = (int) (keys + keys / 8 + 256);
		long needed = sizeOfBytes + sizeOfKeys * (long) BYTES_OF_KEY;
		this.reservation.reserve(needed);
		this.reserved = needed;
		this.bytes = new byte[sizeOfBytes];
		resizeKeys(sizeOfKeys);
	}

	/** Gives the page's memory back, and removes all keys. */
	public void close() {
		clear();
		this.bytes = new byte[0];
		resizeKeys(0);
		this.reservation.release(this.reserved);
		this.reserved = 0;
	}

	public int count() {
		return this.count;
	}

	/**
	 * The bytes of all keys.
	 * @return an array that the next page overwrites
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The start of a key.
	 * @param key its number on the page
	 * @return an index of {@link #bytes}
	 */
	public int start(int key) {
		return (key == 0) ? 0 : this.ends[key - 1];
	}

	/**
	 * The end of a key, exclusive.
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
	 * The time to live of a key.
	 * @param key its number on the page
	 * @return milliseconds, -1 for no expiry, or {@link #UNKNOWN}
	 */
	public long ttl(int key) {
		return this.ttls[key];
	}

	/**
	 * The cursor for the next page.
	 * @return {@link Scan#START} after the last page
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

	/** A condition on the bytes of keys. */
	@FunctionalInterface
	public interface Condition {

		/**
		 * Whether a key meets the condition.
		 * @param bytes the array with the key
		 * @param from the index of its first byte
		 * @param to the index after its last byte
		 */
		boolean holds(byte[] bytes, int from, int to);

	}

}
