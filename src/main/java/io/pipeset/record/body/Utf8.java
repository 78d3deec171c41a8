package io.pipeset.record.body;

/**
 * Reads UTF-8 strictly, so that Redis never gets a byte that a decoder would have to
 * replace.
 */
public final class Utf8 {

	private Utf8() {
	}

	/**
	 * Measures the character that begins at a byte of 0x80 or more.
	 * @param end the index after the last byte that may belong to it
	 * @return its length in bytes, or 0 if it is not a valid character
	 */
	public static int characterLength(byte[] bytes, int at, int end) {
		int first = bytes[at] & 0xFF;
		int length = (first < 0xC2) ? 0 : (first < 0xE0) ? 2 : (first < 0xF0) ? 3 : (first < 0xF5) ? 4 : 0;
		if (length == 0 || end - at < length || !isSecond(first, bytes[at + 1] & 0xFF)) {
			return 0;
		}
		for (int i = 2; i < length; i++) {
			if (!isContinuation(bytes[at + i])) {
				return 0;
			}
		}
		return length;
	}

	/**
	 * Writes a character.
	 * @return the index after its last byte
	 */
	public static int encode(int codePoint, byte[] bytes, int at) {
		int next = at;
		if (codePoint < 0x80) {
			bytes[next++] = (byte) codePoint;
			return next;
		}
		if (codePoint < 0x800) {
			bytes[next++] = (byte) (0xC0 | (codePoint >> 6));
		}
		else {
			if (codePoint < 0x10000) {
				bytes[next++] = (byte) (0xE0 | (codePoint >> 12));
			}
			else {
				bytes[next++] = (byte) (0xF0 | (codePoint >> 18));
				bytes[next++] = (byte) (0x80 | ((codePoint >> 12) & 0x3F));
			}
			bytes[next++] = (byte) (0x80 | ((codePoint >> 6) & 0x3F));
		}
		bytes[next++] = (byte) (0x80 | (codePoint & 0x3F));
		return next;
	}

	// The second byte shows overlong forms, surrogates and code points beyond U+10FFFF.
	private static boolean isSecond(int first, int second) {
		return switch (first) {
			case 0xE0 -> second >= 0xA0 && second <= 0xBF;
			case 0xED -> second >= 0x80 && second <= 0x9F;
			case 0xF0 -> second >= 0x90 && second <= 0xBF;
			case 0xF4 -> second >= 0x80 && second <= 0x8F;
			default -> second >= 0x80 && second <= 0xBF;
		};
	}

	private static boolean isContinuation(byte b) {
		return (b & 0xC0) == 0x80;
	}

}
