package io.pipeset.keyspace;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The totals of each prefix. There are at most twice as many as an answer may list. When
 * there are as many, the smaller half is left out: it is added to the others. A prefix
 * that comes again after that has totals again, which say that they are only a part.
 */
final class Prefixes {

	/** So many are kept even if an answer may list fewer than half of them. */
	private static final int LEAST_KEPT = 254;

	/** The memory of a prefix and its totals, beside its bytes. */
	private static final int BYTES_OF_PREFIX = 256;

	/** The bytes of prefixes, for each that may be listed. */
	private static final int TEXT_BYTES_OF_PREFIX = 256;

	/** The bits that remember the prefixes that were left out: 1 MiB. */
	private static final int BITS = 1 << 23;

	/** The bits of each prefix. */
	private static final int PROBES = 4;

	private final int most;

	private final MemoryReservation room;

	private boolean byBytes;

	private final Map<ByteBuffer, PrefixTotals> kept = new LinkedHashMap<>();

	private PrefixTotals none = new PrefixTotals(new byte[0], false);

	private PrefixTotals others = new PrefixTotals(new byte[0], false);

	/** The bytes of the prefixes that are kept. */
	private long textBytes;

	private long omitted;

	/**
	 * The prefixes that were left out (a Bloom filter). It never forgets one. It may take
	 * another prefix for one of them: one in 50 once a million were left out.
	 */
	private final BitSet leftOut = new BitSet(BITS);

	/**
	 * No prefixes yet.
	 * @param most the prefixes that are listed, at most
	 * @param byBytes whether prefixes with fewer bytes are left out, and not those with
	 * fewer keys
	 */
	Prefixes(int most, boolean byBytes, MemoryReservation room) {
		this.most = most;
		this.byBytes = byBytes;
		this.room = room;
	}

	void clear() {
		this.room.give(this.kept.size() * (long) BYTES_OF_PREFIX + this.textBytes);
		this.kept.clear();
		this.textBytes = 0;
		this.none = new PrefixTotals(new byte[0], false);
		this.others = new PrefixTotals(new byte[0], false);
		this.omitted = 0;
		this.leftOut.clear();
	}

	/**
	 * Finds the totals of a prefix, to which a key is to be added.
	 * @param to the byte behind it; -1 for a key without one
	 */
	PrefixTotals of(byte[] source, int from, int to) {
		if (to < 0) {
			return this.none;
		}
		ByteBuffer prefix = ByteBuffer.wrap(source, from, to - from);
		PrefixTotals known = this.kept.get(prefix);
		return (known != null) ? known : add(prefix);
	}

	private PrefixTotals add(ByteBuffer prefix) {
		int length = prefix.remaining();
		boolean again = mayBeLeftOut(prefix);
		boolean fits = length <= mostTextBytes() / 16;
		if (fits && !takesRoomFor(length)) {
			leaveOut(Math.min(this.most, this.kept.size() / 2));
			fits = takesRoomFor(length);
		}
		if (!fits) {
			this.omitted += (again) ? 0 : 1;
			remember(prefix);
			return this.others;
		}
		this.omitted -= (again && this.omitted > 0) ? 1 : 0;
		byte[] text = new byte[length];
		prefix.get(text);
		PrefixTotals added = new PrefixTotals(text, again);
		this.kept.put(ByteBuffer.wrap(text), added);
		this.textBytes += length;
		return added;
	}

	private boolean takesRoomFor(int length) {
		return this.kept.size() < Math.max(LEAST_KEPT, 2L * this.most) && this.textBytes + length <= mostTextBytes()
				&& this.room.tryTake(BYTES_OF_PREFIX + length);
	}

	private long mostTextBytes() {
		return (long) Math.max(LEAST_KEPT, this.most) * TEXT_BYTES_OF_PREFIX;
	}

	private boolean mayBeLeftOut(ByteBuffer prefix) {
		long hash = hash(prefix);
		for (int probe = 0; probe < PROBES; probe++) {
			if (!this.leftOut.get(bit(hash, probe))) {
				return false;
			}
		}
		return true;
	}

	private void remember(ByteBuffer prefix) {
		long hash = hash(prefix);
		for (int probe = 0; probe < PROBES; probe++) {
			this.leftOut.set(bit(hash, probe));
		}
	}

	private static long hash(ByteBuffer prefix) {
		return prefix.hashCode() * 0x9E3779B97F4A7C15L;
	}

	private static int bit(long hash, int probe) {
		return ((int) hash + probe * ((int) (hash >>> 32) | 1)) & (BITS - 1);
	}

	/** Leaves out the smallest prefixes beyond the number that an answer may list. */
	void finish() {
		leaveOut(this.most);
	}

	/** Leaves out all but the largest prefixes. */
	private void leaveOut(int largest) {
		int count = this.kept.size();
		if (count <= largest) {
			return;
		}
		long[] weights = this.kept.values().stream().mapToLong(this::weight).sorted().toArray();
		long least = (largest > 0) ? weights[count - largest] : Long.MAX_VALUE;
		int ties = largest;
		for (int i = count - 1; weights[i] > least; i--) {
			ties--;
		}
		long freed = 0;
		for (Iterator<Map.Entry<ByteBuffer, PrefixTotals>> all = this.kept.entrySet().iterator(); all.hasNext();) {
			Map.Entry<ByteBuffer, PrefixTotals> next = all.next();
			long weight = weight(next.getValue());
			if (weight < least || (weight == least && ties-- <= 0)) {
				freed += BYTES_OF_PREFIX + next.getKey().remaining();
				this.textBytes -= next.getKey().remaining();
				remember(next.getKey());
				this.omitted++;
				this.others.add(next.getValue());
				all.remove();
			}
		}
		this.room.give(freed);
	}

	private long weight(PrefixTotals totals) {
		return (this.byBytes) ? totals.bytes() : totals.keys();
	}

	/** Leaves out prefixes with fewer keys from now on, as their bytes are not known. */
	void weighByKeys() {
		this.byBytes = false;
	}

	/** The keys of all prefixes, of those without one and of those left out. */
	long keys() {
		return this.none.keys() + this.others.keys() + this.kept.values().stream().mapToLong(PrefixTotals::keys).sum();
	}

	/** The prefixes that are not left out, in the order in which they came. */
	Collection<PrefixTotals> kept() {
		return this.kept.values();
	}

	/** The totals of the keys without a prefix. */
	PrefixTotals none() {
		return this.none;
	}

	/** The totals of all prefixes that are left out. */
	PrefixTotals others() {
		return this.others;
	}

	/** The prefixes that are left out, or fewer if they were millions. */
	long omitted() {
		return this.omitted;
	}

	/** The bytes of the prefixes that are not left out. */
	long textBytes() {
		return this.textBytes;
	}

}
