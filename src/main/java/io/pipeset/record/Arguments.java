package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The arguments of a record, in arrays that all records of a job share. It also reads
 * options (in any case) and numbers from them.
 */
final class Arguments {

	/** The largest number of arguments that needs no memory reservation. */
	private static final int MAX_FREE_ARGUMENTS = 1024;

	/** The memory for one argument: a reference, an offset and a length. */
	private static final int ARGUMENT_BYTES = 12;

	/** The number of digits of {@link Long#MAX_VALUE}. */
	private static final int MAX_DIGITS = 19;

	private final MemoryReservation memory;

	private byte[][] sources = new byte[8][];

	private int[] offsets = new int[8];

	private int[] lengths = new int[8];

	private int count;

	Arguments(MemoryReservation memory) {
		this.memory = memory;
	}

	void clear() {
		this.count = 0;
		if (this.lengths.length > MAX_FREE_ARGUMENTS) {
			shrink();
		}
	}

	private void shrink() {
		this.memory.release(reservedBytes(this.lengths.length));
		this.sources = new byte[MAX_FREE_ARGUMENTS][];
		this.offsets = new int[MAX_FREE_ARGUMENTS];
		this.lengths = new int[MAX_FREE_ARGUMENTS];
	}

	private void grow(int size) {
		if (size > MAX_FREE_ARGUMENTS) {
			this.memory.reserve(reservedBytes(size));
			this.memory.release(reservedBytes(this.lengths.length));
		}
		this.sources = Arrays.copyOf(this.sources, size);
		this.offsets = Arrays.copyOf(this.offsets, size);
		this.lengths = Arrays.copyOf(this.lengths, size);
	}

	private static long reservedBytes(int size) {
		return (size > MAX_FREE_ARGUMENTS) ? (long) size * ARGUMENT_BYTES : 0;
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

	/** Inserts an argument at a position. Later arguments move up by one. */
	void insert(int position, byte[] source, int offset, int length) {
		add(source, offset, length);
		int moved = this.count - 1 - position;
		System.arraycopy(this.sources, position, this.sources, position + 1, moved);
		System.arraycopy(this.offsets, position, this.offsets, position + 1, moved);
		System.arraycopy(this.lengths, position, this.lengths, position + 1, moved);
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

	/** An argument, shortened for a message. */
	String excerpt(int argument) {
		return Excerpt.of(this.sources[argument], this.offsets[argument], this.lengths[argument]);
	}

	/** Whether an argument is a word, ignoring case. The word has to be in upper case. */
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

	/** Whether an argument consists of hexadecimal digits. */
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

	/** Whether an argument is a signed 64-bit integer. */
	boolean isInteger(int argument) {
		return number(argument) >= 0 || negative(argument) < 0;
	}

	/** Whether an argument is an integer from {@code -max} to {@code max}. */
	boolean isWithin(int argument, long max) {
		long number = number(argument);
		if (number >= 0) {
			return number <= max;
		}
		long negative = negative(argument);
		return negative < 0 && negative >= -max;
	}

	/** An argument as an integer of 64 bits, which it has to be. */
	long integer(int argument) {
		long number = number(argument);
		return (number >= 0) ? number : negative(argument);
	}

	/** An argument as an integer of 0 or more; -1 if it is not one. */
	long number(int argument) {
		return number(this.sources[argument], this.offsets[argument], this.lengths[argument]);
	}

	/**
	 * Bytes as an integer of 0 or more, by the strict rules of Redis; -1 if they are not
	 * one.
	 */
	static long number(byte[] source, int from, int length) {
		if (length == 0 || length > MAX_DIGITS || (source[from] == '0' && length > 1)) {
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

	/** An argument as an integer below 0; 0 if it is not one. */
	private long negative(int argument) {
		byte[] source = this.sources[argument];
		int sign = this.offsets[argument];
		int digits = this.lengths[argument] - 1;
		if (digits < 1 || digits > MAX_DIGITS || source[sign] != '-' || source[sign + 1] == '0') {
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
