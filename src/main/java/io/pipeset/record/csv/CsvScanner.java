package io.pipeset.record.csv;

import io.pipeset.record.body.LineScanner;

/**
 * Finds the end of a row by quotes and line feeds only, across any number of buffer
 * fills. {@link CsvCells} then decides whether the row is valid CSV.
 */
final class CsvScanner {

	private final CsvSyntax syntax;

	private boolean inQuotes;

	private boolean afterQuote;

	private boolean afterBackslash;

	private byte previous;

	private long lines;

	CsvScanner(CsvSyntax syntax) {
		this.syntax = syntax;
	}

	/** Begins a row. The next scan starts at its first byte. */
	void begin() {
		this.inQuotes = false;
		this.afterQuote = false;
		this.afterBackslash = false;
		this.previous = (byte) this.syntax.delimiter();
		this.lines = 0;
	}

	/** The number of line feeds inside the row. */
	long lines() {
		return this.lines;
	}

	/**
	 * Scans more bytes of the row.
	 * @param to the index after the last byte
	 * @return the index of the line feed that ends the row, or -1 if the row continues
	 */
	int scan(byte[] bytes, int from, int to) {
		if (this.syntax.escapesAll() || this.syntax.escapesQuotes()) {
			return scanEscapes(bytes, from, to);
		}
		return (this.syntax.quotes()) ? scanQuotes(bytes, from, to) : LineScanner.findLineFeed(bytes, from, to);
	}

	private int scanQuotes(byte[] bytes, int from, int to) {
		int at = from;
		while (at < to) {
			if (this.afterQuote) {
				// Inside quotes, a doubled quote is one quote; a single one ends them.
				this.afterQuote = false;
				this.inQuotes = bytes[at] == '"';
				at += (this.inQuotes) ? 1 : 0;
				continue;
			}
			int found = LineScanner.findLineFeedOrQuote(bytes, at, to);
			if (found < 0) {
				break;
			}
			at = found + 1;
			if (bytes[found] == '"') {
				this.afterQuote = this.inQuotes;
				this.inQuotes |= isCellStart(bytes, from, found);
			}
			else if (this.inQuotes) {
				this.lines++;
			}
			else {
				return found;
			}
		}
		if (to > from && !isCellStart(bytes, from, to)) {
			this.previous = bytes[to - 1];
		}
		else if (to > from) {
			this.previous = (byte) this.syntax.delimiter();
		}
		return -1;
	}

	/** Whether a cell begins with the byte that is next. */
	private boolean isCellStart() {
		return this.previous == this.syntax.delimiter();
	}

	/**
	 * Whether a cell begins at an index, where blanks before its quote may be dropped.
	 */
	private boolean isCellStart(byte[] bytes, int from, int at) {
		int before = at - 1;
		while (this.syntax.cells().trim() && before >= from && isBlank(bytes[before])) {
			before--;
		}
		return ((before >= from) ? bytes[before] : this.previous) == this.syntax.delimiter();
	}

	private boolean isBlank(byte b) {
		return (b == ' ' || b == '\t') && b != this.syntax.delimiter();
	}

	/** A backslash takes its meaning from the byte after it, which may be a line feed. */
	private int scanEscapes(byte[] bytes, int from, int to) {
		boolean everywhere = this.syntax.escapesAll();
		for (int at = from; at < to; at++) {
			byte b = bytes[at];
			boolean escaped = this.afterBackslash;
			if (this.afterQuote && b == '"' && everywhere) {
				this.afterQuote = false;
				this.inQuotes = true;
			}
			else if (this.afterBackslash) {
				this.afterBackslash = false;
				this.lines += (b == '\n') ? 1 : 0;
			}
			else if (b == '\\' && (everywhere || this.inQuotes)) {
				this.afterQuote = false;
				this.afterBackslash = true;
			}
			else if (b == '"' && this.syntax.quotes()) {
				this.afterQuote = this.inQuotes;
				this.inQuotes = !this.inQuotes && isCellStart();
			}
			else if (b == '\n' && !this.inQuotes) {
				return at;
			}
			else {
				this.afterQuote = false;
				this.lines += (b == '\n') ? 1 : 0;
			}
			// An escaped delimiter is no delimiter, so a quote after it opens no cell.
			boolean dropped = this.syntax.cells().trim() && isBlank(b) && isCellStart();
			this.previous = (escaped) ? (byte) '\\' : (dropped) ? this.previous : b;
		}
		return -1;
	}

}
