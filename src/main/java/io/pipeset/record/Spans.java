package io.pipeset.record;

import java.util.Arrays;

/**
 * Places in the bytes of a record where its words, cells or strings stand, noted down
 * until the record is known to be good.
 */
final class Spans {

	/** So many take no more memory than is anybody's. */
	private static final int FEW = 1024;

	private static final int SPAN_BYTES = 8;

	private final Room room;

	private int[] offsetsAndLengths = new int[32];

	private int count;

	/**
	 * No spans yet.
	 * @param room where the memory for many is taken
	 */
	Spans(Room room) {
		this.room = room;
	}

	void clear() {
		this.count = 0;
		if (capacity() > FEW) {
			this.room.give(further(capacity()));
			this.offsetsAndLengths = new int[FEW * 2];
		}
	}

	int count() {
		return this.count;
	}

	int offset(int span) {
		return this.offsetsAndLengths[span * 2];
	}

	int length(int span) {
		return this.offsetsAndLengths[span * 2 + 1];
	}

	void add(int offset, int length) {
		if (this.count == capacity()) {
			grow(this.count + this.count / 2);
		}
		this.offsetsAndLengths[this.count * 2] = offset;
		this.offsetsAndLengths[this.count * 2 + 1] = length;
		this.count++;
	}

	private int capacity() {
		return this.offsetsAndLengths.length / 2;
	}

	private void grow(int size) {
		if (size > FEW) {
			this.room.take(further(size));
			this.room.give(further(capacity()));
		}
		this.offsetsAndLengths = Arrays.copyOf(this.offsetsAndLengths, size * 2);
	}

	private static long further(int size) {
		return (size > FEW) ? Room.ofArray((long) size * SPAN_BYTES) : 0;
	}

}
