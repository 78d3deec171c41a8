package io.pipeset.record.grammar;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds members and elements in an array or object that is compact JSON, and changes no
 * byte of it.
 */
public final class JsonWalk {

	/** No value of that name or number. */
	public static final int ABSENT = -1;

	/** Two members of that name. */
	public static final int TWICE = -2;

	private JsonWalk() {
	}

	/**
	 * Finds the member of an object.
	 * @param at the index of the object's brace
	 * @return the index of the member's value, {@link #ABSENT} or {@link #TWICE}
	 */
	public static int member(byte[] json, int at, byte[] name) {
		int found = ABSENT;
		int next = at + 1;
		while (json[next] == '"') {
			int end = skipString(json, next);
			if (isText(json, next, end, name)) {
				found = (found == ABSENT) ? end + 1 : TWICE;
			}
			next = skip(json, end + 1);
			next += (json[next] == ',') ? 1 : 0;
		}
		return found;
	}

	/**
	 * Finds an element of an array.
	 * @param at the index of the array's bracket
	 * @param number the number of the element in decimal, from 0
	 * @return the index of the element, or {@link #ABSENT}
	 */
	public static int element(byte[] json, int at, byte[] number) {
		String digits = new String(number, StandardCharsets.US_ASCII);
		long left = (digits.matches("0|[1-9][0-9]{0,8}")) ? Long.parseLong(digits) : Long.MAX_VALUE;
		int next = at + 1;
		while (json[next] != ']') {
			if (left-- == 0) {
				return next;
			}
			next = skip(json, next);
			next += (json[next] == ',') ? 1 : 0;
		}
		return ABSENT;
	}

	/** The index after the value that begins at an index. */
	public static int skip(byte[] json, int at) {
		int depth = 0;
		int next = at;
		do {
			byte b = json[next];
			if (b == '"') {
				next = skipString(json, next);
				continue;
			}
			depth += (b == '{' || b == '[') ? 1 : (b == '}' || b == ']') ? -1 : 0;
			next++;
			if (depth == 0 && b != '}' && b != ']') {
				while (next < json.length && isLiteral(json[next])) {
					next++;
				}
			}
		}
		while (depth > 0);
		return next;
	}

	/** Whether a byte belongs to a number, true, false or null. */
	private static boolean isLiteral(byte b) {
		return b != ',' && b != '}' && b != ']';
	}

	/** The index after the string whose opening quote is at an index. */
	private static int skipString(byte[] json, int at) {
		int next = at + 1;
		while (json[next] != '"') {
			next += (json[next] == '\\') ? 2 : 1;
		}
		return next + 1;
	}

	private static boolean hasBackslash(byte[] text) {
		for (byte b : text) {
			if (b == '\\') {
				return true;
			}
		}
		return false;
	}

	/** Whether a string in quotes is a text. */
	private static boolean isText(byte[] json, int from, int to, byte[] text) {
		if (to - from - 2 == text.length) {
			// A string with an escape is longer than its text.
			return Arrays.equals(json, from + 1, to - 1, text, 0, text.length) && !hasBackslash(text);
		}
		if (to - from - 2 < text.length) {
			return false;
		}
		byte[] copy = Arrays.copyOfRange(json, from, to);
		JsonCursor cursor = new JsonCursor();
		cursor.begin(copy, 0, copy.length);
		try {
			cursor.readValue(0);
		}
		catch (JsonFault fault) {
			throw new IllegalStateException("JSON that was read before is not JSON now", fault);
		}
		return Arrays.equals(copy, cursor.offset(), cursor.offset() + cursor.length(), text, 0, text.length);
	}

}
