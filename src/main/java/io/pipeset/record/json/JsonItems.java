package io.pipeset.record.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;

import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.mapping.Rows;

/**
 * Finds the arrays of rows in objects that stand one after another, each of any size. Of
 * what is not in such an array, only quotes and brackets are read.
 */
final class JsonItems {

	private static final int END = -1;

	private final BodyBuffer buffer;

	private final Rows rows;

	private final RecordLimit limit;

	private final Function<String, MalformedBodyException> lost;

	private final JsonElementScanner scanner = new JsonElementScanner();

	/** How many objects are open; each but the first is on the path. */
	private int depth;

	private boolean afterMember;

	private boolean found;

	/**
	 * Has found nothing yet.
	 * @param lost makes the exception of a body that is no JSON
	 */
	JsonItems(BodyBuffer buffer, Rows rows, RecordLimit limit, Function<String, MalformedBodyException> lost) {
		this.buffer = buffer;
		this.rows = rows;
		this.limit = limit;
		this.lost = lost;
	}

	/** Whether an object had the member that the path names. */
	boolean hasFound() {
		return this.found;
	}

	/**
	 * Moves to the first element of the next array.
	 * @return {@code false} at the end of the body
	 */
	boolean findArray() throws IOException {
		while (true) {
			int next = peek();
			if (this.depth == 0) {
				if (next != '{' && next != END) {
					throw this.lost.apply("expected another object or the end, found " + Excerpt.ofByte((byte) next));
				}
				if (next == END) {
					return false;
				}
				enter();
			}
			else if (next == '}') {
				consume();
				this.depth--;
				this.afterMember = true;
			}
			else {
				if (this.afterMember) {
					expect(next, ',');
					next = peek();
				}
				if (readMember(next)) {
					return true;
				}
			}
		}
	}

	/**
	 * Reads a name; whether its value is an array of rows, of which the bracket is read.
	 */
	private boolean readMember(int first) throws IOException {
		if (first != '"') {
			throw expected("a member's name in quotes", first);
		}
		boolean named = readName().equals(this.rows.path().get(this.depth - 1));
		expect(peek(), ':');
		int value = peek();
		boolean last = this.depth == this.rows.path().size();
		this.afterMember = true;
		if (named && !last && value == '{') {
			enter();
			return false;
		}
		this.found |= named && last;
		if (named && last && value == '[') {
			consume();
			return true;
		}
		if (named && value != 'n') {
			throw this.lost.apply("the member '" + this.rows.pathText() + "' is no array, and rows=" + this.rows.text()
					+ " needs one: found " + Excerpt.ofByte((byte) value));
		}
		skip();
		return false;
	}

	private void enter() throws IOException {
		consume();
		this.depth++;
		this.afterMember = false;
	}

	private String readName() throws IOException {
		this.scanner.begin();
		int scanned = 0;
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start() + scanned, this.buffer.end())) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			if (scanned > this.limit.bytes()) {
				throw this.lost.apply("a member's name is larger than " + this.limit.bytes()
						+ " bytes (pipeset.limits.max-record-bytes)");
			}
			fill();
		}
		byte[] name = Arrays.copyOfRange(this.buffer.bytes(), this.buffer.start(), end);
		this.buffer.consume(end);
		JsonCursor cursor = new JsonCursor();
		cursor.begin(name, 0, name.length);
		try {
			cursor.readValue(0);
		}
		catch (JsonFault fault) {
			throw this.lost.apply(fault.text());
		}
		return new String(name, cursor.offset(), cursor.length(), StandardCharsets.UTF_8);
	}

	/** Passes over a value, however large it is. */
	private void skip() throws IOException {
		this.scanner.begin();
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			this.buffer.consume(this.buffer.end());
			fill();
		}
		this.buffer.consume(end);
	}

	private void fill() throws IOException {
		if (!this.buffer.fill()) {
			throw this.lost.apply("the body ends inside an object");
		}
	}

	private void expect(int found, char expected) throws IOException {
		if (found != expected) {
			throw expected("'" + expected + "'", found);
		}
		consume();
	}

	private MalformedBodyException expected(String what, int found) {
		return this.lost.apply((found == END) ? "the body ends inside an object: expected " + what
				: "expected " + what + ", found " + Excerpt.ofByte((byte) found));
	}

	private void consume() {
		this.buffer.consume(this.buffer.start() + 1);
	}

	/** The next byte that is not white space. It is not consumed. */
	private int peek() throws IOException {
		while (true) {
			for (int i = this.buffer.start(); i < this.buffer.end(); i++) {
				if (!JsonCursor.isWhitespace(this.buffer.bytes()[i])) {
					this.buffer.consume(i);
					return this.buffer.bytes()[i] & 0xFF;
				}
			}
			this.buffer.consume(this.buffer.end());
			if (!this.buffer.fill()) {
				return END;
			}
		}
	}

}
