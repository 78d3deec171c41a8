package io.pipeset.record.json;

import java.io.IOException;
import java.io.InputStream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.LineReader;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines of JSON. A body that begins as an array of records does is refused, as
 * hardly a line of it would be a record.
 */
public final class NdjsonReader implements RecordReader {

	private static final String SEND_ARRAY = "an array of records is sent with -H 'Content-Type: application/json'";

	private final BodyBuffer buffer;

	private final RecordLimit limit;

	private final LineReader lines;

	private boolean begun;

	private @Nullable MalformedBodyException lost;

	/**
	 * Reads a body.
	 * @param body its bytes
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each has to name its own
	 * @param limit the largest record
	 */
	public NdjsonReader(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.limit = limit;
		JsonRecordParser parser = new JsonRecordParser(defaultOperation, limit);
		this.lines = new LineReader(this.buffer, (record, line, bytes, from, to) -> {
			parser.parse(bytes, from, to);
			parser.deliver(record, line);
		}, limit, true);
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		if (!this.begun) {
			if (this.lines.findLine() && beginsArray()) {
				this.lost = new MalformedBodyException(this.buffer.offset(this.buffer.start()),
						"the body is an array, and not one record a line: " + SEND_ARRAY);
				throw this.lost;
			}
			this.begun = true;
		}
		return this.lines.read(record);
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	/** Whether the body begins with a bracket that no operation's name can follow. */
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

}
