package io.pipeset.record;

import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The bytes of arguments that stand in no body as they are sent: those decoded from
 * Base64, and those put together of several parts. No argument needs an object. It stays
 * in its place until all are forgotten: when an array is full, the next arguments go to
 * another one.
 */
public final class ArgumentBytes {

	private static final byte[] VALUES = values();

	private static final int MIN_BYTES = 1024;

	/**
	 * The size of an array whose memory every job has; that for larger ones is taken from
	 * the room.
	 */
	private static final int KEPT_BYTES = 64 << 10;

	private final MemoryReservation room;

	private byte[] bytes = {};

	/** The first byte of the argument that was begun last. */
	private int start;

	private int used;

	/** The memory that was taken for larger arrays. */
	private long taken;

	public ArgumentBytes(MemoryReservation room) {
		this.room = room;
	}

	public void clear() {
		this.used = 0;
		this.start = 0;
		if (this.taken > 0) {
			this.bytes = new byte[0];
			this.room.give(this.taken);
			this.taken = 0;
		}
	}

	/** Begins an argument, which has no bytes yet. */
	public void begin() {
		this.start = this.used;
	}

	/**
	 * The array that holds the argument that was begun last. It holds it for good once
	 * nothing more is appended.
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The first byte of the argument that was begun last.
	 * @return its index in the array
	 */
	public int start() {
		return this.start;
	}

	/**
	 * The length of the argument that was begun last.
	 * @return its length so far, in bytes
	 */
	public int length() {
		return this.used - this.start;
	}

	/** Appends a part to the argument. */
	public void append(byte[] source, int offset, int length) {
		reserve(length);
		System.arraycopy(source, offset, this.bytes, this.used, length);
		this.used += length;
	}

	/**
	 * Appends the bytes that a text stands for to the argument.
	 * @param source the array that holds the text, Base64 with its padding
	 * @return {@code false} if it is no Base64, and nothing was appended
	 */
	public boolean appendBase64(byte[] source, int offset, int length) {
		if (length % 4 != 0) {
			return false;
		}
		if (length == 0) {
			return true;
		}
		int end = offset + length;
		int padding = (source[end - 1] != '=') ? 0 : (source[end - 2] != '=') ? 1 : 2;
		reserve(length / 4 * 3);
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
			return false;
		}
		this.used += length / 4 * 3 - padding;
		return true;
	}

	/** Makes room for further bytes of the argument behind those that it has. */
	private void reserve(int more) {
		if (more > this.bytes.length - this.used) {
			grow(more);
		}
	}

	private void grow(int more) {
		int length = length();
		long needed = Math.max((long) length + more, Math.min(2L * this.bytes.length, KEPT_BYTES));
		int size = (int) Math.min(Math.max(needed + length, MIN_BYTES), Integer.MAX_VALUE - 8);
		if (size > KEPT_BYTES) {
			this.room.take(MemoryReservation.ofArray(size));
			this.taken += MemoryReservation.ofArray(size);
		}
		byte[] grown = new byte[size];
		System.arraycopy(this.bytes, this.start, grown, 0, length);
		this.bytes = grown;
		this.start = 0;
		this.used = length;
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
