package io.pipeset.keyspace;

import java.util.Arrays;

/** The totals of the keys with one prefix. */
final class PrefixTotals {

	private final byte[] prefix;

	private final boolean partial;

	private long keys;

	private long bytes;

	private long withoutTtl;

	/** The keys of each type, by the number of the type. */
	private long[] keysOfType = new long[0];

	/**
	 * Creates totals without keys.
	 * @param partial whether some keys of the prefix may be counted elsewhere, in the
	 * totals of all omitted prefixes
	 */
	PrefixTotals(byte[] prefix, boolean partial) {
		this.prefix = prefix;
		this.partial = partial;
	}

	/**
	 * Adds a key.
	 * @param type the number of its type
	 * @param size its memory, in bytes
	 * @param persistent whether it has no TTL
	 */
	void count(int type, long size, boolean persistent) {
		this.bytes += size;
		this.withoutTtl += (persistent) ? 1 : 0;
		add(type, 1);
	}

	/** Adds the totals of another prefix. */
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
