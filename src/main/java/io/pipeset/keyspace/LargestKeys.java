package io.pipeset.keyspace;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import io.pipeset.engine.pipeline.KeyFacts;
import io.pipeset.record.memory.MemoryReservation;

/** The largest keys found so far. */
final class LargestKeys {

	private final int maxKeys;

	private final MemoryReservation reservation;

	private final PriorityQueue<KeyFacts> keys = new PriorityQueue<>(Comparator.comparingLong(KeyFacts::bytes));

	/** The bytes of the keys, less those that memory is reserved for. */
	private long unreserved;

	LargestKeys(int maxKeys, MemoryReservation reservation) {
		this.maxKeys = maxKeys;
		this.reservation = reservation;
	}

	void clear() {
		this.keys.forEach((key) -> this.unreserved -= key.name().length);
		this.keys.clear();
		tryReserve();
	}

	/** Adds a key if it is one of the largest. */
	void offer(KeyFacts key) {
		boolean full = this.keys.size() == this.maxKeys;
		KeyFacts smallest = this.keys.peek();
		if (full && (smallest == null || key.bytes() <= smallest.bytes())) {
			return;
		}
		if (this.keys.stream().anyMatch((known) -> Arrays.equals(known.name(), key.name()))) {
			// SCAN may return a key twice.
			return;
		}
		if (full) {
			this.unreserved -= this.keys.remove().name().length;
		}
		this.unreserved += key.name().length;
		this.keys.add(key);
	}

	/** The memory that is missing for the keys. */
	long unreserved() {
		return this.unreserved;
	}

	/** Adjusts the reserved memory to the keys, if it is free. */
	void tryReserve() {
		if (this.unreserved <= 0 || this.reservation.tryReserve(this.unreserved)) {
			this.reservation.release(Math.max(0, -this.unreserved));
			this.unreserved = 0;
		}
	}

	/** Reserves the missing memory, and may wait for it. */
	void reserve() {
		this.reservation.reserve(Math.max(0, this.unreserved));
		this.unreserved = 0;
	}

	/** The keys, the largest first. */
	List<KeyFacts> sorted() {
		return this.keys.stream()
			.sorted(Comparator.comparingLong(KeyFacts::bytes)
				.reversed()
				.thenComparing(KeyFacts::name, Arrays::compareUnsigned))
			.toList();
	}

}
