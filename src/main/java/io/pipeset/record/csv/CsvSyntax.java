package io.pipeset.record.csv;

/**
 * The syntax of rows.
 *
 * @param delimiter the byte of ASCII that separates cells
 * @param quotes whether cells may stand in quotes
 */
public record CsvSyntax(char delimiter, boolean quotes) {

	/**
	 * Cells without quotes, separated by tabs, as
	 * <a href="https://www.iana.org/assignments/media-types/text/tab-separated-values">
	 * text/tab-separated-values</a> has them.
	 */
	public static final CsvSyntax TABS = new CsvSyntax('\t', false);

	/**
	 * Cells that may stand in quotes, as
	 * <a href="https://www.rfc-editor.org/rfc/rfc4180">RFC 4180</a> has them.
	 * @param delimiter the byte of ASCII that separates them
	 */
	public static CsvSyntax separatedBy(char delimiter) {
		return new CsvSyntax(delimiter, true);
	}

}
