package io.pipeset.record.json;

import java.io.IOException;
import java.io.InputStream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Mapping;
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

	private final RecordLimit limit;

	private final JsonElementScanner scanner = new JsonElementScanner();

	private Position position = Position.BEFORE_ARRAY;

	/** Whether the records are not in an array. */
	private boolean withoutArray;

	private @Nullable MalformedBodyException lost;

	/**
	 * Reads a body.
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 */
	public JsonArrayReader(InputStream body, @Nullable Operation defaultOperation, Mapping mapping, RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.parser = JsonParser.of(defaultOperation, mapping, limit);
		this.limit = limit;
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		this.buffer.beginRecord();
		if (this.position == Position.BEFORE_ARRAY) {
			openArray();
		}
		if (this.position == Position.IN_OVERSIZED_ELEMENT) {
			skipElement();
		}
		if (!findElement()) {
			return false;
		}
		readElement(record);
		return true;
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	private void openArray() throws IOException {
		this.buffer.skipByteOrderMark();
		int found = peek();
		if (found == END) {
			throw lost("the body is empty: expected an array of records");
		}
		if (found == '{') {
			this.withoutArray = true;
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
		int found = (this.position == Position.AFTER_ARRAY) ? END : peekInArray();
		if (found == ']' && this.position != Position.AFTER_COMMA) {
			consumeByte(Position.AFTER_ARRAY);
		}
		else if (this.position == Position.AFTER_ELEMENT) {
			if (found != ',') {
				throw lost("expected ',' or ']' after a record, found " + Excerpt.ofByte((byte) found));
			}
			consumeByte(Position.AFTER_COMMA);
			peekInArray();
		}
		if (this.position != Position.AFTER_ARRAY) {
			return true;
		}
		found = peek();
		if (found != END) {
			throw lost("expected nothing after the array of records, found " + found(found));
		}
		return false;
	}

	private void readElement(Record record) throws IOException {
		this.scanner.begin();
		int scanned = 0;
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start() + scanned, this.buffer.end())) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			if (scanned > this.limit.bytes()) {
				record.copyRaw(this.buffer.bytes(), this.buffer.start(), this.buffer.end());
				this.buffer.consume(this.buffer.end());
				this.position = Position.IN_OVERSIZED_ELEMENT;
				this.limit.refuse(record, 0);
				return;
			}
			if (!this.buffer.fill()) {
				throw truncated();
			}
		}
		int start = this.buffer.start();
		record.copyRaw(this.buffer.bytes(), start, end);
		if (end - start > this.limit.bytes()) {
			this.limit.refuse(record, 0);
		}
		else {
			parse(start, end);
			this.parser.deliver(record, 0);
		}
		this.buffer.consume(end);
		this.position = Position.AFTER_ELEMENT;
	}

	private void parse(int start, int end) throws MalformedBodyException {
		JsonFault fault = this.parser.parse(this.buffer.bytes(), start, end);
		if (fault != null && fault.breaksGrammar()) {
			this.buffer.consume(fault.offset());
			throw lost(fault.text());
		}
	}

	// An earlier mistake, such as a missing quote, is more helpful than the end of the
	// body.
	private MalformedBodyException truncated() throws MalformedBodyException {
		int end = this.buffer.end();
		JsonFault fault = this.parser.parse(this.buffer.bytes(), this.buffer.start(), end);
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
