package io.pipeset.record;

import java.io.IOException;

/** Finds the lines of a body, each of which is a record whatever is on it. */
final class NdjsonReader implements RecordReader {

	private final BodyBuffer buffer;

	private final JsonRecordParser parser;

	private final RecordLimit limit;

	private long line;

	private boolean inOversizedLine;

	NdjsonReader(BodyBuffer buffer, JsonRecordParser parser, RecordLimit limit) {
		this.buffer = buffer;
		this.parser = parser;
		this.limit = limit;
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (this.line == 0) {
			this.buffer.skipByteOrderMark();
			this.line = 1;
		}
		if (this.inOversizedLine) {
			skipLine();
		}
		if (!skipBlanks()) {
			return false;
		}
		int scanned = 0;
		int newline;
		while ((newline = LineScanner.find(this.buffer.bytes(), this.buffer.start() + scanned,
				this.buffer.end())) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			// One byte of grace, as the next one may show that this was the \r of \r\n.
			if (scanned > this.limit.bytes() + 1L) {
				this.buffer.consume(this.buffer.end());
				this.inOversizedLine = true;
				this.limit.refuse(record, this.line);
				return true;
			}
			if (!this.buffer.fill()) {
				parse(record, this.buffer.end());
				this.buffer.consume(this.buffer.end());
				return true;
			}
		}
		parse(record, newline);
		this.buffer.consume(newline + 1);
		this.line++;
		return true;
	}

	private void parse(Record record, int lineEnd) {
		byte[] bytes = this.buffer.bytes();
		int from = this.buffer.start();
		int to = (bytes[lineEnd - 1] == '\r') ? lineEnd - 1 : lineEnd;
		if (to - from > this.limit.bytes()) {
			this.limit.refuse(record, this.line);
			return;
		}
		this.parser.parse(bytes, from, to);
		this.parser.deliver(record, this.line);
	}

	private void skipLine() throws IOException {
		int newline;
		while ((newline = LineScanner.find(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			this.buffer.consume(this.buffer.end());
			if (!this.buffer.fill()) {
				return;
			}
		}
		this.buffer.consume(newline + 1);
		this.line++;
		this.inOversizedLine = false;
	}

	/**
	 * Goes to the first byte of a line that is not blank; there is none at the end of the
	 * body.
	 */
	private boolean skipBlanks() throws IOException {
		while (true) {
			byte[] bytes = this.buffer.bytes();
			int end = this.buffer.end();
			for (int i = this.buffer.start(); i < end; i++) {
				byte b = bytes[i];
				if (b == '\n') {
					this.line++;
				}
				else if (b != ' ' && b != '\r' && b != '\t') {
					this.buffer.consume(i);
					return true;
				}
			}
			this.buffer.consume(end);
			if (!this.buffer.fill()) {
				return false;
			}
		}
	}

}
