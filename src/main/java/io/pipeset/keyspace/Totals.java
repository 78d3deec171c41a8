package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.LongStream;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The totals of all keys looked at so far, in memory that does not grow with their
 * number. Several threads may add pages; the other totals are for one thread, when no
 * page is added any more.
 */
final class Totals {

	/** The bounds of the times that keys have left, in milliseconds. */
	private static final long[] TTLS = { 60_000, 3_600_000, 86_400_000, 7 * 86_400_000L, Long.MAX_VALUE };

	/** The logarithm of the smallest size that is told apart. */
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

	private final long[] ttls = new long[TTLS.length + 1];

	private final long[] sizes = new long[Long.SIZE];

	private volatile @Nullable String bytesLeftOut;

	Totals(AnalysisSettings settings, int maxPrefixes, KeyTypes types, MemoryReservation room) {
		this.separator = settings.separator().getBytes(StandardCharsets.UTF_8);
		this.depth = settings.depth();
		this.types = types;
		this.prefixes = new Prefixes(maxPrefixes, settings.memory(), room);
		this.largest = new LargestKeys((settings.memory()) ? settings.top() : 0, room);
		this.bytesLeftOut = (settings.memory()) ? null : "The call asked for no memory (memory=false)";
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

	/** Leaves the bytes out, those of earlier keys as well. */
	synchronized void leaveBytesOut(String why) {
		if (this.bytesLeftOut == null) {
			this.bytesLeftOut = why;
			this.largest.clear();
			this.prefixes.weighByKeys();
		}
	}

	/**
	 * Adds the keys of a page.
	 * @return how many of them were there; -1 if there is no memory for those that are
	 * among the largest, and none was added
	 */
	synchronized int add(KeyPage page) {
		long before = this.keys;
		boolean sized = this.bytesLeftOut == null;
		if (sized && !this.largest.makesRoomFor(page)) {
			return -1;
		}
		for (int key = 0; key < page.count(); key++) {
			long ttl = page.ttl(key);
			boolean gone = page.type(key) == KeyTypes.NONE || ttl == KeyPage.UNKNOWN
					|| (sized && page.size(key) == KeyPage.UNKNOWN);
			if (gone) {
				this.vanished++;
			}
			else {
				add(page, key, (sized) ? page.size(key) : 0, ttl);
			}
		}
		this.largest.giveSpare();
		return (int) (this.keys - before);
	}

	/**
	 * The memory that was not free for those keys of a page that are among the largest.
	 */
	synchronized long wanted(KeyPage page) {
		return this.largest.needed(page);
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
			return TTLS.length;
		}
		int bucket = 0;
		while (ttl > TTLS[bucket]) {
			bucket++;
		}
		return bucket;
	}

	/** The logarithm of the least power of two that a size does not exceed. */
	private static int sizeBucket(long size) {
		return Math.max(FIRST_SIZE, Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, size) - 1));
	}

	/** The byte behind a key's prefix, or -1 if it has too few separators. */
	private int prefixEnd(byte[] bytes, int from, int to) {
		int at = from;
		for (int part = 0; part < this.depth; part++) {
			at = behindSeparator(bytes, at, to);
			if (at < 0) {
				return -1;
			}
		}
		return at;
	}

	private int behindSeparator(byte[] bytes, int from, int to) {
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
	 * The first list that does not add up to the number of keys, by a defect.
	 * @return its name, or {@code null}
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

	/** Why bytes are left out, or {@code null} if they are not. */
	@Nullable String bytesLeftOut() {
		return this.bytesLeftOut;
	}

}
