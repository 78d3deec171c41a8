package io.pipeset.record.grammar;

import java.util.Locale;

import io.pipeset.record.body.LineScanner;
import io.pipeset.record.body.Utf8;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * Reads strings in place, because a decoded string is never longer than the written one.
 */
final class JsonStrings {

	private int copyEnd;

	private boolean plain = true;

	private @Nullable JsonFault fault;

	/** Begins a record. */
	void begin() {
		this.fault = null;
		this.plain = true;
	}

	/**
	 * The first fault in the content of strings. The end of the string is still known.
	 */
	@Nullable JsonFault fault() {
		return this.fault;
	}

	/** Whether all strings so far were ASCII without escapes. */
	boolean arePlain() {
		return this.plain;
	}

	/** The index after the last copy. */
	int copyEnd() {
		return this.copyEnd;
	}

	/**
	 * Reads a string and copies the bytes between its quotes.
	 * @param bytes the array of the string and of its copy
	 * @param from the index after the opening quote
	 * @param to the end of the record
	 * @param copy the index where the copy begins, at most {@code from}
	 * @param decode whether to decode the copy; otherwise escapes are kept
	 * @return the index after the closing quote
	 */
	int read(byte[] bytes, int from, int to, int copy, boolean decode) throws JsonFault {
		int at = from;
		int out = copy;
		while (true) {
			int run = at;
			at = LineScanner.skipPlain(bytes, at, to);
			out = copy(bytes, run, at, out);
			if (at == to) {
				throw JsonFault.grammar(to, "expected '\"' to end a string, found the end");
			}
			byte b = bytes[at];
			if (b == '"') {
				this.copyEnd = out;
				return at + 1;
			}
			this.plain = false;
			run = at;
			if (b == '\\') {
				int codePoint = readEscape(bytes, at, to);
				at += escapeLength(bytes, at, codePoint);
				out = (decode) ? Utf8.encode(codePoint, bytes, out) : copy(bytes, run, at, out);
			}
			else {
				at += characterLength(bytes, at, to);
				out = copy(bytes, run, at, out);
			}
		}
	}

	private static int copy(byte[] bytes, int from, int to, int out) {
		if (out != from) {
			System.arraycopy(bytes, from, bytes, out, to - from);
		}
		return out + (to - from);
	}

	private int characterLength(byte[] bytes, int at, int to) throws JsonFault {
		if (bytes[at] >= 0) {
			throw JsonFault.grammar(at,
					"a string holds control characters only as \\u escapes, not as " + Excerpt.ofByte(bytes[at]));
		}
		int length = Utf8.characterLength(bytes, at, to);
		if (length == 0) {
			if (this.fault == null) {
				this.fault = JsonFault.content(at, "a string is not UTF-8: found " + Excerpt.ofByte(bytes[at]));
			}
			return 1;
		}
		return length;
	}

	private static int escapeLength(byte[] bytes, int at, int codePoint) {
		return (bytes[at + 1] != 'u') ? 2 : Character.isSupplementaryCodePoint(codePoint) ? 12 : 6;
	}

	private int readEscape(byte[] bytes, int at, int to) throws JsonFault {
		byte letter = (at + 1 < to) ? bytes[at + 1] : 0;
		return switch (letter) {
			case '"', '\\', '/' -> letter;
			case 'b' -> '\b';
			case 'f' -> '\f';
			case 'n' -> '\n';
			case 'r' -> '\r';
			case 't' -> '\t';
			case 'u' -> readCharacter(bytes, at, to);
			default -> throw JsonFault.expected("one of \" \\ / b f n r t u after a backslash", bytes, at + 1, to);
		};
	}

	private int readCharacter(byte[] bytes, int at, int to) throws JsonFault {
		char first = readUnit(bytes, at, to);
		if (!Character.isSurrogate(first)) {
			return first;
		}
		int next = at + 6;
		if (Character.isHighSurrogate(first) && to - next >= 2 && bytes[next] == '\\' && bytes[next + 1] == 'u') {
			char second = readUnit(bytes, next, to);
			if (Character.isLowSurrogate(second)) {
				return Character.toCodePoint(first, second);
			}
		}
		if (this.fault == null) {
			this.fault = JsonFault.content(at, String.format(Locale.ROOT,
					"a string holds half of a surrogate pair, \\u%04x, which stands for no character", (int) first));
		}
		return '?';
	}

	private static char readUnit(byte[] bytes, int at, int to) throws JsonFault {
		int unit = 0;
		for (int i = at + 2; i < at + 6; i++) {
			int digit = (i < to) ? Character.digit((char) (bytes[i] & 0xFF), 16) : -1;
			if (digit < 0) {
				throw JsonFault.expected("four hexadecimal digits after \\u", bytes, i, to);
			}
			unit = (unit << 4) | digit;
		}
		return (char) unit;
	}

}
