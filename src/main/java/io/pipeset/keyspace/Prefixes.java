package io.pipeset.keyspace;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The totals of each prefix, in bounded memory. The map holds at most twice as many
 * prefixes as a result may list. When it is full, the smaller half is omitted: its totals
 * are added to {@link #others}. If an omitted prefix appears again, it gets new totals,
 * which are marked as partial.
 */
final class Prefixes {

	/** The least capacity in prefixes, however few a result may list. */
	private static final int MIN_CAPACITY = 254;

	/** The memory in bytes of a prefix and its totals, in addition to its text. */
	private static final int BYTES_OF_PREFIX = 256;

	/** The bytes of text allowed for each prefix that may be listed, on average. */
	private static final int TEXT_BYTES_OF_PREFIX = 256;

	/** The size of the Bloom filter in bits: 1 MiB. */
	private static final int BITS = 1 << 23;

	/** The bits of the Bloom filter that each prefix sets. */
	private static final int PROBES = 4;

	private final int maxListed;

	private final MemoryReservation reservation;

	private boolean byBytes;

	private final Map<ByteBuffer, PrefixTotals> totals = new LinkedHashMap<>();

	private PrefixTotals none = new PrefixTotals(new byte[0], false);

	private PrefixTotals others = new PrefixTotals(new byte[0], false);

	/** The bytes of text of all prefixes in the map. */
	private long textBytes;

	private long omitted;

	/**
	 * The Bloom filter of the omitted prefixes. It has no false negatives. After a
	 * million omitted prefixes, about 1 in 50 lookups of other prefixes is a false
	 * positive.
	 */
	private final BitSet omittedFilter = new BitSet(BITS);

	/**
	 * Creates totals without prefixes.
	 * @param maxListed how many prefixes a result may list
	 * @param byBytes whether to omit the prefixes with the fewest bytes, and not those
	 * with the fewest keys
	 */
	Prefixes(int maxListed, boolean byBytes, MemoryReservation reservation) {
		this.maxListed = maxListed;
		this.byBytes = byBytes;
		this.reservation = reservation;
	}

	void clear() {
		this.reservation.release(this.totals.size() * (long) BYTES_OF_PREFIX + this.textBytes);
		this.totals.clear();
		this.textBytes = 0;
		this.none = new PrefixTotals(new byte[0], false);
		this.others = new PrefixTotals(new byte[0], false);
		this.omitted = 0;
		this.omittedFilter.clear();
	}

	/**
	 * Finds or creates the totals of a prefix, so that the caller can add a key.
	 * @param to the index after its last byte; -1 for a key without a prefix
	 */
	PrefixTotals of(byte[] source, int from, int to) {
		if (to < 0) {
			return this.none;
		}
		ByteBuffer prefix = ByteBuffer.wrap(source, from, to - from);
		PrefixTotals known = this.totals.get(prefix);
		return (known != null) ? known : add(prefix);
	}

	private PrefixTotals add(ByteBuffer prefix) {
		int length = prefix.remaining();
		boolean again = mayBeOmitted(prefix);
		boolean fits = length <= maxTextBytes() / 16;
		if (fits && !tryReserve(length)) {
			omitAllBut(Math.min(this.maxListed, this.totals.size() / 2));
			fits = tryReserve(length);
		}
		if (!fits) {
			this.omitted += (again) ? 0 : 1;
			addToFilter(prefix);
			return this.others;
		}
		this.omitted -= (again && this.omitted > 0) ? 1 : 0;
		byte[] text = new byte[length];
		prefix.get(text);
		PrefixTotals added = new PrefixTotals(text, again);
		this.totals.put(ByteBuffer.wrap(text), added);
		this.textBytes += length;
		return added;
	}

	private boolean tryReserve(int length) {
		return this.totals.size() < Math.max(MIN_CAPACITY, 2L * this.maxListed)
				&& this.textBytes + length <= maxTextBytes() && this.reservation.tryReserve(BYTES_OF_PREFIX + length);
	}

	private long maxTextBytes() {
		return (long) Math.max(MIN_CAPACITY, this.maxListed) * TEXT_BYTES_OF_PREFIX;
	}

	private boolean mayBeOmitted(ByteBuffer prefix) {
		long hash = hash(prefix);
		for (int probe = 0; probe < PROBES; probe++) {
			if (!this.omittedFilter.get(bit(hash, probe))) {
				return false;
			}
		}
		return true;
	}

	private void addToFilter(ByteBuffer prefix) {
		long hash = hash(prefix);
		for (int probe = 0; probe < PROBES; probe++) {
			this.omittedFilter.set(bit(hash, probe));
		}
	}

	private static long hash(ByteBuffer prefix) {
		return prefix.hashCode() * 0x9E3779B97F4A7C15L;
	}

	private static int bit(long hash, int probe) {
		return ((int) hash + probe * ((int) (hash >>> 32) | 1)) & (BITS - 1);
	}

	/** Omits the smallest prefixes, so that no more remain than a result may list. */
	void finish() {
		omitAllBut(this.maxListed);
	}

	/** Omits all but the largest prefixes. */
	private void omitAllBut(int largest) {
		int count = this.totals.size();
		if (count <= largest) {
			return;
		}
		long[] weights = this.totals.values().stream().mapToLong(this::weight).sorted().toArray();
		long least = (largest > 0) ? weights[count - largest] : Long.MAX_VALUE;
		int ties = largest;
		for (int i = count - 1; weights[i] > least; i--) {
			ties--;
		}
		long freed = 0;
		for (Iterator<Map.Entry<ByteBuffer, PrefixTotals>> all = this.totals.entrySet().iterator(); all.hasNext();) {
			Map.Entry<ByteBuffer, PrefixTotals> next = all.next();
			long weight = weight(next.getValue());
			if (weight < least || (weight == least && ties-- <= 0)) {
				freed += BYTES_OF_PREFIX + next.getKey().remaining();
				this.textBytes -= next.getKey().remaining();
				addToFilter(next.getKey());
				this.omitted++;
				this.others.add(next.getValue());
				all.remove();
			}
		}
		this.reservation.release(freed);
	}

	private long weight(PrefixTotals totals) {
		return (this.byBytes) ? totals.bytes() : totals.keys();
	}

	/** Compares prefixes by keys from now on, because their bytes are not known. */
	void weighByKeys() {
		this.byBytes = false;
	}

	/** The totals of the prefixes in the map, in the order in which they were added. */
	Collection<PrefixTotals> listed() {
		return this.totals.values();
	}

	/** The totals of the keys without a prefix. */
	PrefixTotals none() {
		return this.none;
	}

	/** The totals of all omitted prefixes. */
	PrefixTotals others() {
		return this.others;
	}

	/**
	 * How many prefixes are omitted. The number may be too small if there are millions.
	 */
	long omitted() {
		return this.omitted;
	}

	/** The bytes of text of the prefixes in the map. */
	long textBytes() {
		return this.textBytes;
	}

}
