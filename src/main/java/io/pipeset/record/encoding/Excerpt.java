package io.pipeset.record.encoding;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * An excerpt of the input for a message: the whole input if it is short, and else its
 * beginning and its size. So a message stays small, whatever a caller sends.
 */
public final class Excerpt {

	private static final int MOST_BYTES = 64;

	private static final String[] BYTES = bytes();

	private Excerpt() {
	}

	/**
	 * Shortens a text.
	 * @return 64 bytes of it at most, and its size if it is longer
	 */
	public static String of(String text) {
		if (text.length() <= MOST_BYTES / 4) {
			return text;
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		return of(bytes, 0, bytes.length);
	}

	/**
	 * Shortens a text that is held as bytes.
	 * @return 64 bytes of it at most, and its size if it is longer, with U+FFFD for bytes
	 * that are not UTF-8
	 */
	public static String of(byte[] source, int offset, int length) {
		if (length <= MOST_BYTES) {
			return new String(source, offset, length, StandardCharsets.UTF_8);
		}
		byte[] beginning = Arrays.copyOfRange(source, offset, offset + MOST_BYTES + 1);
		int end = MOST_BYTES;
		// A character that is cut off is left out: at most three bytes follow its first.
		while (end > MOST_BYTES - 3 && (beginning[end] & 0xC0) == 0x80) {
			end--;
		}
		return new String(beginning, 0, end, StandardCharsets.UTF_8) + "… (" + length + " bytes)";
	}

	/**
	 * Names a single byte.
	 * @return the character in quotes if it is a visible one of ASCII, and else the byte
	 * in hexadecimal
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
