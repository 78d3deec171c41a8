package io.pipeset.record;

import java.util.Arrays;

import io.pipeset.record.room.Room;

/**
 * Decodes Base64 with its padding, without an object for each string. A decoded argument
 * stays in its place until the next record: when an array is full, the next arguments go
 * to another one.
 */
final class Base64Bytes {

	private static final byte[] VALUES = values();

	private static final int MIN_BYTES = 1024;

	/**
	 * The size of an array whose memory every job has; that for larger ones is taken from
	 * the room.
	 */
	private static final int KEPT_BYTES = 64 << 10;

	private final Room room;

	private byte[] bytes = {};

	private int used;

	/** The memory that was taken for larger arrays. */
	private long taken;

	/**
	 * Has decoded nothing yet.
	 * @param room lends the memory for large strings
	 */
	Base64Bytes(Room room) {
		this.room = room;
	}

	/** Forgets the bytes that were decoded. */
	void clear() {
		this.used = 0;
		if (this.taken > 0) {
			this.bytes = new byte[0];
			this.room.give(this.taken);
			this.taken = 0;
		}
	}

	/** The array that holds the bytes decoded last. */
	byte[] bytes() {
		return this.bytes;
	}

	/** The end of the bytes decoded last. */
	int end() {
		return this.used;
	}

	/**
	 * Decodes a string, behind those before it.
	 * @return the number of bytes it stands for, or -1 if it is no Base64
	 */
	int decode(byte[] source, int offset, int length) {
		if (length % 4 != 0) {
			return -1;
		}
		if (length == 0) {
			return 0;
		}
		int end = offset + length;
		int padding = (source[end - 1] != '=') ? 0 : (source[end - 2] != '=') ? 1 : 2;
		int decoded = length / 4 * 3 - padding;
		if (this.used + length / 4 * 3 > this.bytes.length) {
			int size = Math.max(length, Math.max(MIN_BYTES, Math.min(this.bytes.length * 2, KEPT_BYTES)));
			if (size > KEPT_BYTES) {
				this.room.take(Room.ofArray(size));
				this.taken += Room.ofArray(size);
			}
			this.bytes = new byte[size];
			this.used = 0;
		}
		byte[] out = this.bytes;
		int at = this.used;
		int wrong = 0;
		for (int i = offset; i < end; i += 4) {
			boolean last = i + 4 == end;
			int first = VALUES[source[i] & 0xFF];
			int second = VALUES[source[i + 1] & 0xFF];
			int third = (last && padding == 2) ? 0 : VALUES[source[i + 2] & 0xFF];
			int fourth = (last && padding > 0) ? 0 : VALUES[source[i + 3] & 0xFF];
			wrong |= first | second | third | fourth;
			out[at++] = (byte) (first << 2 | (second & 0x30) >> 4);
			out[at++] = (byte) (second << 4 | (third & 0x3C) >> 2);
			out[at++] = (byte) (third << 6 | (fourth & 0x3F));
		}
		if (wrong < 0) {
			return -1;
		}
		this.used += decoded;
		return decoded;
	}

	private static byte[] values() {
		byte[] values = new byte[256];
		Arrays.fill(values, (byte) -1);
		String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
		for (int i = 0; i < alphabet.length(); i++) {
			values[alphabet.charAt(i)] = (byte) i;
		}
		return values;
	}

}
