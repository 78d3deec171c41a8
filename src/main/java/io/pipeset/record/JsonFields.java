package io.pipeset.record;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * Where a record's {@code fields} stand, each name once. Few are compared one by one,
 * many go through an index, lest a giant record takes the square of its size; the index
 * is seeded, lest a caller can choose names that make it useless. A value that is no
 * string has the complement of its length.
 */
final class JsonFields {

	private static final int MOST_COMPARED = 16;

	private static final long SEED = new SecureRandom().nextLong() | 1;

	private static final int NAME = 0;

	private static final int NAME_LENGTH = 1;

	private static final int VALUE = 2;

	private static final int VALUE_LENGTH = 3;

	private static final int HASH = 4;

	private static final int COLUMNS = 5;

	private static final int KEPT = 1 << 14;

	private int[] rows = new int[MOST_COMPARED * COLUMNS];

	private int count;

	private int[] index = {};

	private int indexMask;

	void clear() {
		this.count = 0;
		if (this.rows.length > KEPT) {
			this.rows = new int[MOST_COMPARED * COLUMNS];
			this.index = new int[0];
		}
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	int count() {
		return this.count;
	}

	/** Adds a field, or gives one that is there already another value. */
	void put(byte[] source, int name, int nameLength, int value, int valueLength) {
		int row = (this.count <= MOST_COMPARED) ? findByComparing(source, name, nameLength)
				: findInIndex(source, name, nameLength, hash(source, name, nameLength));
		if (row == this.count) {
			add(source, name, nameLength);
		}
		this.rows[row * COLUMNS + VALUE] = value;
		this.rows[row * COLUMNS + VALUE_LENGTH] = valueLength;
	}

	/** Adds all of them to a record's arguments. */
	void addTo(Record record, byte[] source) {
		for (int i = 0; i < this.count * COLUMNS; i += COLUMNS) {
			record.string(source, this.rows[i + NAME], this.rows[i + NAME_LENGTH]);
			JsonSpans.addTo(record, source, this.rows[i + VALUE], this.rows[i + VALUE_LENGTH]);
		}
	}

	private void add(byte[] source, int name, int nameLength) {
		int row = this.count++;
		if (this.rows.length < this.count * COLUMNS) {
			this.rows = Arrays.copyOf(this.rows, this.rows.length * 2);
		}
		this.rows[row * COLUMNS + NAME] = name;
		this.rows[row * COLUMNS + NAME_LENGTH] = nameLength;
		if (this.count > MOST_COMPARED) {
			this.rows[row * COLUMNS + HASH] = hash(source, name, nameLength);
			index(source, row);
		}
	}

	private void index(byte[] source, int row) {
		if (row == MOST_COMPARED) {
			for (int i = 0; i < row; i++) {
				this.rows[i * COLUMNS + HASH] = hash(source, this.rows[i * COLUMNS + NAME],
						this.rows[i * COLUMNS + NAME_LENGTH]);
			}
			rebuildIndex(MOST_COMPARED * 4);
		}
		else if (this.count * 2 > this.indexMask) {
			rebuildIndex((this.indexMask + 1) * 2);
		}
		else {
			insert(row);
		}
	}

	private void rebuildIndex(int size) {
		if (this.index.length < size) {
			this.index = new int[size];
		}
		else {
			Arrays.fill(this.index, 0, size, 0);
		}
		this.indexMask = size - 1;
		for (int i = 0; i < this.count; i++) {
			insert(i);
		}
	}

	private void insert(int row) {
		int slot = this.rows[row * COLUMNS + HASH] & this.indexMask;
		while (this.index[slot] != 0) {
			slot = (slot + 1) & this.indexMask;
		}
		this.index[slot] = row + 1;
	}

	private int findByComparing(byte[] source, int name, int nameLength) {
		int row = 0;
		while (row < this.count && !isNamed(row, source, name, nameLength)) {
			row++;
		}
		return row;
	}

	private int findInIndex(byte[] source, int name, int nameLength, int hash) {
		for (int slot = hash & this.indexMask; this.index[slot] != 0; slot = (slot + 1) & this.indexMask) {
			int row = this.index[slot] - 1;
			if (this.rows[row * COLUMNS + HASH] == hash && isNamed(row, source, name, nameLength)) {
				return row;
			}
		}
		return this.count;
	}

	private boolean isNamed(int row, byte[] source, int name, int nameLength) {
		int from = this.rows[row * COLUMNS + NAME];
		return this.rows[row * COLUMNS + NAME_LENGTH] == nameLength
				&& Arrays.equals(source, from, from + nameLength, source, name, name + nameLength);
	}

	private static int hash(byte[] source, int offset, int length) {
		long hash = length;
		for (int i = offset; i < offset + length; i++) {
			hash = (hash + source[i]) * SEED;
		}
		return (int) (hash >>> 32);
	}

}
