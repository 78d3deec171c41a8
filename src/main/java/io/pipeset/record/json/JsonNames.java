package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Looks up the members of an object whose names templates have. */
final class JsonNames {

	/** Stands for a name that no template has. */
	static final int NONE = -1;

	/** The bit in {@code lengths} for names of 63 bytes or more. */
	private static final int MAX_BIT = 63;

	private final byte[][] names;

	/** A hash table of the numbers of names, plus 1; 0 for an empty entry. */
	private final int[] table;

	/** A bit for each length that a name has. */
	private final long lengths;

	/**
	 * Makes the table.
	 * @param names the names of templates, in the order of their numbers
	 */
	JsonNames(List<String> names) {
		int count = names.size();
		this.names = new byte[count][];
		this.table = new int[Integer.highestOneBit(Math.max(count, 1)) * 4];
		long lengths = 0;
		for (int number = 0; number < count; number++) {
			byte[] name = names.get(number).getBytes(StandardCharsets.UTF_8);
			this.names[number] = name;
			int at = hash(name, 0, name.length);
			while (this.table[at] != 0) {
				at = (at + 1) & (this.table.length - 1);
			}
			this.table[at] = number + 1;
			lengths |= 1L << Math.min(name.length, MAX_BIT);
		}
		this.lengths = lengths;
	}

	/**
	 * Finds a name.
	 * @return its number, or {@link #NONE}
	 */
	int find(byte[] bytes, int offset, int length) {
		if ((this.lengths >>> Math.min(length, MAX_BIT) & 1) == 0) {
			return NONE;
		}
		int at = hash(bytes, offset, length);
		while (this.table[at] != 0) {
			byte[] name = this.names[this.table[at] - 1];
			if (Arrays.equals(name, 0, name.length, bytes, offset, offset + length)) {
				return this.table[at] - 1;
			}
			at = (at + 1) & (this.table.length - 1);
		}
		return NONE;
	}

	/** The name of a number. */
	byte[] name(int number) {
		return this.names[number];
	}

	private int hash(byte[] bytes, int offset, int length) {
		int hash = 1;
		for (int i = offset; i < offset + length; i++) {
			hash = 31 * hash + bytes[i];
		}
		return (hash ^ (hash >>> 16)) & (this.table.length - 1);
	}

}
