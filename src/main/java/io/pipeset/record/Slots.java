package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * The slots of Redis Cluster. Each slot has one master. A key's slot is the CRC16 of the
 * key, or of its hash tag: the bytes between its first opening brace and the next closing
 * brace, if there are any.
 */
public final class Slots {

	/** The number of slots. */
	public static final int COUNT = 16384;

	/** Stands for the slot of a record without keys. */
	public static final int NONE = -1;

	/** Stands for the slot of a record whose keys are in several slots. */
	public static final int SEVERAL = -2;

	private static final char[] CRC = table();

	/** The effect of a byte on the CRC after one more byte. */
	private static final char[] CRC_AFTER_NEXT = tableAfterNext();

	private Slots() {
	}

	/**
	 * The slot of a key.
	 * @return 0 to 16383
	 */
	public static int of(byte[] source, int offset, int length) {
		int tag = tagStart(source, offset, offset + length);
		return (tag < 0) ? slot(source, offset, offset + length)
				: slot(source, tag, tagEnd(source, tag, offset + length));
	}

	/**
	 * A hash tag of a slot.
	 * @param slot 0 to 16383
	 * @return a number in braces, always the same for the slot
	 */
	public static String tag(int slot) {
		for (int number = 0;; number++) {
			byte[] digits = Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
			if (slot(digits, 0, digits.length) == slot) {
				return "{" + number + "}";
			}
		}
	}

	/** The index where the hash tag begins, or -1 for a key without one. */
	private static int tagStart(byte[] source, int from, int to) {
		for (int i = from; i < to; i++) {
			if (source[i] == '{') {
				return (tagEnd(source, i + 1, to) > i + 1) ? i + 1 : -1;
			}
		}
		return -1;
	}

	/** The index of the next closing brace, or -1. */
	private static int tagEnd(byte[] source, int from, int to) {
		for (int i = from; i < to; i++) {
			if (source[i] == '}') {
				return i;
			}
		}
		return -1;
	}

	/**
	 * Processes two bytes at once, because each step has to wait for the result of the
	 * previous one.
	 */
	private static int slot(byte[] source, int from, int to) {
		int crc = 0;
		int last = to - 1;
		int i = from;
		for (; i < last; i += 2) {
			crc = CRC_AFTER_NEXT[((crc >>> 8) ^ source[i]) & 0xFF] ^ CRC[(crc ^ source[i + 1]) & 0xFF];
		}
		if (i == last) {
			crc = (crc << 8) ^ CRC[((crc >>> 8) ^ source[i]) & 0xFF];
		}
		return crc & (COUNT - 1);
	}

	/** CRC16 in the XMODEM variant: the polynomial 0x1021, with the initial value 0. */
	private static char[] table() {
		char[] table = new char[256];
		for (int i = 0; i < table.length; i++) {
			int crc = i << 8;
			for (int bit = 0; bit < Byte.SIZE; bit++) {
				crc = ((crc & 0x8000) != 0) ? (crc << 1) ^ 0x1021 : crc << 1;
			}
			table[i] = (char) crc;
		}
		return table;
	}

	private static char[] tableAfterNext() {
		char[] table = new char[CRC.length];
		for (int i = 0; i < table.length; i++) {
			table[i] = (char) ((CRC[i] << 8) ^ CRC[CRC[i] >>> 8]);
		}
		return table;
	}

}
