package io.pipeset.record;

import java.util.Arrays;

/** Where a record's arguments stand, in arrays that serve all records of a job. */
final class Arguments {

	/** So many take no more memory than is anybody's. */
	private static final int FEW = 1024;

	/** A reference, an offset and a length. */
	private static final int ARGUMENT_BYTES = 12;

	private final Room room;

	private byte[][] sources = new byte[8][];

	private int[] offsets = new int[8];

	private int[] lengths = new int[8];

	private int count;

	/**
	 * No arguments yet.
	 * @param room where the memory for many is taken
	 */
	Arguments(Room room) {
		this.room = room;
	}

	void clear() {
		this.count = 0;
		if (this.lengths.length > FEW) {
			shrink();
		}
	}

	private void shrink() {
		this.room.give(further(this.lengths.length));
		this.sources = new byte[FEW][];
		this.offsets = new int[FEW];
		this.lengths = new int[FEW];
	}

	private void grow(int size) {
		if (size > FEW) {
			this.room.take(further(size));
			this.room.give(further(this.lengths.length));
		}
		this.sources = Arrays.copyOf(this.sources, size);
		this.offsets = Arrays.copyOf(this.offsets, size);
		this.lengths = Arrays.copyOf(this.lengths, size);
	}

	private static long further(int size) {
		return (size > FEW) ? (long) size * ARGUMENT_BYTES : 0;
	}

	void add(byte[] source, int offset, int length) {
		int i = this.count;
		if (i == this.lengths.length) {
			grow(i + i / 2);
		}
		this.sources[i] = source;
		this.offsets[i] = offset;
		this.lengths[i] = length;
		this.count = i + 1;
	}

	/** Adds an argument before others. */
	void insert(int position, byte[] source, int offset, int length) {
		add(source, offset, length);
		int behind = this.count - 1 - position;
		System.arraycopy(this.sources, position, this.sources, position + 1, behind);
		System.arraycopy(this.offsets, position, this.offsets, position + 1, behind);
		System.arraycopy(this.lengths, position, this.lengths, position + 1, behind);
		this.sources[position] = source;
		this.offsets[position] = offset;
		this.lengths[position] = length;
	}

	int count() {
		return this.count;
	}

	byte[] source(int argument) {
		return this.sources[argument];
	}

	int offset(int argument) {
		return this.offsets[argument];
	}

	int length(int argument) {
		return this.lengths[argument];
	}

	/** A hash of an argument's bytes. */
	int hash(int argument) {
		int hash = 1;
		byte[] source = this.sources[argument];
		int end = this.offsets[argument] + this.lengths[argument];
		for (int i = this.offsets[argument]; i < end; i++) {
			hash = 31 * hash + source[i];
		}
		return hash ^ (hash >>> 16);
	}

	/** An argument as a whole number, or -1. */
	long number(int argument) {
		return Words.number(this.sources[argument], this.offsets[argument], this.lengths[argument]);
	}

}
