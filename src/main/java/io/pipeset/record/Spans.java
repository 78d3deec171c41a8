package io.pipeset.record;

import java.util.Arrays;

/** Where a record's words stand, until it is known that the record is good. */
final class Spans {

	private int[] offsetsAndLengths = new int[32];

	private int count;

	void clear() {
		this.count = 0;
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

	/** Adds all of them to a record's arguments. */
	void addTo(Record record, byte[] source) {
		addTo(record, source, 0, 0);
	}

	/** Adds those from one on, whose offsets count from a base. */
	void addTo(Record record, byte[] source, int first, int base) {
		for (int i = first * 2; i < this.count * 2; i += 2) {
			record.argument(source, base + this.offsetsAndLengths[i], this.offsetsAndLengths[i + 1]);
		}
	}

}
