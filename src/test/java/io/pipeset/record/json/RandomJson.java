package io.pipeset.record.json;

import java.util.Random;

/** Random JSON from a seed, as a hostile serializer might write it. */
final class RandomJson {

	private static final String[] NUMBERS = { "0", "-0", "1", "-17", "3.25", "1e3", "-2.5E-10", "1E+2",
			"9007199254740993", "123456789012345678901234567890", "0.1000" };

	private static final int[] CODE_POINTS = { 0, 1, '\b', '\t', '\n', '\f', '\r', ' ', '"', '\\', '/', '{', '}', '[',
			']', ',', ':', 'a', 'Z', '7', 0x7F, 0x80, 0xE9, 0x7FF, 0x800, 0x20AC, 0x65E5, 0xD7FF, 0xE000, 0xFFFD,
			0xFFFF, 0x10000, 0x1F600, 0x10FFFF };

	private final Random random;

	RandomJson(long seed) {
		this.random = new Random(seed);
	}

	int below(int bound) {
		return this.random.nextInt(bound);
	}

	/** A string with its quotes. */
	String string() {
		StringBuilder json = new StringBuilder("\"");
		int length = (below(20) == 0) ? below(300) : below(12);
		for (int i = 0; i < length; i++) {
			int codePoint = (below(3) == 0) ? CODE_POINTS[below(CODE_POINTS.length)] : 'a' + below(26);
			appendCharacter(json, codePoint);
		}
		return json.append('"').toString();
	}

	/** A string, a number or a boolean. */
	String argument() {
		return switch (below(4)) {
			case 0 -> NUMBERS[below(NUMBERS.length)];
			case 1 -> (below(2) == 0) ? "true" : "false";
			default -> string();
		};
	}

	/** Any value, with an object's names all different. */
	String value(int depth) {
		StringBuilder json = new StringBuilder();
		int length = below(4);
		switch ((depth == 0) ? 9 : below(10)) {
			case 0, 1, 2 -> {
				json.append('[').append(space());
				for (int i = 0; i < length; i++) {
					json.append((i > 0) ? "," + space() : "").append(value(depth - 1)).append(space());
				}
				json.append(']');
			}
			case 3, 4, 5 -> {
				json.append('{').append(space());
				for (int i = 0; i < length; i++) {
					json.append((i > 0) ? "," + space() : "").append('"').append(i).append(string().substring(1));
					json.append(space()).append(':').append(space()).append(value(depth - 1)).append(space());
				}
				json.append('}');
			}
			case 6 -> json.append("null");
			default -> json.append(argument());
		}
		return json.toString();
	}

	/** White space without a line end, or none. */
	String space() {
		return switch (below(8)) {
			case 0 -> " ";
			case 1 -> "\t ";
			case 2 -> "  \r";
			default -> "";
		};
	}

	private void appendCharacter(StringBuilder json, int codePoint) {
		int letter = "\"\\/\b\f\n\r\t".indexOf(codePoint);
		boolean mustEscape = codePoint < ' ' || codePoint == '"' || codePoint == '\\';
		if (letter >= 0 && (below(2) == 0)) {
			json.append('\\').append("\"\\/bfnrt".charAt(letter));
		}
		else if (mustEscape || below(4) == 0) {
			for (char unit : Character.toChars(codePoint)) {
				json.append(String.format((below(2) == 0) ? "\\u%04x" : "\\u%04X", (int) unit));
			}
		}
		else {
			json.appendCodePoint(codePoint);
		}
	}

}
