package io.pipeset.record.csv;

import io.pipeset.record.mapping.CellSyntax;

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
		return this.cells.delimiter();
	}

	/**
	 * Cells without quotes, separated by tabs, as
	 * <a href="https://www.iana.org/assignments/media-types/text/tab-separated-values">
	 * text/tab-separated-values</a> has them.
	 */
	public static CsvSyntax tabs(CellSyntax cells) {
		return new CsvSyntax(new CellSyntax('\t', cells.backslash(), cells.nullText(), cells.trim()), false);
	}

	/** The same cells, separated by another byte. */
	CsvSyntax separatedBy(char delimiter) {
		return new CsvSyntax(
				new CellSyntax(delimiter, this.cells.backslash(), this.cells.nullText(), this.cells.trim()),
				this.quotes);
	}

}
