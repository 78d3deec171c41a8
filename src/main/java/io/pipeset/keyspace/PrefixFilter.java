package io.pipeset.keyspace;

/**
 * Remembers which prefixes were left out, in a fixed 1 MiB (a Bloom filter). It never
 * forgets one. It may take another prefix for one of them: one in 50 once a million were
 * left out.
 */
final class PrefixFilter {

	private static final int BITS = 1 << 23;

	private static final int PROBES = 4;

	private final long[] words = new long[BITS / Long.SIZE];

	void add(long hash) {
		for (int probe = 0; probe < PROBES; probe++) {
			int bit = bit(hash, probe);
			this.words[bit >>> 6] |= 1L << bit;
		}
	}

	boolean mayContain(long hash) {
		for (int probe = 0; probe < PROBES; probe++) {
			int bit = bit(hash, probe);
			if ((this.words[bit >>> 6] & (1L << bit)) == 0) {
				return false;
			}
		}
		return true;
	}

	private static int bit(long hash, int probe) {
		return ((int) hash + probe * ((int) (hash >>> 32) | 1)) & (BITS - 1);
	}

}
