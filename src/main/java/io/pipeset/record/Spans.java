package io.pipeset.record;

import java.util.Arrays;

/** Where words or cells stand in the bytes of a record. */
final class Spans {

	private static final int KEPT = 1 << 14;

	private int[] offsetsAndLengths = new int[32];

	private int count;

	void clear() {
		this.count = 0;
		if (this.offsetsAndLengths.length > KEPT) {
			this.offsetsAndLengths = new int[32];
		}
	}

	int count() {
		return this.count;
	}

	int offset(int word) {
		return this.offsetsAndLengths[word * 2];
	}

	int length(int word) {
		return this.offsetsAndLengths[word * 2 + 1];
	}

	void add(int offset, int length) {
		if (this.count * 2 == this.offsetsAndLengths.length) {
			this.offsetsAndLengths = Arrays.copyOf(this.offsetsAndLengths, this.count * 4);
		}
		this.offsetsAndLengths[this.count * 2] = offset;
		this.offsetsAndLengths[this.count * 2 + 1] = length;
		this.count++;
	}

}
