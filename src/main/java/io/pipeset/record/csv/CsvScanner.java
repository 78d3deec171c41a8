package io.pipeset.record.csv;

import io.pipeset.record.body.LineScanner;

/**
 * Finds the end of a row by its quotes and line feeds alone, across any number of pieces.
 * {@link CsvCells} then decides whether the row is CSV.
 */
final class CsvScanner {

	private final CsvSyntax syntax;

	private boolean inQuotes;

	private boolean afterQuote;

	private byte previous;

	private long lines;

	CsvScanner(CsvSyntax syntax) {
		this.syntax = syntax;
	}

	/** Expects the first byte of a row next. */
	void begin() {
		this.inQuotes = false;
		this.afterQuote = false;
		this.previous = (byte) this.syntax.delimiter();
		this.lines = 0;
	}

	/** The line feeds inside the row. */
	long lines() {
		return this.lines;
	}

	/**
	 * Goes on with the row.
	 * @param to the byte after the piece
	 * @return the line feed that ends the row, or -1 if the row goes on beyond the piece
	 */
	int scan(byte[] bytes, int from, int to) {
		return (this.syntax.quotes()) ? scanQuotes(bytes, from, to) : LineScanner.findLineFeed(bytes, from, to);
	}

	private int scanQuotes(byte[] bytes, int from, int to) {
		int at = from;
		while (at < to) {
			if (this.afterQuote) {
				// Two quotes in quotes are one; one alone ends them.
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
				byte before = (found > from) ? bytes[found - 1] : this.previous;
				this.inQuotes |= before == this.syntax.delimiter();
			}
			else if (this.inQuotes) {
				this.lines++;
			}
			else {
				return found;
			}
		}
		this.previous = (to > from) ? bytes[to - 1] : this.previous;
		return -1;
	}

}
