package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What messages carry of the input: the whole of it where that is short, and else its
 * beginning and its size. Whatever a caller sends, a message about it stays small.
 */
public final class Excerpt {

	private static final int MOST_BYTES = 64;

	private Excerpt() {
	}

	/**
	 * Shortens a text.
	 * @param text what a caller sent, or a part of it
	 * @return 64 bytes of it at most, and how many there were
	 */
	public static String of(String text) {
		if (text.length() <= MOST_BYTES / 4) {
			return text;
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		return of(bytes, 0, bytes.length);
	}

	/** Shortens bytes, with U+FFFD for what is not UTF-8. */
	static String of(byte[] source, int offset, int length) {
		if (length <= MOST_BYTES) {
			return new String(source, offset, length, StandardCharsets.UTF_8);
		}
		byte[] beginning = Arrays.copyOfRange(source, offset, offset + MOST_BYTES + 1);
		int end = MOST_BYTES;
		// A character that was begun is left out: at most three bytes follow the first.
		while (end > MOST_BYTES - 3 && (beginning[end] & 0xC0) == 0x80) {
			end--;
		}
		return new String(beginning, 0, end, StandardCharsets.UTF_8) + "… (" + length + " bytes)";
	}

}
