package io.pipeset.record.json;

import java.util.Arrays;

import io.pipeset.record.body.LineScanner;

/**
 * The shape of a record: its bytes without the strings that vary. In most bodies, all
 * records have one shape. A record with the same shape as the previous one needs no
 * parsing, because only the positions of its strings are new. Only plain strings may
 * vary: ASCII without escapes.
 */
final class JsonShape {

	private static final int MAX_STRINGS = 32;

	private static final int MAX_BYTES = 1024;

	/**
	 * After this number of consecutive records with new shapes, records are parsed
	 * without learning their shape.
	 */
	private static final int MAX_MISSES = 8;

	/** The number of records that are then parsed without learning their shape. */
	private static final int SKIPPED_RECORDS = 1024;

	/** The bytes before, between and after the strings, without gaps. */
	private final byte[] fixed = new byte[MAX_BYTES];

	/** The ends of the parts in {@link #fixed}, one more than there are strings. */
	private final int[] ends = new int[MAX_STRINGS + 1];

	private final int[] slots = new int[MAX_STRINGS];

	private final int[] offsets = new int[MAX_STRINGS];

	private final int[] lengths = new int[MAX_STRINGS];

	private int strings;

	private boolean known;

	private int misses;

	private int recordsToSkip;

	/**
	 * Whether a record has this shape.
	 * @param to the index after its last byte
	 * @return {@code true} if {@link #moveStrings} can replace parsing
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

	/** The index after a fixed part; -1 if the bytes are different. */
	private int skip(int part, int partEnd, byte[] bytes, int at, int to) {
		int end = at + (partEnd - part);
		return (end <= to && Arrays.equals(this.fixed, part, partEnd, bytes, at, end)) ? end : -1;
	}

	/**
	 * Sets the strings of the matching record in a draft of another record with this
	 * shape.
	 * @param draft the draft of the last parsed record
	 */
	void moveStrings(JsonDraft draft) {
		for (int i = 0; i < this.strings; i++) {
			draft.moveString(this.slots[i], this.offsets[i], this.lengths[i]);
		}
		this.misses = 0;
	}

	/**
	 * Clears the shape before a record is parsed.
	 * @return whether the record's shape may be learned; {@code false} for a while after
	 * many records with different shapes
	 */
	boolean clear() {
		this.known = false;
		this.strings = 0;
		if (this.recordsToSkip > 0) {
			this.recordsToSkip--;
			return false;
		}
		if (++this.misses > MAX_MISSES) {
			this.misses = 0;
			this.recordsToSkip = SKIPPED_RECORDS;
		}
		return true;
	}

	/**
	 * Adds a string that varies.
	 * @param slot its slot in the draft
	 * @param offset the index of its first byte in the record's array
	 */
	void addString(int slot, int offset, int length) {
		if (this.strings < MAX_STRINGS) {
			int i = this.strings;
			// Members may be in another order than in the draft.
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
	 * Learns the shape of a record. All its strings must be plain, and be
	 * {@linkplain #addString added}.
	 * @param bytes the array that holds it; parsing must not have changed it
	 * @param to the index after its last byte
	 */
	void learn(byte[] bytes, int from, int to) {
		if (this.strings > MAX_STRINGS) {
			return;
		}
		int at = from;
		int length = 0;
		for (int i = 0; i <= this.strings; i++) {
			int end = (i < this.strings) ? this.offsets[i] : to;
			if (length + end - at > MAX_BYTES) {
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
