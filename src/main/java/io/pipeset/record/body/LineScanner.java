package io.pipeset.record.body;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Finds ends of lines and of strings eight bytes at a time, because every byte of a body
 * passes here.
 */
public final class LineScanner {

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	static final long ONES = 0x0101010101010101L;

	static final long HIGH_BITS = 0x8080808080808080L;

	private LineScanner() {
	}

	/**
	 * Finds the first line feed or double quote.
	 * @param to the byte after the last one
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
	 * @param to the byte after the last one
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
	 * Finds the first byte that does not stand for itself in a JSON string: a double
	 * quote, a backslash, a control character, or a part of a character that is not
	 * ASCII.
	 * @param to the byte after the last one
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

	/** Eight bytes as a number, the first one lowest. */
	static long eight(byte[] bytes, int at) {
		return (long) LONGS.get(bytes, at);
	}

	/**
	 * Marks the bytes that are zero. Only the lowest bit that is set is exact: the
	 * subtraction may borrow from it and set bits above it.
	 */
	static long zeros(long eight) {
		return (eight - ONES) & ~eight & HIGH_BITS;
	}

}
