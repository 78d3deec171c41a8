package io.pipeset.record.json;

/**
 * Finds the end of an array's element by its quotes and brackets alone, across any number
 * of pieces. {@link JsonRecordParser} then decides whether the element is JSON.
 */
final class JsonElementScanner {

	private int depth;

	private boolean begun;

	private boolean inString;

	private boolean afterBackslash;

	/** Expects the first byte of an element next. */
	void begin() {
		this.depth = 0;
		this.begun = false;
		this.inString = false;
		this.afterBackslash = false;
	}

	/** Whether the last piece ended in the middle of a string. */
	boolean isInString() {
		return this.inString;
	}

	/**
	 * Goes on with the element.
	 * @param to the byte after the piece
	 * @return the byte after the element, or -1 if the element goes on beyond the piece
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
