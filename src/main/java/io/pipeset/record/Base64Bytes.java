package io.pipeset.record;

import java.util.Arrays;

/**
 * Bytes that stand as Base64, with its padding, decoded without an object for each of
 * them. An argument stays where it was put until the next record: when there is no room,
 * the next ones go to another array.
 */
final class Base64Bytes {

	private static final byte[] VALUES = values();

	private static final int MIN_ROOM = 1024;

	/** So much takes no more memory than is anybody's. */
	private static final int KEPT_ROOM = 64 << 10;

	private final Room memory;

	private byte[] room = {};

	private int used;

	/** What was taken for arrays that are larger. */
	private long taken;

	/**
	 * Decodes nothing yet.
	 * @param memory where the memory for large strings is taken
	 */
	Base64Bytes(Room memory) {
		this.memory = memory;
	}

	/** Forgets what was decoded. */
	void clear() {
		this.used = 0;
		if (this.taken > 0) {
			this.room = new byte[0];
			this.memory.give(this.taken);
			this.taken = 0;
		}
	}

	/** Where the bytes decoded last stand. */
	byte[] room() {
		return this.room;
	}

	/** The end of the bytes decoded last. */
	int used() {
		return this.used;
	}

	/**
	 * Decodes a string, behind those before it.
	 * @return how many bytes it stands for, or -1 where it is no Base64
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
		if (this.used + length / 4 * 3 > this.room.length) {
			int size = Math.max(length, Math.max(MIN_ROOM, Math.min(this.room.length * 2, KEPT_ROOM)));
			if (size > KEPT_ROOM) {
				this.memory.take(Room.ofArray(size));
				this.taken += Room.ofArray(size);
			}
			this.room = new byte[size];
			this.used = 0;
		}
		byte[] out = this.room;
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
