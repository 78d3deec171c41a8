package io.pipeset.record.csv;

import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.CellSyntax.Escape;

/**
 * The syntax of rows.
 *
 * @param cells how cells are written
 * @param quotes whether cells may stand in quotes, as
 * <a href="https://www.rfc-editor.org/rfc/rfc4180">RFC 4180</a> has them
 */
public record CsvSyntax(CellSyntax cells, boolean quotes) {

	/** The byte of ASCII that separates cells. */
	char delimiter() {
		Character delimiter = this.cells.delimiter();
		return (delimiter != null) ? delimiter : (this.quotes) ? ',' : '\t';
	}

	/** Whether a backslash escapes the character after it, in every cell. */
	boolean escapesAll() {
		return this.cells.escape() == Escape.BACKSLASH;
	}

	/** Whether a backslash escapes quotes and itself within quotes. */
	boolean escapesQuotes() {
		return this.cells.escape() == Escape.QUOTES;
	}

	/** The same cells, separated by another byte. */
	CsvSyntax separatedBy(char delimiter) {
		return new CsvSyntax(this.cells.separatedBy(delimiter), this.quotes);
	}

}
