package io.pipeset.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The bytes of arguments that the body does not hold in the form that is sent: arguments
 * decoded from Base64, and arguments joined from several parts. An argument needs no
 * object of its own. Its bytes do not move until {@link #clear()}: when the array is
 * full, the next arguments go to another array.
 */
public final class ArgumentBytes {

	private static final byte[] BASE64_VALUES = base64Values();

	private static final VarHandle SHORTS = littleEndian(short[].class);

	private static final VarHandle INTS = littleEndian(int[].class);

	private static final VarHandle LONGS = littleEndian(long[].class);

	private static final int MIN_BYTES = 1024;

	/** The largest array that needs no reservation, in bytes. */
	private static final int MAX_FREE_BYTES = 64 << 10;

	private final MemoryReservation memory;

	private byte[] bytes = {};

	/** The index of the first byte of the current argument. */
	private int start;

	private int used;

	/** The memory reserved for larger arrays, in bytes. */
	private long reserved;

	public ArgumentBytes(MemoryReservation memory) {
		this.memory = memory;
	}

	public void clear() {
		this.used = 0;
		this.start = 0;
		if (this.reserved > 0) {
			this.bytes = new byte[0];
			this.memory.release(this.reserved);
			this.reserved = 0;
		}
	}

	/** Begins an argument, which is empty at first. */
	public void begin() {
		this.start = this.used;
	}

	/**
	 * The array that holds the current argument. The argument stays in this array if
	 * nothing more is appended to it.
	 */
	public byte[] bytes() {
		return this.bytes;
	}

	/**
	 * The index of the first byte of the current argument.
	 * @return its index in the array
	 */
	public int start() {
		return this.start;
	}

	/**
	 * The length of the current argument.
	 * @return its length so far, in bytes
	 */
	public int length() {
		return this.used - this.start;
	}

	/** Appends a part to the current argument. */
	public void append(byte[] source, int offset, int length) {
		ensureCapacity(length);
		System.arraycopy(source, offset, this.bytes, this.used, length);
		this.used += length;
	}

	/** Takes back what was appended to the current argument after its first bytes. */
	public void cut(int length) {
		this.used = this.start + length;
	}

	/** Appends a text to the current argument. */
	public void append(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		append(bytes, 0, bytes.length);
	}

	/** Appends a single byte to the current argument. */
	public void append(char ascii) {
		ensureCapacity(1);
		this.bytes[this.used++] = (byte) ascii;
	}

	/**
	 * Decodes Base64, and appends the bytes to the current argument.
	 * @param source the array that holds the text: Base64 with padding
	 * @return {@code false} if the text is not Base64; then nothing is appended
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
		ensureCapacity(length / 4 * 3);
		byte[] out = this.bytes;
		int at = this.used;
		int wrong = 0;
		for (int i = offset; i < end; i += 4) {
			boolean last = i + 4 == end;
			int first = BASE64_VALUES[source[i] & 0xFF];
			int second = BASE64_VALUES[source[i + 1] & 0xFF];
			int third = (last && padding == 2) ? 0 : BASE64_VALUES[source[i + 2] & 0xFF];
			int fourth = (last && padding > 0) ? 0 : BASE64_VALUES[source[i + 3] & 0xFF];
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

	/**
	 * Decodes Base64 as programs write it, and appends the bytes to the current argument:
	 * with line ends, in the alphabet for URLs, or without padding.
	 * @return {@code false} if the text is not Base64, or has bits left over; then
	 * nothing is appended
	 */
	public boolean appendAnyBase64(byte[] source, int offset, int length) {
		ensureCapacity(length);
		int end = offset + length;
		while (end > offset && (source[end - 1] == '=' || source[end - 1] == '\n' || source[end - 1] == '\r')) {
			end--;
		}
		int at = this.used;
		int bits = 0;
		int count = 0;
		for (int i = offset; i < end; i++) {
			byte letter = source[i];
			int value = BASE64_VALUES[((letter == '-') ? '+' : (letter == '_') ? '/' : letter) & 0xFF];
			if (value >= 0) {
				bits = bits << 6 | value;
				count += 6;
				if (count >= 8) {
					count -= 8;
					this.bytes[at++] = (byte) (bits >> count);
					bits &= (1 << count) - 1;
				}
			}
			else if (letter != '\n' && letter != '\r') {
				return false;
			}
		}
		if (count == 6 || bits != 0) {
			return false;
		}
		this.used = at;
		return true;
	}

	/**
	 * Appends the bytes that hexadecimal digits stand for.
	 * @param source the array that holds the digits, two for each byte, in any case
	 * @return {@code false} if they are no such digits, and nothing was appended
	 */
	public boolean appendHex(byte[] source, int offset, int length) {
		if (length % 2 != 0) {
			return false;
		}
		ensureCapacity(length / 2);
		int at = this.used;
		for (int i = offset; i < offset + length; i += 2) {
			int high = Character.digit(source[i], 16);
			int low = Character.digit(source[i + 1], 16);
			if (high < 0 || low < 0) {
				return false;
			}
			this.bytes[at++] = (byte) (high << 4 | low);
		}
		this.used = at;
		return true;
	}

	/** Appends the two bytes of a number, the lower one first. */
	public void appendLittleEndian(short bits) {
		ensureCapacity(Short.BYTES);
		SHORTS.set(this.bytes, this.used, bits);
		this.used += Short.BYTES;
	}

	/** Appends the four bytes of a number, the lowest one first. */
	public void appendLittleEndian(int bits) {
		ensureCapacity(Integer.BYTES);
		INTS.set(this.bytes, this.used, bits);
		this.used += Integer.BYTES;
	}

	/** Appends the eight bytes of a number, the lowest one first. */
	public void appendLittleEndian(long bits) {
		ensureCapacity(Long.BYTES);
		LONGS.set(this.bytes, this.used, bits);
		this.used += Long.BYTES;
	}

	/** Makes sure that the array can take further bytes of the current argument. */
	private void ensureCapacity(int more) {
		if (more > this.bytes.length - this.used) {
			grow(more);
		}
	}

	private void grow(int more) {
		int length = length();
		long needed = Math.max((long) length + more, Math.min(2L * this.bytes.length, MAX_FREE_BYTES));
		int size = (int) Math.min(Math.max(needed + length, MIN_BYTES), Integer.MAX_VALUE - 8);
		if (size > MAX_FREE_BYTES) {
			this.memory.reserve(MemoryReservation.ofArray(size));
			this.reserved += MemoryReservation.ofArray(size);
		}
		byte[] grown = new byte[size];
		System.arraycopy(this.bytes, this.start, grown, 0, length);
		this.bytes = grown;
		this.start = 0;
		this.used = length;
	}

	private static VarHandle littleEndian(Class<?> numbers) {
		return MethodHandles.byteArrayViewVarHandle(numbers, ByteOrder.LITTLE_ENDIAN);
	}

	private static byte[] base64Values() {
		byte[] values = new byte[256];
		Arrays.fill(values, (byte) -1);
		String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
		for (int i = 0; i < alphabet.length(); i++) {
			values[alphabet.charAt(i)] = (byte) i;
		}
		return values;
	}

}
