package io.pipeset.keyspace;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/** The rows of a table by their prefix, whose bytes stand one behind the other. */
final class PrefixIndex {

	private final long seed = ThreadLocalRandom.current().nextLong();

	private int[] starts = new int[0];

	private int[] lengths = new int[0];

	private long[] hashes = new long[0];

	private byte[] text = new byte[0];

	private int textBytes;

	/** The rows by the hash of their prefix; 0 for a free slot. */
	private int[] slots = new int[0];

	/**
	 * Finds the row of a prefix.
	 * @return the row; 0 if it has none
	 */
	int find(long hash, byte[] source, int from, int length) {
		int slot = (int) hash & (this.slots.length - 1);
		for (int row = this.slots[slot]; row != 0; row = this.slots[slot]) {
			if (this.hashes[row] == hash && Arrays.equals(this.text, this.starts[row],
					this.starts[row] + this.lengths[row], source, from, from + length)) {
				return row;
			}
			slot = (slot + 1) & (this.slots.length - 1);
		}
		return 0;
	}

	/** Adds a row, for which there is room. */
	void add(int row, long hash, byte[] source, int from, int length) {
		this.hashes[row] = hash;
		this.lengths[row] = length;
		append(row, source, from);
		put(row);
	}

	private void append(int row, byte[] source, int from) {
		System.arraycopy(source, from, this.text, this.textBytes, this.lengths[row]);
		this.starts[row] = this.textBytes;
		this.textBytes += this.lengths[row];
	}

	/** Forgets all rows, and the memory of their prefixes. */
	void clear() {
		this.text = new byte[0];
		this.textBytes = 0;
	}

	/** Drops all rows and their bytes; those that stay are kept one by one, in order. */
	void beginAnew() {
		this.textBytes = 0;
	}

	void keep(int row, int as) {
		this.hashes[as] = this.hashes[row];
		this.lengths[as] = this.lengths[row];
		append(as, this.text, this.starts[row]);
	}

	/** Makes rows known by their prefixes again. */
	void index(int first, int end) {
		this.slots = new int[Integer.highestOneBit(this.starts.length) * 4];
		for (int row = first; row < end; row++) {
			put(row);
		}
	}

	private void put(int row) {
		int slot = (int) this.hashes[row] & (this.slots.length - 1);
		while (this.slots[slot] != 0) {
			slot = (slot + 1) & (this.slots.length - 1);
		}
		this.slots[slot] = row;
	}

	void resizeRows(int size) {
		this.starts = Arrays.copyOf(this.starts, size);
		this.lengths = Arrays.copyOf(this.lengths, size);
		this.hashes = Arrays.copyOf(this.hashes, size);
	}

	void resizeText(int size) {
		this.text = Arrays.copyOf(this.text, size);
	}

	long hash(byte[] source, int from, int length) {
		long hash = this.seed;
		for (int i = from; i < from + length; i++) {
			hash = (hash ^ source[i]) * 0x100000001B3L;
		}
		hash ^= hash >>> 32;
		hash *= 0x9E3779B97F4A7C15L;
		return hash ^ (hash >>> 29);
	}

	long hash(int row) {
		return this.hashes[row];
	}

	/** How many rows there is room for. */
	int capacity() {
		return this.starts.length;
	}

	int textBytes() {
		return this.textBytes;
	}

	byte[] text() {
		return this.text;
	}

	int start(int row) {
		return this.starts[row];
	}

	int end(int row) {
		return this.starts[row] + this.lengths[row];
	}

}
