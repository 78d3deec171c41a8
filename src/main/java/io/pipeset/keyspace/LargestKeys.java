package io.pipeset.keyspace;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.record.memory.MemoryReservation;

/** The largest keys found so far. */
final class LargestKeys {

	private final int maxKeys;

	private final MemoryReservation reservation;

	private final PriorityQueue<LargestKey> keys = new PriorityQueue<>(Comparator.comparingLong(LargestKey::size));

	/** The bytes that are reserved in advance for the keys of a page. */
	private long spare;

	LargestKeys(int maxKeys, MemoryReservation reservation) {
		this.maxKeys = maxKeys;
		this.reservation = reservation;
	}

	void clear() {
		this.keys.forEach((key) -> this.reservation.release(key.name().capacity()));
		this.keys.clear();
		releaseSpare();
	}

	/** The most bytes of memory that the keys of a page may need. */
	long bytesNeeded(KeyPage page) {
		long all = 0;
		int longest = 0;
		long least = leastSize();
		for (int key = 0; key < page.count(); key++) {
			if (page.size(key) > least) {
				int bytes = page.end(key) - page.start(key);
				all += bytes;
				longest = Math.max(longest, bytes);
			}
		}
		return Math.min(all, (long) this.maxKeys * longest);
	}

	/** The size that a key must exceed to be one of the largest. */
	private long leastSize() {
		if (this.maxKeys == 0) {
			return Long.MAX_VALUE;
		}
		LargestKey smallest = (this.keys.size() == this.maxKeys) ? this.keys.peek() : null;
		return (smallest != null) ? smallest.size() : Long.MIN_VALUE;
	}

	/** Reserves the memory that the keys of a page may need, if it is free. */
	boolean tryReserve(KeyPage page) {
		long more = Math.max(0, bytesNeeded(page) - this.spare);
		boolean reserved = more == 0 || this.reservation.tryReserve(more);
		this.spare += (reserved) ? more : 0;
		return reserved;
	}

	/** Reserves memory for the keys of a page. The caller's thread may wait for it. */
	void reserve(long bytes) {
		long more = Math.max(0, bytes - this.spare);
		this.reservation.reserve(more);
		this.spare += more;
	}

	/** Releases the memory that was reserved in advance. */
	void releaseSpare() {
		this.reservation.release(this.spare);
		this.spare = 0;
	}

	/**
	 * Adds a key of a page if it is one of the largest. Memory for the page must be
	 * reserved.
	 */
	void offer(KeyPage page, int key) {
		if (page.size(key) <= leastSize()) {
			return;
		}
		int length = page.end(key) - page.start(key);
		ByteBuffer name = ByteBuffer.wrap(page.bytes(), page.start(key), length);
		if (this.keys.stream().anyMatch((known) -> known.name().equals(name))) {
			// SCAN may return a key twice.
			return;
		}
		if (this.keys.size() == this.maxKeys) {
			this.spare += this.keys.remove().name().capacity();
		}
		byte[] copy = new byte[length];
		name.get(copy);
		this.spare -= length;
		this.keys.add(new LargestKey(ByteBuffer.wrap(copy), page.type(key), page.size(key), page.ttl(key)));
	}

	/** The keys, the largest first. */
	List<LargestKey> sorted() {
		return this.keys.stream()
			.sorted(Comparator.comparingLong(LargestKey::size)
				.reversed()
				.thenComparing((key) -> key.name().array(), Arrays::compareUnsigned))
			.toList();
	}

	/**
	 * One of the largest keys.
	 *
	 * @param name its bytes, in an array that nothing else uses
	 * @param type the number of its type in {@code KeyTypes}
	 * @param size its memory, in bytes
	 * @param ttl its remaining time to live, in milliseconds; negative if it never
	 * expires
	 */
	record LargestKey(ByteBuffer name, int type, long size, long ttl) {

	}

}
