package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The arguments of a record, in arrays that serve all records of a job, and the reading
 * of those that are more than bytes to Redis: options in any case, and numbers.
 */
final class Arguments {

	/**
	 * The number of arguments whose memory every job has; that for more is taken from the
	 * room.
	 */
	private static final int FEW = 1024;

	/** A reference, an offset and a length. */
	private static final int ARGUMENT_BYTES = 12;

	/** The digits of the largest number of 64 bits. */
	private static final int MOST_DIGITS = 19;

	private final MemoryReservation room;

	private byte[][] sources = new byte[8][];

	private int[] offsets = new int[8];

	private int[] lengths = new int[8];

	private int count;

	Arguments(MemoryReservation room) {
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

	/** An argument as text, with U+FFFD for bytes that are not UTF-8. */
	String text(int argument) {
		return new String(this.sources[argument], this.offsets[argument], this.lengths[argument],
				StandardCharsets.UTF_8);
	}

	/** An argument as a message shows it. */
	String excerpt(int argument) {
		return Excerpt.of(this.sources[argument], this.offsets[argument], this.lengths[argument]);
	}

	/** Whether an argument is a word in any case; the word is given in upper case. */
	boolean isWord(int argument, String word) {
		int length = word.length();
		if (this.lengths[argument] != length) {
			return false;
		}
		byte[] source = this.sources[argument];
		int offset = this.offsets[argument];
		for (int i = 0; i < length; i++) {
			int letter = source[offset + i];
			int upper = (letter >= 'a' && letter <= 'z') ? letter - ('a' - 'A') : letter;
			if (upper != word.charAt(i)) {
				return false;
			}
		}
		return true;
	}

	/** Whether an argument is a number in hexadecimal. */
	boolean isHexadecimal(int argument) {
		byte[] source = this.sources[argument];
		int from = this.offsets[argument];
		for (int i = from; i < from + this.lengths[argument]; i++) {
			if (Character.digit(source[i], 16) < 0) {
				return false;
			}
		}
		return true;
	}

	/** Whether an argument is a whole number of 64 bits, with its sign if negative. */
	boolean isInteger(int argument) {
		return number(argument) >= 0 || negative(argument) < 0;
	}

	/**
	 * Whether an argument is a whole number, with its sign if negative, that is no
	 * further from 0 than a bound.
	 */
	boolean isWithin(int argument, long most) {
		long number = number(argument);
		if (number >= 0) {
			return number <= most;
		}
		long negative = negative(argument);
		return negative < 0 && negative >= -most;
	}

	/** An argument as a whole number of 0 or more, or -1 if it is none. */
	long number(int argument) {
		return number(this.sources[argument], this.offsets[argument], this.lengths[argument]);
	}

	/** Bytes as a whole number of 0 or more, as strictly as Redis reads one, or -1. */
	static long number(byte[] source, int from, int length) {
		if (length == 0 || length > MOST_DIGITS || (source[from] == '0' && length > 1)) {
			return -1;
		}
		long number = 0;
		for (int i = from; i < from + length; i++) {
			int digit = source[i] - '0';
			if (digit < 0 || digit > 9) {
				return -1;
			}
			number = number * 10 + digit;
		}
		return (number < 0) ? -1 : number;
	}

	/** An argument as a whole number below 0, or 0 if it is none. */
	private long negative(int argument) {
		byte[] source = this.sources[argument];
		int sign = this.offsets[argument];
		int digits = this.lengths[argument] - 1;
		if (digits < 1 || digits > MOST_DIGITS || source[sign] != '-' || source[sign + 1] == '0') {
			return 0;
		}
		long number = 0;
		for (int i = sign + 1; i <= sign + digits; i++) {
			if (source[i] < '0' || source[i] > '9') {
				return 0;
			}
			number = number * 10 - (source[i] - '0');
		}
		return Math.min(number, 0);
	}

}
