package io.pipeset.record.json;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

import io.pipeset.record.Notice;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Rows;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of a body that is one JSON array, or JSON objects one after another.
 * If a record is not valid JSON, the start of the next one is unknown, so the job ends.
 */
public final class JsonArrayReader implements RecordReader {

	private static final int END = -1;

	private static final String SEND_LINES = "one record a line is sent with -H 'Content-Type: application/x-ndjson'";

	private final BodyBuffer buffer;

	private final JsonParser parser;

	/** Whether a row can be posted again by itself. */
	private final boolean rowsAreWhole;

	private final RecordLimit limit;

	private final JsonElementScanner scanner = new JsonElementScanner();

	private Position position = Position.BEFORE_ARRAY;

	/** Whether the records are not in an array. */
	private boolean withoutArray;

	/** Whether the rows are the members of one object. */
	private final boolean entries;

	private final Rows rows;

	/** Finds the arrays of rows in objects; {@code null} if rows stand elsewhere. */
	private @Nullable JsonItems items;

	private @Nullable MalformedBodyException lost;

	/**
	 * Reads a body.
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 */
	public JsonArrayReader(InputStream body, @Nullable Operation defaultOperation, Mapping mapping, RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.parser = JsonParser.of(defaultOperation, mapping, limit);
		this.rowsAreWhole = mapping.rowsAreWhole();
		this.limit = limit;
		this.rows = mapping.rows();
		this.entries = this.rows.entries();
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		if (this.parser.hasNext()) {
			this.parser.deliver(record, 0);
			return true;
		}
		this.buffer.beginRecord();
		if (this.position == Position.BEFORE_ARRAY) {
			openArray();
		}
		if (this.position == Position.IN_OVERSIZED_ELEMENT) {
			skipElement();
		}
		while (findElement()) {
			if (readElement(record)) {
				return true;
			}
		}
		String problem = (this.items != null && !this.items.hasFound()) ? JsonObjectParser.missing(this.rows)
				: this.parser.problemAtEnd();
		if (problem != null) {
			throw lost(problem);
		}
		return false;
	}

	@Override
	public @Nullable Map<String, String> rowSettings() {
		return (this.rowsAreWhole) ? Map.of() : null;
	}

	@Override
	public List<Notice> notices() {
		return this.parser.notices();
	}

