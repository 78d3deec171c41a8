package io.pipeset.record.grammar;

import java.nio.charset.StandardCharsets;

/** Reads the values that Redis gets unchanged: numbers, true, false and null. */
final class JsonLiterals {

	private static final byte[] TRUE = { 't', 'r', 'u', 'e' };

	private static final byte[] FALSE = { 'f', 'a', 'l', 's', 'e' };

	private static final byte[] NULL = { 'n', 'u', 'l', 'l' };

	private JsonLiterals() {
	}

	/** The kind of a valid value that begins with a byte. */
	static JsonKind kind(byte first) {
		return switch (first) {
			case 'n' -> JsonKind.NULL;
			case 't', 'f' -> JsonKind.BOOLEAN;
			default -> JsonKind.NUMBER;
		};
	}

	/**
	 * Skips a value.
	 * @param to the end of the record
	 * @return the index after it
	 */
	static int skip(byte[] bytes, int at, int to) throws JsonFault {
		return switch ((at < to) ? bytes[at] : 0) {
			case 't' -> skipWord(TRUE, bytes, at, to);
			case 'f' -> skipWord(FALSE, bytes, at, to);
			case 'n' -> skipWord(NULL, bytes, at, to);
			case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> skipNumber(bytes, at, to);
			case 'N', 'I', 'T', 'F', 'u' ->
				throw JsonFault.grammar(at, JsonFault.expected("a value", bytes, at, to).text()
						+ ": JSON has null, true and false, and no NaN, Infinity, None or undefined");
			default -> throw JsonFault.expected("a value", bytes, at, to);
		};
	}

	private static int skipWord(byte[] word, byte[] bytes, int at, int to) throws JsonFault {
		for (int i = 0; i < word.length; i++) {
			if (at + i == to || bytes[at + i] != word[i]) {
				throw JsonFault.expected("'" + new String(word, StandardCharsets.US_ASCII) + "'", bytes, at + i, to);
			}
		}
		return at + word.length;
	}

	private static int skipNumber(byte[] bytes, int from, int to) throws JsonFault {
		int at = (bytes[from] == '-') ? from + 1 : from;
		at = (at < to && bytes[at] == '0') ? at + 1 : skipDigits(bytes, at, to);
		if (at < to && bytes[at] == '.') {
			at = skipDigits(bytes, at + 1, to);
		}
		if (at < to && (bytes[at] == 'e' || bytes[at] == 'E')) {
			at++;
			boolean signed = at < to && (bytes[at] == '+' || bytes[at] == '-');
			at = skipDigits(bytes, (signed) ? at + 1 : at, to);
		}
		return at;
	}

	private static int skipDigits(byte[] bytes, int from, int to) throws JsonFault {
		int at = from;
		while (at < to && bytes[at] >= '0' && bytes[at] <= '9') {
			at++;
		}
		if (at == from) {
			throw JsonFault.expected("a digit", bytes, at, to);
		}
		return at;
	}

}
