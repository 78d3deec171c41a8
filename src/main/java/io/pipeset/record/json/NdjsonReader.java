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
import io.pipeset.record.body.LineParser;
import io.pipeset.record.body.LineReader;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.mapping.Mapping;
import org.jspecify.annotations.Nullable;

/**
 * Reads one JSON record per line. It refuses a body that begins like a JSON array of
 * records, because hardly any of its lines would be a record.
 */
public final class NdjsonReader implements RecordReader {

	private static final String SEND_ARRAY = "an array of records is sent with -H 'Content-Type: application/json'";

	private static final String PRETTY = "this is pretty-printed JSON; send one object a line (jq -c): ";

	private final BodyBuffer buffer;

	private final RecordLimit limit;

	private final LineReader lines;

	private final JsonParser parser;

	/** Whether a row can be posted again by itself. */
	private final boolean rowsAreWhole;

	private boolean begun;

	/** The line that was read last. */
	private long line;

	private @Nullable MalformedBodyException lost;

	/**
	 * Reads a body.
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 */
	public NdjsonReader(InputStream body, @Nullable Operation defaultOperation, Mapping mapping, RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.limit = limit;
		this.parser = JsonParser.of(defaultOperation, mapping, limit);
		this.rowsAreWhole = mapping.rowsAreWhole();
		this.lines = new LineReader(this.buffer, new Lines(), limit, true);
	}

	private boolean parseLine(Record record, long line, byte[] bytes, int from, int to) {
		JsonFault fault = this.parser.parse(bytes, from, to);
		if (fault != null && record.index() < 0 && fault.offset() == to && isBeginning(bytes, from, to)) {
			this.parser.fault(JsonFault.grammar(to, PRETTY + fault.text()));
		}
		this.line = line;
		boolean makesRecord = this.parser.makesRecord();
		if (makesRecord) {
			this.parser.deliver(record, line);
		}
		return makesRecord;
	}

	/** Whether a line is the beginning of an object that continues in the next line. */
	private static boolean isBeginning(byte[] bytes, int from, int to) {
		int last = to - 1;
		while (JsonCursor.isWhitespace(bytes[last])) {
			last--;
		}
		JsonElementScanner scanner = new JsonElementScanner();
		return bytes[from] == '{' && "{[,:".indexOf(bytes[last]) >= 0 && scanner.scan(bytes, from, to) < 0
				&& !scanner.isInString();
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		if (this.parser.hasNext()) {
			this.parser.deliver(record, this.line);
			return true;
		}
		if (!this.begun) {
			if (this.lines.findLine() && beginsArray()) {
				this.lost = new MalformedBodyException(this.buffer.offset(this.buffer.start()),
						"the body is an array, and not one record a line: " + SEND_ARRAY);
				throw this.lost;
			}
			this.begun = true;
		}
		boolean found = this.lines.read(record);
		String problem = (found) ? null : this.parser.problemAtEnd();
		if (problem != null) {
			this.lost = new MalformedBodyException(this.buffer.offset(this.buffer.start()), problem);
			throw this.lost;
		}
		return found;
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

	/**
	 * Whether the body begins with a bracket that is not followed by an operation's name.
	 */
	private boolean beginsArray() throws IOException {
		if (this.buffer.bytes()[this.buffer.start()] != '[') {
			return false;
		}
		int seen = 1;
		do {
			for (; this.buffer.start() + seen < this.buffer.end(); seen++) {
				byte next = this.buffer.bytes()[this.buffer.start() + seen];
				if (next != ' ' && next != '\t' && next != '\r') {
					return next == '\n' || next == '{' || next == '[';
				}
			}
		}
		while (seen <= this.limit.bytes() && this.buffer.fill());
		return false;
	}

	/** Parses lines, and counts those that are too large. */
	private final class Lines implements LineParser {

		@Override
		public boolean parse(Record record, long line, byte[] bytes, int from, int to) {
			return parseLine(record, line, bytes, from, to);
		}

		@Override
		public void skip(long line) {
			NdjsonReader.this.line = line;
			NdjsonReader.this.parser.skip();
		}

	}

}
