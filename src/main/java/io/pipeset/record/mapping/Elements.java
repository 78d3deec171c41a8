package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import org.jspecify.annotations.Nullable;

/**
 * The elements of an array, the members of an object, or the parts of a text, one after
 * another. Those of JSON are decoded in the place where the array or object stands.
 */
final class Elements {

	private final JsonCursor cursor = new JsonCursor();

	private boolean object;

	/** Whether a value comes before the next comma or separator. */
	private boolean more;

	private boolean begun;

	private int nameOffset;

	private int nameLength;

	/** The text between elements that are no JSON; {@code null} for those of JSON. */
	private byte @Nullable [] separator;

	private State state = State.NULL;

	private byte[] source = {};

	private int offset;

	private int length;

	/** The end of the text whose parts are the elements. */
	private int end;

	/** The first byte of it that was not taken yet. */
	private int rest;

	/**
	 * Begins with a text.
	 * @return whether it is an array or an object of JSON, and nothing else
	 */
	boolean begin(byte[] bytes, int from, int to) {
		try {
			this.cursor.begin(bytes, from, to);
			if (!this.cursor.isNext('[') && !this.cursor.isNext('{')) {
				return false;
			}
			this.cursor.readValue(0);
			int offset = this.cursor.offset();
			int length = this.cursor.length();
			this.cursor.expectEnd();
			if (this.cursor.contentFault() != null) {
				return false;
			}
			this.cursor.begin(bytes, offset, offset + length);
			this.object = bytes[offset] == '{';
			this.separator = null;
			this.begun = false;
			this.more = this.cursor.enter(close());
			return true;
		}
		catch (JsonFault fault) {
			return false;
		}
	}

	/**
	 * Begins with a value that is no JSON.
	 * @param separator the text between its elements; empty if it is one element
	 */
	void begin(byte[] source, int offset, int length, State state, String separator) {
		this.source = source;
		this.rest = offset;
		this.end = offset + length;
		this.state = state;
		this.separator = separator.getBytes(StandardCharsets.UTF_8);
		this.object = false;
		this.more = true;
	}

	private char close() {
		return (this.object) ? '}' : ']';
	}

	/** Whether they are the members of an object. */
	boolean areMembers() {
		return this.object;
	}

	/** Reads the next one; {@code false} if there is none. */
	boolean next() {
		byte[] separator = this.separator;
		if (separator != null) {
			return nextPart(separator);
		}
		try {
			this.more = this.more && (!this.begun || this.cursor.next(close()));
			this.begun = true;
			if (this.more) {
				if (this.object) {
					this.cursor.readName();
					this.nameOffset = this.cursor.offset();
					this.nameLength = this.cursor.length();
				}
				this.state = State.of(this.cursor.readValue(1));
				this.source = this.cursor.source();
				this.offset = this.cursor.offset();
				this.length = this.cursor.length();
			}
			return this.more;
		}
		catch (JsonFault fault) {
			throw new IllegalStateException("JSON that was read before is not JSON now", fault);
		}
	}

	/** Takes a part of a text. Of several, blanks around them and empty ones go. */
	private boolean nextPart(byte[] separator) {
		while (this.more) {
			int to = this.rest;
			while (separator.length > 0 && to < this.end && !isSeparator(separator, to)) {
				to++;
			}
			this.offset = this.rest;
			this.length = ((separator.length > 0) ? to : this.end) - this.rest;
			this.more = separator.length > 0 && to < this.end;
			this.rest = to + separator.length;
			if (separator.length == 0) {
				return true;
			}
			trim();
			if (this.length > 0) {
				return true;
			}
		}
		return false;
	}

	private boolean isSeparator(byte[] separator, int at) {
		return at + separator.length <= this.end
				&& Arrays.equals(this.source, at, at + separator.length, separator, 0, separator.length);
	}

	private void trim() {
		while (this.length > 0 && JsonCursor.isWhitespace(this.source[this.offset])) {
			this.offset++;
			this.length--;
		}
		while (this.length > 0 && JsonCursor.isWhitespace(this.source[this.offset + this.length - 1])) {
			this.length--;
		}
	}

	/** The state of the value that was read last. */
	State state() {
		return this.state;
	}

	/** The array that holds names and values. */
	byte[] source() {
		return this.source;
	}

	int offset() {
		return this.offset;
	}

	int length() {
		return this.length;
	}

	int nameOffset() {
		return this.nameOffset;
	}

	int nameLength() {
		return this.nameLength;
	}

}
