package io.pipeset.record;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * Reads lines of JSON, unless the body begins as an array of records does. Of that, over
 * its lines, no line but perhaps the last would be a record.
 */
final class NdjsonReader implements RecordReader {

	private final BodyBuffer buffer;

	private final RecordLimit limit;

	private final LineReader lines;

	private boolean begun;

	private @Nullable MalformedBodyException lost;

	NdjsonReader(BodyBuffer buffer, LineParser parser, RecordLimit limit) {
		this.buffer = buffer;
		this.limit = limit;
		this.lines = new LineReader(buffer, parser, limit, true);
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		if (!this.begun) {
			if (this.lines.findLine() && beginsArray()) {
				this.lost = new MalformedBodyException(this.buffer.offset(this.buffer.start()),
						"the body is an array, and not one record a line: " + Remedies.SEND_ARRAY);
				throw this.lost;
			}
			this.begun = true;
		}
		return this.lines.read(record);
	}

	/** Whether a bracket is followed by what is never the name of an operation. */
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
