package io.pipeset.record.json;

import java.util.Arrays;

import io.pipeset.record.body.LineScanner;

/**
 * The shape of a record: its bytes without the strings that vary. Most bodies have
 * records of one shape. A record of the same shape as the one before needs no parsing,
 * since only the places of its strings are new. Strings that vary are plain ones, which
 * stand for themselves: without escapes, and of ASCII alone.
 */
final class JsonShape {

	private static final int MOST_STRINGS = 32;

	private static final int MOST_BYTES = 1024;

	/** The most records in a row of which none is like the one before it. */
	private static final int MOST_MISSES = 8;

	/** The records that are parsed without a look at their shape after that. */
	private static final int PAUSE = 1024;

	/** The bytes before, between and behind the strings, without a gap. */
	private final byte[] fixed = new byte[MOST_BYTES];

	/** The ends of those parts in {@link #fixed}, one more than there are strings. */
	private final int[] ends = new int[MOST_STRINGS + 1];

	private final int[] slots = new int[MOST_STRINGS];

	private final int[] offsets = new int[MOST_STRINGS];

	private final int[] lengths = new int[MOST_STRINGS];

	private int strings;

	private boolean known;

	private int misses;

	private int pause;

	/**
	 * Whether a record has this shape.
	 * @param to the byte after it
	 * @return {@code true} if {@link #moveStrings} can take the place of parsing it
	 */
	boolean matches(byte[] bytes, int from, int to) {
		if (!this.known) {
			return false;
		}
		int at = from;
		int part = 0;
		for (int i = 0; i < this.strings; i++) {
			int string = skip(part, this.ends[i], bytes, at, to);
			part = this.ends[i];
			int end = (string < 0) ? to : LineScanner.skipPlain(bytes, string, to);
			if (end == to || bytes[end] != '"') {
				return false;
			}
			this.offsets[i] = string;
			this.lengths[i] = end - string;
			at = end;
		}
		return skip(part, this.ends[this.strings], bytes, at, to) == to;
	}

	/** Goes behind a fixed part; -1 if other bytes stand there. */
	private int skip(int part, int partEnd, byte[] bytes, int at, int to) {
		int end = at + (partEnd - part);
		return (end <= to && Arrays.equals(this.fixed, part, partEnd, bytes, at, end)) ? end : -1;
	}

	/**
	 * Gives a draft, which holds another record of this shape, the strings of the record
	 * that matched.
	 * @param draft holds the record that was parsed last
	 */
	void moveStrings(JsonDraft draft) {
		for (int i = 0; i < this.strings; i++) {
			draft.moveString(this.slots[i], this.offsets[i], this.lengths[i]);
		}
		this.misses = 0;
	}

	/**
	 * Whether the shape of a record that was just parsed may be learnt. It is not for a
	 * while, if records had many shapes.
	 */
	boolean forget() {
		this.known = false;
		this.strings = 0;
		if (this.pause > 0) {
			this.pause--;
			return false;
		}
		if (++this.misses > MOST_MISSES) {
			this.misses = 0;
			this.pause = PAUSE;
		}
		return true;
	}

	/**
	 * Takes note of a string that varies.
	 * @param slot its place in the draft
	 * @param offset its first byte in the record's array
	 */
	void addString(int slot, int offset, int length) {
		if (this.strings < MOST_STRINGS) {
			int i = this.strings;
			// Members may come in another order than the draft's.
			for (; i > 0 && this.offsets[i - 1] > offset; i--) {
				set(i, this.slots[i - 1], this.offsets[i - 1], this.lengths[i - 1]);
			}
			set(i, slot, offset, length);
		}
		this.strings++;
	}

	private void set(int i, int slot, int offset, int length) {
		this.slots[i] = slot;
		this.offsets[i] = offset;
		this.lengths[i] = length;
	}

	/**
	 * Learns the shape of a record, all of whose strings were {@linkplain #addString
	 * added} and are plain.
	 * @param bytes the array that holds it, which parsing has not changed
	 * @param to the byte after it
	 */
	void learn(byte[] bytes, int from, int to) {
		if (this.strings > MOST_STRINGS) {
			return;
		}
		int at = from;
		int length = 0;
		for (int i = 0; i <= this.strings; i++) {
			int end = (i < this.strings) ? this.offsets[i] : to;
			if (length + end - at > MOST_BYTES) {
				return;
			}
			System.arraycopy(bytes, at, this.fixed, length, end - at);
			length += end - at;
			this.ends[i] = length;
			at = (i < this.strings) ? end + this.lengths[i] : to;
		}
		this.known = true;
	}

}
