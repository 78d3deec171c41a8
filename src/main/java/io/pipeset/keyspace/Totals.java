package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.LongStream;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The totals of all keys counted so far, in memory that does not grow with their number.
 * Several threads may add pages. After the last page, one thread reads the totals.
 */
final class Totals {

	/** The upper bounds of the TTL ranges, in milliseconds. */
	private static final long[] TTL_RANGES = { 60_000, 3_600_000, 86_400_000, 7 * 86_400_000L, Long.MAX_VALUE };

	/** The binary logarithm of the upper bound of the smallest size range. */
	static final int FIRST_SIZE = 6;

	private final byte[] separator;

	private final int depth;

	private final KeyTypes types;

	private final Prefixes prefixes;

	private final LargestKeys largest;

	private long keys;

	private long vanished;

	private final long[] keysOfType = new long[KeyTypes.MAX];

	private final long[] bytesOfType = new long[KeyTypes.MAX];

	private final long[] largestOfType = new long[KeyTypes.MAX];

	private final long[] ttls = new long[TTL_RANGES.length + 1];

	private final long[] sizes = new long[Long.SIZE];

	private volatile @Nullable String bytesLeftOut;

	Totals(AnalysisSettings settings, int maxPrefixes, KeyTypes types, MemoryReservation reservation) {
		this.separator = settings.separator().getBytes(StandardCharsets.UTF_8);
		this.depth = settings.depth();
		this.types = types;
		this.prefixes = new Prefixes(maxPrefixes, settings.memory(), reservation);
		this.largest = new LargestKeys((settings.memory()) ? settings.top() : 0, reservation);
		this.bytesLeftOut = (settings.memory()) ? null : "Not requested (memory=false)";
	}

	synchronized void clear() {
		this.keys = 0;
		this.vanished = 0;
		for (long[] counts : new long[][] { this.keysOfType, this.bytesOfType, this.largestOfType, this.ttls,
				this.sizes }) {
			Arrays.fill(counts, 0);
		}
		this.prefixes.clear();
		this.largest.clear();
	}

	/** Omits bytes from the result, those of earlier keys included. */
	synchronized void omitBytes(String why) {
		if (this.bytesLeftOut == null) {
			this.bytesLeftOut = why;
			this.largest.clear();
			this.prefixes.weighByKeys();
		}
	}

	/**
	 * Adds the keys of a page.
	 * @return how many of them existed; -1 if memory for the largest keys is missing, and
	 * no key was added
	 */
	synchronized int add(KeyPage page) {
		long before = this.keys;
		boolean sized = this.bytesLeftOut == null;
		if (sized && !this.largest.tryReserve(page)) {
			return -1;
		}
		for (int key = 0; key < page.count(); key++) {
			long ttl = page.ttl(key);
			boolean vanished = page.type(key) == KeyTypes.NONE || ttl == KeyPage.UNKNOWN
					|| (sized && page.size(key) == KeyPage.UNKNOWN);
			if (vanished) {
				this.vanished++;
			}
			else {
				add(page, key, (sized) ? page.size(key) : 0, ttl);
			}
		}
		this.largest.releaseSpare();
		return (int) (this.keys - before);
	}

	/**
	 * The most bytes of memory that the largest keys of a page may need.
	 */
	synchronized long bytesNeeded(KeyPage page) {
		return this.largest.bytesNeeded(page);
	}

	private void add(KeyPage page, int key, long size, long ttl) {
		int type = page.type(key);
		this.keys++;
		this.keysOfType[type]++;
		this.bytesOfType[type] += size;
		this.largestOfType[type] = Math.max(this.largestOfType[type], size);
		this.ttls[ttlBucket(ttl)]++;
		int from = page.start(key);
		this.prefixes.of(page.bytes(), from, prefixEnd(page.bytes(), from, page.end(key))).count(type, size, ttl < 0);
		if (this.bytesLeftOut == null) {
			this.sizes[sizeBucket(size)]++;
			this.largest.offer(page, key);
		}
	}

	private static int ttlBucket(long ttl) {
		if (ttl < 0) {
			return TTL_RANGES.length;
		}
		int bucket = 0;
		while (ttl > TTL_RANGES[bucket]) {
			bucket++;
		}
		return bucket;
	}

	/** The binary logarithm of the smallest power of two that is at least a size. */
	private static int sizeBucket(long size) {
		return Math.max(FIRST_SIZE, Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, size) - 1));
	}

	/** The index after a key's prefix; -1 if the key has too few separators. */
	private int prefixEnd(byte[] bytes, int from, int to) {
		int at = from;
		for (int part = 0; part < this.depth; part++) {
			at = afterSeparator(bytes, at, to);
			if (at < 0) {
				return -1;
			}
		}
		return at;
	}

	private int afterSeparator(byte[] bytes, int from, int to) {
		byte first = this.separator[0];
		int length = this.separator.length;
		for (int at = from; at <= to - length; at++) {
			if (bytes[at] == first
					&& (length == 1 || Arrays.equals(bytes, at, at + length, this.separator, 0, length))) {
				return at + length;
			}
		}
		return -1;
	}

	/**
	 * Finds a list that does not add up to the number of keys, which would be a defect.
	 * @return its name; {@code null} if all add up
	 */
	@Nullable String unbalanced() {
		if (LongStream.of(this.keysOfType).sum() != this.keys) {
			return "types";
		}
		if (LongStream.of(this.ttls).sum() != this.keys) {
			return "ttls";
		}
		if (this.prefixes.keys() != this.keys) {
			return "prefixes";
		}
		return (this.bytesLeftOut == null && LongStream.of(this.sizes).sum() != this.keys) ? "sizes" : null;
	}

	synchronized long keys() {
		return this.keys;
	}

	synchronized long vanished() {
		return this.vanished;
	}

	KeyTypes types() {
		return this.types;
	}

	long keysOfType(int type) {
		return this.keysOfType[type];
	}

	long bytesOfType(int type) {
		return this.bytesOfType[type];
	}

	long largestOfType(int type) {
		return this.largestOfType[type];
	}

	long[] ttls() {
		return this.ttls;
	}

	long[] sizes() {
		return this.sizes;
	}

	Prefixes prefixes() {
		return this.prefixes;
	}

	LargestKeys largest() {
		return this.largest;
	}

	/** Why bytes are omitted; {@code null} if they are not. */
	@Nullable String bytesLeftOut() {
		return this.bytesLeftOut;
	}

}
