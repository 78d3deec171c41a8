package io.pipeset.keyspace;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.record.room.Room;

/** The largest keys met so far, a heap with the smallest of them on top. */
final class LargestKeys {

	private final Room room;

	private final byte[][] keys;

	private final int[] types;

	private final long[] sizes;

	private final long[] ttls;

	private int count;

	/** The memory that is taken ahead, for the keys of a page. */
	private long spare;

	LargestKeys(int most, Room room) {
		this.room = room;
		this.keys = new byte[most][];
		this.types = new int[most];
		this.sizes = new long[most];
		this.ttls = new long[most];
	}

	void clear() {
		for (int i = 0; i < this.count; i++) {
			this.room.give(this.keys[i].length);
			this.keys[i] = new byte[0];
		}
		this.count = 0;
		giveSpare();
	}

	/** The most memory that the keys of a page may need. */
	long needed(KeyPage page) {
		long all = 0;
		int longest = 0;
		for (int key = 0; key < page.count() && this.keys.length > 0; key++) {
			if (this.count < this.keys.length || page.size(key) > this.sizes[0]) {
				int bytes = page.end(key) - page.start(key);
				all += bytes;
				longest = Math.max(longest, bytes);
			}
		}
		return Math.min(all, (long) this.keys.length * longest);
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
		long size = page.size(key);
		if (this.keys.length == 0 || (this.count == this.keys.length && size <= this.sizes[0])) {
			return;
		}
		byte[] bytes = page.bytes();
		int from = page.start(key);
		int to = page.end(key);
		if (contains(bytes, from, to)) {
			// SCAN may name a key twice.
			return;
		}
		this.spare -= to - from;
		byte[] copy = Arrays.copyOfRange(bytes, from, to);
		if (this.count == this.keys.length) {
			this.spare += this.keys[0].length;
			set(0, copy, page, key);
			siftDown();
		}
		else {
			set(this.count++, copy, page, key);
			siftUp();
		}
	}

	private boolean contains(byte[] bytes, int from, int to) {
		for (int i = 0; i < this.count; i++) {
			byte[] known = this.keys[i];
			if (known.length == to - from && Arrays.equals(known, 0, known.length, bytes, from, to)) {
				return true;
			}
		}
		return false;
	}

	private void set(int place, byte[] bytes, KeyPage page, int key) {
		this.keys[place] = bytes;
		this.types[place] = page.type(key);
		this.sizes[place] = page.size(key);
		this.ttls[place] = page.ttl(key);
	}

	private void siftUp() {
		for (int at = this.count - 1; at > 0 && this.sizes[at] < this.sizes[(at - 1) / 2]; at = (at - 1) / 2) {
			swap(at, (at - 1) / 2);
		}
	}

	private void siftDown() {
		int at = 0;
		while (true) {
			int least = at;
			for (int child = 2 * at + 1; child <= 2 * at + 2 && child < this.count; child++) {
				least = (this.sizes[child] < this.sizes[least]) ? child : least;
			}
			if (least == at) {
				return;
			}
			swap(at, least);
			at = least;
		}
	}

	private void swap(int one, int other) {
		byte[] key = this.keys[one];
		this.keys[one] = this.keys[other];
		this.keys[other] = key;
		int type = this.types[one];
		this.types[one] = this.types[other];
		this.types[other] = type;
		swap(this.sizes, one, other);
		swap(this.ttls, one, other);
	}

	private static void swap(long[] values, int one, int other) {
		long value = values[one];
		values[one] = values[other];
		values[other] = value;
	}

	/** Sorts the keys, the largest first. Afterwards no more can be offered. */
	void sort() {
		Integer[] order = new Integer[this.count];
		Arrays.setAll(order, (place) -> place);
		Arrays.sort(order, Comparator.<Integer>comparingLong((place) -> -this.sizes[place])
			.thenComparing((place) -> this.keys[place], Arrays::compareUnsigned));
		byte[][] keys = this.keys.clone();
		int[] types = this.types.clone();
		long[] sizes = this.sizes.clone();
		long[] ttls = this.ttls.clone();
		for (int place = 0; place < order.length; place++) {
			int from = order[place];
			this.keys[place] = keys[from];
			this.types[place] = types[from];
			this.sizes[place] = sizes[from];
			this.ttls[place] = ttls[from];
		}
	}

	/** Some of these keys as a page, in their order. */
	KeyPage page(BitSet places) {
		KeyPage page = new KeyPage(this.room);
		for (int place = places.nextSetBit(0); place >= 0; place = places.nextSetBit(place + 1)) {
			page.add(this.keys[place], this.types[place]);
		}
		return page;
	}

	int count() {
		return this.count;
	}

	byte[] key(int place) {
		return this.keys[place];
	}

	int type(int place) {
		return this.types[place];
	}

	long size(int place) {
		return this.sizes[place];
	}

	long ttl(int place) {
		return this.ttls[place];
	}

}
