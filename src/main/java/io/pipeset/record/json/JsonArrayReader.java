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
 * Finds the records of a body that is one array of them, or else objects one after
 * another. A record that is not JSON hides where the next one begins, unlike a line, and
 * so it ends the job.
 */
public final class JsonArrayReader implements RecordReader {

	private static final int END = -1;

	private static final String SEND_LINES = "one record a line is sent with -H 'Content-Type: application/x-ndjson'";

	private final BodyBuffer buffer;

	private final JsonParser parser;

	private final RecordLimit limit;

	private final JsonElementScanner scanner = new JsonElementScanner();

	private Place place = Place.BEFORE_ARRAY;

	/** Whether the records stand in no array. */
	private boolean bare;

	private @Nullable MalformedBodyException lost;

	/**
	 * Reads a body.
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each has to name its own
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
		if (this.place == Place.BEFORE_ARRAY) {
			openArray();
		}
		if (this.place == Place.IN_OVERSIZED_ELEMENT) {
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
			this.bare = true;
			this.place = Place.AFTER_ELEMENT;
			return;
		}
		if (found != '[') {
			throw lost("expected '[' and an array of records, or '{' and a record, found " + found(found));
		}
		take(Place.BEFORE_FIRST);
	}

	/**
	 * Names a byte that is not expected; the beginning of a record suggests that the body
	 * is lines.
	 */
	private static String found(int found) {
		return Excerpt.ofByte((byte) found) + ((found == '{' || found == '[') ? ": " + SEND_LINES : "");
	}

	private boolean findElement() throws IOException {
		return (this.bare) ? findBareElement() : findElementInArray();
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
		int found = (this.place == Place.AFTER_ARRAY) ? END : peekInArray();
		if (found == ']' && this.place != Place.AFTER_COMMA) {
			take(Place.AFTER_ARRAY);
		}
		else if (this.place == Place.AFTER_ELEMENT) {
			if (found != ',') {
				throw lost("expected ',' or ']' after a record, found " + Excerpt.ofByte((byte) found));
			}
			take(Place.AFTER_COMMA);
			peekInArray();
		}
		if (this.place != Place.AFTER_ARRAY) {
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
				this.place = Place.IN_OVERSIZED_ELEMENT;
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
		this.place = Place.AFTER_ELEMENT;
	}

	private void parse(int start, int end) throws MalformedBodyException {
		JsonFault fault = this.parser.parse(this.buffer.bytes(), start, end);
		if (fault != null && fault.breaksGrammar()) {
			this.buffer.consume(fault.offset());
			throw lost(fault.text());
		}
	}

	// A missing quote far ahead of the end is the more helpful message.
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
		this.place = Place.AFTER_ELEMENT;
	}

	private int peekInArray() throws IOException {
		int found = peek();
		if (found == END) {
			throw lost("the body ends inside the array of records: expected "
					+ ((this.place == Place.AFTER_ELEMENT) ? "',' or ']'" : "a record"));
		}
		return found;
	}

	/** The next byte that is not white space, left where it is. */
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

	private void take(Place next) {
		this.buffer.consume(this.buffer.start() + 1);
		this.place = next;
	}

	private MalformedBodyException lost(String message) {
		MalformedBodyException exception = new MalformedBodyException(this.buffer.offset(this.buffer.start()), message);
		this.lost = exception;
		return exception;
	}

	/** The place in the body that the next byte belongs to. */
	private enum Place {

		BEFORE_ARRAY, BEFORE_FIRST, AFTER_COMMA, AFTER_ELEMENT, IN_OVERSIZED_ELEMENT, AFTER_ARRAY

	}

}
