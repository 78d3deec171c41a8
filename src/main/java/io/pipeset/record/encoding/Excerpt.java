package io.pipeset.record.encoding;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * An excerpt of the input for a message: the whole input if it is short, otherwise its
 * beginning and its size. So a message stays small, whatever a caller sends.
 */
public final class Excerpt {

	private static final int MAX_BYTES = 64;

	private static final String[] BYTES = bytes();

	private Excerpt() {
	}

	/**
	 * Shortens a text.
	 * @return at most 64 bytes of it, and its size if it is longer
	 */
	public static String of(String text) {
		if (text.length() <= MAX_BYTES / 4) {
			return text;
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		return of(bytes, 0, bytes.length);
	}

	/**
	 * Shortens a text given as bytes.
	 * @return at most 64 bytes of it, and its size if it is longer, with U+FFFD for bytes
	 * that are not UTF-8
	 */
	public static String of(byte[] source, int offset, int length) {
		if (length <= MAX_BYTES) {
			return new String(source, offset, length, StandardCharsets.UTF_8);
		}
		byte[] beginning = Arrays.copyOfRange(source, offset, offset + MAX_BYTES + 1);
		int end = MAX_BYTES;
		// Leave out a cut character. At most three bytes follow its first byte.
		while (end > MAX_BYTES - 3 && (beginning[end] & 0xC0) == 0x80) {
			end--;
		}
		return new String(beginning, 0, end, StandardCharsets.UTF_8) + "… (" + length + " bytes)";
	}

	/**
	 * Names a single byte.
	 * @return the character in quotes if it is visible ASCII, otherwise the byte in
	 * hexadecimal
	 */
	public static String ofByte(byte b) {
		return BYTES[b & 0xFF];
	}

	private static String[] bytes() {
		String[] names = new String[256];
		for (int i = 0; i < names.length; i++) {
			names[i] = (i > ' ' && i < 0x7F) ? "'" + (char) i + "'" : String.format(Locale.ROOT, "byte 0x%02X", i);
		}
		return names;
	}

}
