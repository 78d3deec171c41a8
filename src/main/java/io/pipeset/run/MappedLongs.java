package io.pipeset.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Numbers from 0 to {@link Long#MAX_VALUE} in memory-mapped buffers, more than fit into
 * an array. It sorts them in place and finds them; one bit of each is a mark. Its own
 * heap memory does not grow with their number.
 */
final class MappedLongs {

	/** The most numbers that are sorted on the heap at once. */
	static final int CHUNK = 1 << 15;

	/** The heap memory of {@link #sort}, in bytes. */
	static final int SORT_BYTES = (CHUNK + 7 * 2 * 512) * Long.BYTES;

	/** Each pass divides numbers by this many of their 63 bits. */
	private static final int DIGIT_BITS = 9;

	private static final int DIGITS = 1 << DIGIT_BITS;

	private static final int FIRST_SHIFT = Long.SIZE - 1 - DIGIT_BITS;

	/** The sign bit, which is set in a number that is marked. */
	private static final long MARK = Long.MIN_VALUE;

	/** How far a good guess may be off. */
	private static final int FIRST_STEP = 8;

	private final LongBuffer[] pieces;

	private final int pieceBits;

	private final long count;

	/**
	 * Wraps buffers.
	 * @param pieces buffers of numbers in native byte order
	 * @param pieceBits all buffers but the last one have 2 to the power of this many
	 * numbers
	 */
	MappedLongs(List<ByteBuffer> pieces, int pieceBits) {
		this.pieces = pieces.stream()
			.map((piece) -> piece.order(ByteOrder.nativeOrder()).asLongBuffer())
			.toArray(LongBuffer[]::new);
		this.pieceBits = pieceBits;
		this.count = Arrays.stream(this.pieces).mapToLong(LongBuffer::remaining).sum();
	}

	/** How many numbers there are, duplicates included. */
	long count() {
		return this.count;
	}

	/** The number at a position, and its mark in the sign bit. */
	private long get(long at) {
		return this.pieces[(int) (at >>> this.pieceBits)].get((int) (at & ((1L << this.pieceBits) - 1)));
	}

	private void put(long at, long number) {
		this.pieces[(int) (at >>> this.pieceBits)].put((int) (at & ((1L << this.pieceBits) - 1)), number);
	}

	/**
	 * Sorts the numbers, none of which is marked.
	 * @param stopped whether to give up, which leaves them in any order
	 */
	void sort(BooleanSupplier stopped) {
		sort(0, this.count, FIRST_SHIFT, new long[(int) Math.min(CHUNK, this.count)], stopped);
	}

	/** Sorts a part whose numbers differ only in their lower bits. */
	private void sort(long from, long to, int shift, long[] chunk, BooleanSupplier stopped) {
		if (to - from <= chunk.length) {
			sortOnHeap(from, (int) (to - from), chunk);
		}
		else if (shift >= 0) {
			// If no bits are left, all numbers are equal.
			long[] ends = divide(from, to, shift);
			long begin = from;
			for (long end : ends) {
				if (stopped.getAsBoolean()) {
					return;
				}
				sort(begin, end, shift - DIGIT_BITS, chunk, stopped);
				begin = end;
			}
		}
	}

	/** Moves each number to the part of its digit; returns the ends of the parts. */
	private long[] divide(long from, long to, int shift) {
		long[] ends = new long[DIGITS];
		for (long at = from; at < to; at++) {
			ends[digit(get(at), shift)]++;
		}
		long[] next = new long[DIGITS];
		long end = from;
		for (int digit = 0; digit < DIGITS; digit++) {
			next[digit] = end;
			end += ends[digit];
			ends[digit] = end;
		}
		for (int digit = 0; digit < DIGITS; digit++) {
			while (next[digit] < ends[digit]) {
				long number = get(next[digit]);
				for (int other; (other = digit(number, shift)) != digit;) {
					long displaced = get(next[other]);
					put(next[other]++, number);
					number = displaced;
				}
				put(next[digit]++, number);
			}
		}
		return ends;
	}

	private static int digit(long number, int shift) {
		return (int) (number >>> shift) & (DIGITS - 1);
	}

	private void sortOnHeap(long from, int length, long[] chunk) {
		for (int i = 0; i < length; i++) {
			chunk[i] = get(from + i);
		}
		Arrays.sort(chunk, 0, length);
		for (int i = 0; i < length; i++) {
			put(from + i, chunk[i]);
		}
	}

	/**
	 * Finds a number after the {@link #sort}.
	 * @return its first position; -1 if it is not there
	 */
	long find(long number) {
		long at = (this.count > 0) ? first(number) : 0;
		return (at < this.count && (get(at) & ~MARK) == number) ? at : -1;
	}

	/**
	 * Marks the number at a position.
	 * @return {@code false} if it was marked before
	 */
	boolean mark(long at) {
		long number = get(at);
		put(at, number | MARK);
		return number >= 0;
	}

	/**
	 * The position of the first number that is not less. Hashes are spread so evenly that
	 * the third guess is close. If the numbers are not, the steps from there grow.
	 */
	private long first(long number) {
		long from = 0;
		long to = this.count;
		long guess = guess(0, number);
		for (int i = 0; i < 2; i++) {
			guess = guess(guess, number - (get(guess) & ~MARK));
		}
		if ((get(guess) & ~MARK) < number) {
			from = guess + 1;
			for (long step = FIRST_STEP; from + step < to; step *= 2) {
				if ((get(from + step) & ~MARK) >= number) {
					to = from + step;
				}
				else {
					from += step + 1;
				}
			}
		}
		else {
			to = guess;
			for (long step = FIRST_STEP; to - step > from; step *= 2) {
				if ((get(to - step) & ~MARK) < number) {
					from = to - step + 1;
				}
				else {
					to -= step;
				}
			}
		}
		while (from < to) {
			long middle = (from + to) >>> 1;
			if ((get(middle) & ~MARK) < number) {
				from = middle + 1;
			}
			else {
				to = middle;
			}
		}
		return from;
	}

	/** The likely position of a number that is larger by some difference. */
	private long guess(long at, long difference) {
		return Math.max(0, Math.min(this.count - 1, at + (long) (difference * (this.count / 0x1p63))));
	}

}
