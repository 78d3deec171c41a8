package io.pipeset.record.grammar;

import io.pipeset.record.body.FormatHints;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * Reads one record's JSON, strictly by the grammar of
 * <a href="https://www.rfc-editor.org/rfc/rfc8259">RFC 8259</a>. It converts each value
 * in place to the bytes that Redis gets.
 */
public final class JsonCursor {

	private static final int MAX_DEPTH = 64;

	private final JsonStrings strings = new JsonStrings();

	private byte[] bytes = {};

	private int at;

	private int end;

	private int offset;

	private int length;

	/** Begins a record. */
	public void begin(byte[] bytes, int from, int to) {
		this.bytes = bytes;
		this.at = from;
		this.end = to;
		this.strings.begin();
	}

	/** The first fault in the content of strings. */
	public @Nullable JsonFault contentFault() {
		return this.strings.fault();
	}

	/**
	 * Whether all strings of the record are ASCII without escapes, so that reading did
	 * not change them.
	 */
	public boolean hasPlainStrings() {
		return this.strings.arePlain();
	}

	/** The array that holds names and values. */
	public byte[] source() {
		return this.bytes;
	}

	/** The index of the first byte of the last name or value. */
	public int offset() {
		return this.offset;
	}

	/** The length of the last name or value, in bytes. */
	public int length() {
		return this.length;
	}

	/** The last name or value, for messages. */
	public String excerpt() {
		return excerpt(this.offset, this.length);
	}

	/** An earlier name or value, for messages. */
	public String excerpt(int offset, int length) {
		return Excerpt.of(this.bytes, offset, length);
	}

	/** Whether the next value begins with a byte. */
	public boolean isNext(char first) {
		skipWhitespace();
		return this.at < this.end && this.bytes[this.at] == first;
	}

	/**
	 * Enters the object or array that is next.
	 * @return {@code false} if it is empty; the cursor is then after it
	 */
	public boolean enter(char close) {
		this.at++;
		if (isNext(close)) {
			this.at++;
			return false;
		}
		return true;
	}

	/**
	 * Moves past the comma or bracket after a value.
	 * @return {@code false} at the end of the object or array
	 */
	public boolean next(char close) throws JsonFault {
		skipWhitespace();
		byte b = (this.at < this.end) ? this.bytes[this.at] : 0;
		if (b != ',' && b != close) {
			throw JsonFault.expected("',' or '" + close + "'", this.bytes, this.at, this.end);
		}
		this.at++;
		return b == ',';
	}

	/** Reads a member's name and its colon. */
	public void readName() throws JsonFault {
		openName();
		readString();
		skipColon();
	}

	/**
	 * Reads any value. A string is decoded; white space in an object or array is removed.
	 * @param depth the number of objects and arrays around the value
	 */
	public JsonKind readValue(int depth) throws JsonFault {
		skipWhitespace();
		byte first = (this.at < this.end) ? this.bytes[this.at] : 0;
		if (first == '"') {
			this.at++;
			readString();
			return JsonKind.STRING;
		}
		this.offset = this.at;
		if (first == '{' || first == '[') {
			this.length = compact(depth) - this.offset;
			return (first == '{') ? JsonKind.OBJECT : JsonKind.ARRAY;
		}
		this.at = JsonLiterals.skip(this.bytes, this.at, this.end);
		this.length = this.at - this.offset;
		return JsonLiterals.kind(first);
	}

	/** Expects only white space up to the end of the record. */
	public void expectEnd() throws JsonFault {
		skipWhitespace();
		if (this.at < this.end) {
			JsonFault fault = JsonFault.expected("nothing more after the record", this.bytes, this.at, this.end);
			boolean another = this.bytes[this.at] == '{' || this.bytes[this.at] == '[';
			throw (another) ? JsonFault.grammar(this.at, fault.text() + ": " + FormatHints.KEEP_LINE_BREAKS) : fault;
		}
	}

	public static boolean isWhitespace(byte b) {
		return b == ' ' || b == '\n' || b == '\r' || b == '\t';
	}

	private void readString() throws JsonFault {
		this.offset = this.at;
		this.at = this.strings.read(this.bytes, this.at, this.end, this.at, true);
		this.length = this.strings.copyEnd() - this.offset;
	}

	// This is a loop with one bit for each level, because recursion could overflow the
	// stack if a caller sends many brackets.
	private int compact(int outerDepth) throws JsonFault {
		int out = this.at;
		long objects = 0;
		int depth = 0;
		do {
			skipWhitespace();
			byte first = (this.at < this.end) ? this.bytes[this.at] : 0;
			boolean entered = false;
			if (first == '{' || first == '[') {
				if (outerDepth + depth == MAX_DEPTH) {
					throw JsonFault.content(this.at,
							"a record nests objects and arrays at most " + MAX_DEPTH + " deep");
				}
				depth++;
				objects = (objects << 1) | ((first == '{') ? 1 : 0);
				this.bytes[out++] = first;
				this.at++;
				entered = !isNext(close(objects));
			}
			else {
				out = compactScalar(first, out);
			}
			while (!entered && depth > 0) {
				char close = close(objects);
				entered = next(close);
				this.bytes[out++] = (byte) ((entered) ? ',' : close);
				if (!entered) {
					depth--;
					objects >>>= 1;
				}
			}
			if (entered && (objects & 1) == 1) {
				out = compactName(out);
			}
		}
		while (depth > 0);
		return out;
	}

	private static char close(long objects) {
		return ((objects & 1) == 1) ? '}' : ']';
	}

	private int compactScalar(byte first, int out) throws JsonFault {
		if (first == '"') {
			this.at++;
			return compactString(out);
		}
		int from = this.at;
		this.at = JsonLiterals.skip(this.bytes, this.at, this.end);
		System.arraycopy(this.bytes, from, this.bytes, out, this.at - from);
		return out + (this.at - from);
	}

	private int compactName(int out) throws JsonFault {
		openName();
		int copyEnd = compactString(out);
		skipColon();
		this.bytes[copyEnd] = ':';
		return copyEnd + 1;
	}

	private int compactString(int out) throws JsonFault {
		this.bytes[out] = '"';
		this.at = this.strings.read(this.bytes, this.at, this.end, out + 1, false);
		int copyEnd = this.strings.copyEnd();
		this.bytes[copyEnd] = '"';
		return copyEnd + 1;
	}

	private void openName() throws JsonFault {
		if (!isNext('"')) {
			throw JsonFault.expected("a member's name in quotes", this.bytes, this.at, this.end);
		}
		this.at++;
	}

	private void skipColon() throws JsonFault {
		if (!isNext(':')) {
			throw JsonFault.expected("':' after a member's name", this.bytes, this.at, this.end);
		}
		this.at++;
	}

	private void skipWhitespace() {
		int next = this.at;
		while (next < this.end && this.bytes[next] <= ' ' && isWhitespace(this.bytes[next])) {
			next++;
		}
		this.at = next;
	}

}
