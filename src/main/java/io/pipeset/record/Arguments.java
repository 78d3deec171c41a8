package io.pipeset.record;

import java.util.Arrays;

/** Where a record's arguments stand, in arrays that serve all records of a job. */
final class Arguments {

	private byte[][] sources = new byte[8][];

	private int[] offsets = new int[8];

	private int[] lengths = new int[8];

	private int count;

	void clear() {
		this.count = 0;
	}

	void add(byte[] source, int offset, int length) {
		int i = this.count;
		if (i == this.lengths.length) {
			this.sources = Arrays.copyOf(this.sources, i * 2);
			this.offsets = Arrays.copyOf(this.offsets, i * 2);
			this.lengths = Arrays.copyOf(this.lengths, i * 2);
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
