package io.pipeset.record;

import java.util.Arrays;

/**
 * Where a record's {@code args} stand, until it is known that the record is good. What is
 * no string has the complement of its length.
 */
final class JsonSpans {

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
		for (int i = 0; i < this.count * 2; i += 2) {
			addTo(record, source, this.offsetsAndLengths[i], this.offsetsAndLengths[i + 1]);
		}
	}

	/** Adds a string, or else a literal, whose length is the complement. */
	static void addTo(Record record, byte[] source, int offset, int length) {
		if (length >= 0) {
			record.string(source, offset, length);
		}
		else {
			record.argument(source, offset, ~length);
		}
	}

}
