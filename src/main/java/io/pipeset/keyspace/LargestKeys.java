package io.pipeset.keyspace;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.record.memory.MemoryReservation;

/** The largest keys met so far. */
final class LargestKeys {

	private final int most;

	private final MemoryReservation room;

	private final PriorityQueue<LargestKey> keys = new PriorityQueue<>(Comparator.comparingLong(LargestKey::size));

	/** The memory that is taken ahead, for the keys of a page. */
	private long spare;

	LargestKeys(int most, MemoryReservation room) {
		this.most = most;
		this.room = room;
	}

	void clear() {
		this.keys.forEach((key) -> this.room.give(key.name().capacity()));
		this.keys.clear();
		giveSpare();
	}

	/** The most memory that the keys of a page may need. */
	long needed(KeyPage page) {
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
		return Math.min(all, (long) this.most * longest);
	}

	/** A key has to be larger to be one of the largest. */
	private long leastSize() {
		if (this.most == 0) {
			return Long.MAX_VALUE;
		}
		LargestKey smallest = (this.keys.size() == this.most) ? this.keys.peek() : null;
		return (smallest != null) ? smallest.size() : Long.MIN_VALUE;
	}

	/** Takes the memory that the keys of a page may need, if it is free. */
	boolean makesRoomFor(KeyPage page) {
		long more = Math.max(0, needed(page) - this.spare);
		boolean hasRoom = more == 0 || this.room.tryTake(more);
		this.spare += (hasRoom) ? more : 0;
		return hasRoom;
	}

	/** Takes memory for the keys of a page, for which the caller's thread may wait. */
	void makeRoom(long bytes) {
		long more = Math.max(0, bytes - this.spare);
		this.room.take(more);
		this.spare += more;
	}

	/** Gives back the memory that was taken ahead. */
	void giveSpare() {
		this.room.give(this.spare);
		this.spare = 0;
	}

	/** Takes a key of a page for which there is room, if it is one of the largest. */
	void offer(KeyPage page, int key) {
		if (page.size(key) <= leastSize()) {
			return;
		}
		int length = page.end(key) - page.start(key);
		ByteBuffer name = ByteBuffer.wrap(page.bytes(), page.start(key), length);
		if (this.keys.stream().anyMatch((known) -> known.name().equals(name))) {
			// SCAN may name a key twice.
			return;
		}
		if (this.keys.size() == this.most) {
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
	 * @param name its bytes, which are an array of their own
	 * @param type a number of the analysis's types
	 * @param ttl the time that it had left, in milliseconds; negative if it never expires
	 */
	record LargestKey(ByteBuffer name, int type, long size, long ttl) {

	}

}
