package io.pipeset.record.body;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Finds ends of lines and strings. It compares eight bytes at a time, because it runs
 * over every byte of a body.
 */
public final class LineScanner {

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	static final long ONES = 0x0101010101010101L;

	static final long HIGH_BITS = 0x8080808080808080L;

	private LineScanner() {
	}

	/**
	 * Finds the first line feed or double quote.
	 * @param to the index after the last byte
	 * @return its index, or -1 if there is none
	 */
	public static int findLineFeedOrQuote(byte[] bytes, int from, int to) {
		int at = from;
		for (; at <= to - Long.BYTES; at += Long.BYTES) {
			long eight = eight(bytes, at);
			long found = zeros(eight ^ (ONES * '\n')) | zeros(eight ^ (ONES * '"'));
			if (found != 0) {
				return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
			}
		}
		for (; at < to; at++) {
			if (bytes[at] == '\n' || bytes[at] == '"') {
				return at;
			}
		}
		return -1;
	}

	/**
	 * Finds the first line feed.
	 * @param to the index after the last byte
	 * @return its index, or -1 if there is none
	 */
	public static int findLineFeed(byte[] bytes, int from, int to) {
		int at = from;
		for (; at <= to - Long.BYTES; at += Long.BYTES) {
			long found = zeros(eight(bytes, at) ^ (ONES * '\n'));
			if (found != 0) {
				return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
			}
		}
		for (; at < to; at++) {
			if (bytes[at] == '\n') {
				return at;
			}
		}
		return -1;
	}

	/**
	 * Finds the first byte that is not a plain character of a JSON string: a double
	 * quote, a backslash, a control character, or a byte that is not ASCII.
	 * @param to the index after the last byte
	 * @return its index, or {@code to} if there is none
	 */
	public static int skipPlain(byte[] bytes, int from, int to) {
		int at = from;
		for (; at <= to - Long.BYTES; at += Long.BYTES) {
			long eight = eight(bytes, at);
			long found = zeros(eight ^ (ONES * '"')) | zeros(eight ^ (ONES * '\\'))
					| ((eight - ONES * ' ') & ~eight & HIGH_BITS) | (eight & HIGH_BITS);
			if (found != 0) {
				return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
			}
		}
		while (at < to && bytes[at] >= ' ' && bytes[at] != '"' && bytes[at] != '\\') {
			at++;
		}
		return at;
	}

	/** Eight bytes as a little-endian number. */
	static long eight(byte[] bytes, int at) {
		return (long) LONGS.get(bytes, at);
	}

	/**
	 * Sets the high bit of each byte that is zero. Only the lowest set bit is exact,
	 * because the subtraction may borrow and set bits above it.
	 */
	static long zeros(long eight) {
		return (eight - ONES) & ~eight & HIGH_BITS;
	}

}
