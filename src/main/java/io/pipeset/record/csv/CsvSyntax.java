package io.pipeset.record.csv;

/**
 * The syntax of rows.
 *
 * @param delimiter the ASCII character between cells
 * @param quotes whether cells may be in quotes
 */
public record CsvSyntax(char delimiter, boolean quotes) {

	/**
	 * Cells without quotes, separated by tabs, by
	 * <a href="https://www.iana.org/assignments/media-types/text/tab-separated-values">
	 * text/tab-separated-values</a>.
	 */
	public static final CsvSyntax TABS = new CsvSyntax('\t', false);

	/**
	 * Cells that may be in quotes, by
	 * <a href="https://www.rfc-editor.org/rfc/rfc4180">RFC 4180</a>.
	 * @param delimiter the ASCII character between cells
	 */
	public static CsvSyntax separatedBy(char delimiter) {
		return new CsvSyntax(delimiter, true);
	}

}
