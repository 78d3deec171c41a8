package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

import io.pipeset.engine.pipeline.KeyFacts;
import io.pipeset.engine.pipeline.KeyPage;
import io.pipeset.record.memory.MemoryLimitException;
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

	/** The most types with a number each. All others share the last number. */
	private static final int MAX_TYPES = 64;

	private final byte[] separator;

	private final int depth;

	/** The names of the types, by their numbers. Modules add their own types. */
	private final List<String> types = new ArrayList<>(List.of("string", "list", "set", "zset", "hash", "stream"));

	private final Prefixes prefixes;

	private final LargestKeys largest;

	private long keys;

	private long vanished;

	private final long[] keysOfType = new long[MAX_TYPES];

	private final long[] bytesOfType = new long[MAX_TYPES];

	private final long[] largestOfType = new long[MAX_TYPES];

	private final long[] ttls = new long[TTL_RANGES.length + 1];

	private final long[] sizes = new long[Long.SIZE];

	/** The keys of all pages that were added, for other threads. */
	private volatile long examined;

	private volatile @Nullable String bytesLeftOut;

	Totals(AnalysisSettings settings, int maxPrefixes, MemoryReservation reservation) {
		this.separator = settings.separator().getBytes(StandardCharsets.UTF_8);
		this.depth = settings.depth();
		this.prefixes = new Prefixes(maxPrefixes, settings.memory(), reservation);
		this.largest = new LargestKeys((settings.memory()) ? settings.top() : 0, reservation);
		this.bytesLeftOut = (settings.memory()) ? null : "Not requested (memory=false)";
	}

	synchronized void clear() {
		this.keys = 0;
		this.vanished = 0;
		this.examined = 0;
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

	/** Adds the keys of a page. */
	synchronized void add(KeyPage page) {
		this.vanished += page.vanished();
		page.keys().forEach(this::add);
		this.largest.tryReserve();
		this.examined = this.keys + this.vanished;
	}

	/** The memory that is missing for the largest keys. */
	synchronized long unreserved() {
		return this.largest.unreserved();
	}

	/**
	 * Reserves the memory that is missing for the largest keys, and may wait for it.
	 * @throws MemoryLimitException if the largest keys do not fit into memory
	 */
	synchronized void reserve() {
		this.largest.reserve();
	}

	private void add(KeyFacts key) {
		boolean sized = this.bytesLeftOut == null;
		long size = (sized) ? key.bytes() : 0;
		if (sized) {
			this.largest.offer(key);
			this.sizes[sizeBucket(size)]++;
		}
		int type = type(key.type());
		this.keys++;
		this.keysOfType[type]++;
		this.bytesOfType[type] += size;
		this.largestOfType[type] = Math.max(this.largestOfType[type], size);
		this.ttls[ttlBucket(key.ttlMillis())]++;
		this.prefixes.of(key.name(), 0, prefixEnd(key.name())).count(type, size, key.ttlMillis() < 0);
	}

	private int type(String name) {
		int known = this.types.indexOf(name);
		if (known < 0 && this.types.size() < MAX_TYPES) {
			this.types.add((this.types.size() == MAX_TYPES - 1) ? "(other)" : name);
			return this.types.size() - 1;
		}
		return (known < 0) ? MAX_TYPES - 1 : known;
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
	private int prefixEnd(byte[] key) {
		int at = 0;
		for (int part = 0; part < this.depth && at >= 0; part++) {
			at = afterSeparator(key, at);
		}
		return at;
	}

	private int afterSeparator(byte[] key, int from) {
		int length = this.separator.length;
		for (int at = from; at <= key.length - length; at++) {
			if (key[at] == this.separator[0]
					&& (length == 1 || Arrays.equals(key, at, at + length, this.separator, 0, length))) {
				return at + length;
			}
		}
		return -1;
	}

	/** How many keys were examined so far; any thread may call this. */
	long examined() {
		return this.examined;
	}

	long keys() {
		return this.keys;
	}

	long vanished() {
		return this.vanished;
	}

	long bytes() {
		return LongStream.of(this.bytesOfType).sum();
	}

	List<String> types() {
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
