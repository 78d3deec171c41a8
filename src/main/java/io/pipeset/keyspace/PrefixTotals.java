package io.pipeset.keyspace;

import java.util.Arrays;

/** The totals of the keys with one prefix. */
final class PrefixTotals {

	private final byte[] prefix;

	private final boolean partial;

	private long keys;

	private long bytes;

	private long withoutTtl;

	/** The keys of each type, by its number. */
	private long[] keysOfType = new long[0];

	/**
	 * Totals of no key yet.
	 * @param partial whether some keys of the prefix may count as others
	 */
	PrefixTotals(byte[] prefix, boolean partial) {
		this.prefix = prefix;
		this.partial = partial;
	}

	/**
	 * Adds a key.
	 * @param size its memory
	 * @param forever whether it has no TTL
	 */
	void count(int type, long size, boolean forever) {
		this.bytes += size;
		this.withoutTtl += (forever) ? 1 : 0;
		add(type, 1);
	}

	/** Adds the keys of another prefix. */
	void add(PrefixTotals other) {
		this.bytes += other.bytes;
		this.withoutTtl += other.withoutTtl;
		for (int type = 0; type < other.keysOfType.length; type++) {
			add(type, other.keysOfType[type]);
		}
	}

	private void add(int type, long keys) {
		if (type >= this.keysOfType.length) {
			this.keysOfType = Arrays.copyOf(this.keysOfType, type + 1);
		}
		this.keysOfType[type] += keys;
		this.keys += keys;
	}

	byte[] prefix() {
		return this.prefix;
	}

	boolean isPartial() {
		return this.partial;
	}

	long keys() {
		return this.keys;
	}

	long bytes() {
		return this.bytes;
	}

	long withoutTtl() {
		return this.withoutTtl;
	}

	long keysOfType(int type) {
		return (type < this.keysOfType.length) ? this.keysOfType[type] : 0;
	}

}
