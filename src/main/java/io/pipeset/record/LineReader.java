package io.pipeset.record;

import java.io.IOException;

/** Finds the lines of a body, each of which is a record whatever is on it. */
final class LineReader implements RecordReader {

	private final BodyBuffer buffer;

	private final LineParser parser;

	private final RecordLimit limit;

	private final boolean numbered;

	private long line;

	private boolean inOversizedLine;

	/**
	 * Reads lines.
	 * @param numbered whether records are to have the numbers of their lines
	 */
	LineReader(BodyBuffer buffer, LineParser parser, RecordLimit limit, boolean numbered) {
		this.buffer = buffer;
		this.parser = parser;
		this.limit = limit;
		this.numbered = numbered;
	}

	@Override
	public boolean read(Record record) throws IOException {
		if (!findLine()) {
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
				this.limit.refuse(record, number());
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

	/**
	 * Goes to the first byte of the next line that is not blank.
	 * @return {@code false} where there is none
	 */
	boolean findLine() throws IOException {
		if (this.line == 0) {
			this.buffer.skipByteOrderMark();
			this.line = 1;
		}
		if (this.inOversizedLine) {
			skipLine();
		}
		return skipBlanks();
	}

	private void parse(Record record, int lineEnd) {
		byte[] bytes = this.buffer.bytes();
		int from = this.buffer.start();
		int to = (bytes[lineEnd - 1] == '\r') ? lineEnd - 1 : lineEnd;
		if (to - from > this.limit.bytes()) {
			this.limit.refuse(record, number());
			return;
		}
		this.parser.parse(record, number(), bytes, from, to);
	}

	private long number() {
		return (this.numbered) ? this.line : 0;
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
