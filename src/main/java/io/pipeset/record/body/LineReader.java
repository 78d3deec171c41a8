package io.pipeset.record.body;

import java.io.IOException;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * Splits a body into lines. Each line is a record, unless the parser decides otherwise.
 */
public final class LineReader implements RecordReader {

	private final BodyBuffer buffer;

	private final LineParser parser;

	private final RecordLimit limit;

	private final boolean numbered;

	private long line;

	private boolean inOversizedLine;

	private boolean afterOversizedLine;

	public LineReader(BodyBuffer buffer, LineParser parser, RecordLimit limit, boolean numbered) {
		this.buffer = buffer;
		this.parser = parser;
		this.limit = limit;
		this.numbered = numbered;
	}

	@Override
	public boolean read(Record record) throws IOException {
		this.buffer.beginRecord();
		while (findLine()) {
			if (readLine(record)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Reads the line found by {@link #findLine()}.
	 * @param record the record to fill; its previous content is cleared
	 * @return {@code false} if the line is not a record
	 * @throws IOException if the body cannot be read, or the start of the next record
	 * cannot be found
	 */
	public boolean readLine(Record record) throws IOException {
		int scanned = 0;
		int newline;
		while ((newline = LineScanner.findLineFeed(this.buffer.bytes(), this.buffer.start() + scanned,
				this.buffer.end())) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			// Allow one more byte, because it may be the \r of \r\n.
			if (scanned > this.limit.bytes() + 1L) {
				record.copyRaw(this.buffer.bytes(), this.buffer.start(), this.buffer.end());
				this.inOversizedLine = true;
				this.limit.refuse(record, number());
				this.parser.skip(number());
				skipPart(this.buffer.end());
				return true;
			}
			if (!this.buffer.fill()) {
				boolean last = parse(record, this.buffer.end());
				this.buffer.consume(this.buffer.end());
				return last;
			}
		}
		boolean found = parse(record, newline);
		this.buffer.consume(newline + 1);
		this.line++;
		return found;
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	/**
	 * Moves to the first byte of the next line that is not blank.
	 * @return {@code false} if there is none
	 * @throws IOException if the body cannot be read
	 */
	public boolean findLine() throws IOException {
		if (this.line == 0) {
			this.buffer.skipByteOrderMark();
			this.line = 1;
		}
		if (this.inOversizedLine) {
			skipLine();
		}
		if (this.afterOversizedLine) {
			this.afterOversizedLine = false;
			this.parser.endSkipped();
		}
		return skipBlanks();
	}

	private boolean parse(Record record, int lineEnd) throws MalformedBodyException {
		byte[] bytes = this.buffer.bytes();
		int from = this.buffer.start();
		int to = (bytes[lineEnd - 1] == '\r') ? lineEnd - 1 : lineEnd;
		record.copyRaw(bytes, from, to);
		if (to - from > this.limit.bytes()) {
			this.limit.refuse(record, number());
			this.parser.skip(number());
			this.parser.skipPart(bytes, from, to);
			this.afterOversizedLine = true;
			return true;
		}
		return this.parser.parse(record, number(), bytes, from, to);
	}

	private long number() {
		return (this.numbered) ? this.line : 0;
	}

	private void skipLine() throws IOException {
		int newline;
		while ((newline = LineScanner.findLineFeed(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			skipPart(this.buffer.end());
			if (!this.buffer.fill()) {
				break;
			}
		}
		if (newline >= 0) {
			skipPart(newline);
			this.buffer.consume(newline + 1);
			this.line++;
		}
		this.inOversizedLine = false;
		this.afterOversizedLine = true;
	}

	private void skipPart(int to) {
		this.parser.skipPart(this.buffer.bytes(), this.buffer.start(), to);
		this.buffer.consume(to);
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