	@Override
	public long leftOut() {
		return this.parser.leftOut();
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	private void openArray() throws IOException {
		this.buffer.skipByteOrderMark();
		int found = peek();
		if (found == END) {
			throw lost("the body is empty: expected " + ((this.entries) ? "an object" : "an array of records"));
		}
		if (this.entries) {
			if (found != '{') {
				throw lost("expected '{' and an object, whose members are the rows by rows=entries, found "
						+ Excerpt.ofByte((byte) found));
			}
			consumeByte(Position.BEFORE_FIRST);
			return;
		}
		if (found == '{' && this.rows.areItems()) {
			this.items = new JsonItems(this.buffer, this.rows, this.limit, this::lost);
			this.position = Position.AFTER_ARRAY;
			return;
		}
		if (found == '{') {
			this.withoutArray = true;
			this.parser.expectSingle();
			this.position = Position.AFTER_ELEMENT;
			return;
		}
		if (found != '[') {
			throw lost("expected '[' and an array of records, or '{' and a record, found " + found(found));
		}
		consumeByte(Position.BEFORE_FIRST);
	}

	/**
	 * Names an unexpected byte. If it begins a record, the body is probably NDJSON, and
	 * the message says so.
	 */
	private static String found(int found) {
		return Excerpt.ofByte((byte) found) + ((found == '{' || found == '[') ? ": " + SEND_LINES : "");
	}

	private boolean findElement() throws IOException {
		return (this.withoutArray) ? findBareElement() : findElementInArray();
	}

	private boolean findBareElement() throws IOException {
		int found = peek();
		if (found != END && found != '{' && found != '[') {
			throw lost("expected another record or the end, found " + Excerpt.ofByte((byte) found)
					+ ((found == ',') ? ": records with commas between them stand in an array" : ""));
		}
		return found != END;
	}

	private boolean findElementInArray() throws IOException {
		if (this.items != null && this.position == Position.AFTER_ARRAY) {
			return findNextArray(this.items);
		}
		int found = (this.position == Position.AFTER_ARRAY) ? END : peekInArray();
		char close = (this.entries) ? '}' : ']';
		if (found == close && this.position != Position.AFTER_COMMA) {
			consumeByte(Position.AFTER_ARRAY);
			if (this.items != null) {
				return findNextArray(this.items);
			}
		}
		else if (this.position == Position.AFTER_ELEMENT) {
			if (found != ',') {
				throw lost("expected ',' or '" + close + "' after a record, found " + Excerpt.ofByte((byte) found));
			}
			consumeByte(Position.AFTER_COMMA);
			peekInArray();
		}
		if (this.position != Position.AFTER_ARRAY) {
			return true;
		}
		found = peek();
		if (found != END) {
			throw lost("expected nothing after the " + ((this.entries) ? "object" : "array of records") + ", found "
					+ found(found));
		}
		return false;
	}

	/** Moves to the first element of an array that has one. */
	private boolean findNextArray(JsonItems items) throws IOException {
		while (items.findArray()) {
			if (peekInArray() != ']') {
				this.position = Position.BEFORE_FIRST;
				return true;
			}
			consumeByte(Position.AFTER_ARRAY);
		}
		return false;
	}

	/**
	 * Reads the value that is next.
	 * @return {@code false} if it makes no record
	 */
	private boolean readElement(Record record) throws IOException {
		boolean makesRecord = true;
		if (this.entries && this.buffer.bytes()[this.buffer.start()] != '"') {
			throw lost("expected a member's name in quotes, found "
					+ Excerpt.ofByte(this.buffer.bytes()[this.buffer.start()]));
		}
		int length = findEnd(record, (this.entries) ? findValue() : 0);
		if (length < 0) {
			return true;
		}
		int start = this.buffer.start();
		int end = start + length;
		record.copyRaw(this.buffer.bytes(), start, end);
		if (end - start > this.limit.bytes()) {
			this.limit.refuse(record, 0);
			this.parser.skip();
		}
		else {
			parse(start, end);
			makesRecord = this.parser.makesRecord();
			if (makesRecord) {
				this.parser.deliver(record, 0);
			}
		}
		this.buffer.consume(end);
		this.position = Position.AFTER_ELEMENT;
		return makesRecord;
	}

	/**
	 * Finds the end of the value that is next.
	 * @param from the bytes before the value
	 * @return the bytes up to its end, or -1 if it is too large, and refused
	 */
	private int findEnd(Record record, int from) throws IOException {
		this.scanner.begin();
		int scanned = from;
		int end;
		while ((end = scan(scanned)) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			if (scanned > this.limit.bytes()) {
				record.copyRaw(this.buffer.bytes(), this.buffer.start(), this.buffer.end());
				this.buffer.consume(this.buffer.end());
				this.position = Position.IN_OVERSIZED_ELEMENT;
				this.limit.refuse(record, 0);
				this.parser.skip();
				return -1;
			}
			fillOrEnd();
		}
		return end - this.buffer.start();
	}

	/**
	 * Finds the value of the member whose name is next.
	 * @return the bytes before the value
	 */
	private int findValue() throws IOException {
		this.scanner.begin();
		int scanned = 0;
		int end;
		while ((end = scan(scanned)) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			requireShort(scanned);
			fillOrEnd();
		}
		int at = end - this.buffer.start();
		boolean colon = false;
		while (true) {
			requireShort(at);
			if (this.buffer.start() + at == this.buffer.end()) {
				fillOrEnd();
				continue;
			}
			byte next = this.buffer.bytes()[this.buffer.start() + at];
			if (next == ':' && !colon) {
				colon = true;
			}
			else if (!JsonCursor.isWhitespace(next)) {
				if (!colon) {
					throw lost("expected ':' after a member's name, found " + Excerpt.ofByte(next));
				}
				return at;
			}
			at++;
		}
	}

	private void requireShort(int nameBytes) throws MalformedBodyException {
		if (nameBytes > this.limit.bytes()) {
			throw lost("a member's name is larger than " + this.limit.bytes()
					+ " bytes (pipeset.limits.max-record-bytes)");
		}
	}

	private int scan(int scanned) {
		return this.scanner.scan(this.buffer.bytes(), this.buffer.start() + scanned, this.buffer.end());
	}

	private void fillOrEnd() throws IOException {
		if (!this.buffer.fill()) {
			throw truncated();
		}
	}

	private @Nullable JsonFault read(int start, int end) {
		byte[] bytes = this.buffer.bytes();
		return (this.entries) ? this.parser.parseEntry(bytes, start, end) : (this.items != null)
				? this.parser.parseItem(bytes, start, end) : this.parser.parse(bytes, start, end);
	}

	private void parse(int start, int end) throws MalformedBodyException {
		JsonFault fault = read(start, end);
		if (fault != null && fault.breaksGrammar()) {
			this.buffer.consume(fault.offset());
			throw lost(fault.text());
		}
	}

	// An earlier mistake, such as a missing quote, helps more than the body's end.
	private MalformedBodyException truncated() throws MalformedBodyException {
		int end = this.buffer.end();
		JsonFault fault = read(this.buffer.start(), end);
		boolean earlier = fault != null && fault.breaksGrammar() && fault.offset() < end;
		this.buffer.consume((fault != null && earlier) ? fault.offset() : end);
		return lost((fault != null && earlier) ? fault.text() : "the body ends inside a record");
	}

	private void skipElement() throws IOException {
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			this.buffer.consume(this.buffer.end());
			if (!this.buffer.fill()) {
				throw lost("the body ends inside a record");
			}
		}
		this.buffer.consume(end);
		this.position = Position.AFTER_ELEMENT;
	}

	private int peekInArray() throws IOException {
		int found = peek();
		if (found == END) {
			throw lost("the body ends inside the array of records: expected "
					+ ((this.position == Position.AFTER_ELEMENT) ? "',' or ']'" : "a record"));
		}
		return found;
	}

	/** The next byte that is not white space. It is not consumed. */
	private int peek() throws IOException {
		while (true) {
			byte[] bytes = this.buffer.bytes();
			int end = this.buffer.end();
			for (int i = this.buffer.start(); i < end; i++) {
				if (!JsonCursor.isWhitespace(bytes[i])) {
					this.buffer.consume(i);
					return bytes[i] & 0xFF;
				}
			}
			this.buffer.consume(end);
			if (!this.buffer.fill()) {
				return END;
			}
		}
	}

	private void consumeByte(Position next) {
		this.buffer.consume(this.buffer.start() + 1);
		this.position = next;
	}

	private MalformedBodyException lost(String message) {
		MalformedBodyException exception = new MalformedBodyException(this.buffer.offset(this.buffer.start()), message);
		this.lost = exception;
		return exception;
	}

	/** The part of the body that the next byte belongs to. */
	private enum Position {

		BEFORE_ARRAY, BEFORE_FIRST, AFTER_COMMA, AFTER_ELEMENT, IN_OVERSIZED_ELEMENT, AFTER_ARRAY

	}

}
