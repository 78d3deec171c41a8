package io.pipeset.record.json;

import io.pipeset.record.grammar.JsonCursor;

/**
 * Finds the end of an array's element by quotes and brackets only, across any number of
 * buffer fills. {@link JsonRecordParser} then decides whether the element is valid JSON.
 */
final class JsonElementScanner {

	private int depth;

	private boolean begun;

	private boolean inString;

	private boolean afterBackslash;

	/** Begins an element. The next scan starts at its first byte. */
	void begin() {
		this.depth = 0;
		this.begun = false;
		this.inString = false;
		this.afterBackslash = false;
	}

	/** Whether the last scan ended inside a string. */
	boolean isInString() {
		return this.inString;
	}

	/**
	 * Scans more bytes of the element.
	 * @param to the index after the last byte
	 * @return the index after the element, or -1 if the element continues
	 */
	int scan(byte[] bytes, int from, int to) {
		int at = from;
		while (at < to) {
			if (this.inString) {
				at = scanString(bytes, at, to);
				if (!this.inString && this.depth == 0) {
					return at;
				}
				continue;
			}
			byte b = bytes[at];
			if (this.begun && this.depth == 0 && endsScalar(b)) {
				return at;
			}
			this.begun = true;
			at++;
			if (b == '"') {
				this.inString = true;
			}
			else if (b == '{' || b == '[') {
				this.depth++;
			}
			else if ((b == '}' || b == ']') && this.depth > 0 && --this.depth == 0) {
				return at;
			}
		}
		return -1;
	}

	private int scanString(byte[] bytes, int from, int to) {
		int at = from;
		if (this.afterBackslash) {
			this.afterBackslash = false;
			at++;
		}
		while (at < to) {
			byte b = bytes[at++];
			if (b == '"') {
				this.inString = false;
				return at;
			}
			if (b == '\\') {
				if (at == to) {
					this.afterBackslash = true;
				}
				at++;
			}
		}
		return to;
	}

	private static boolean endsScalar(byte b) {
		return switch (b) {
			case ',', ']', '}', '{', '[', '"' -> true;
			default -> JsonCursor.isWhitespace(b);
		};
	}

}
