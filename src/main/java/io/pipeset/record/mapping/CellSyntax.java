package io.pipeset.record.mapping;

import org.jspecify.annotations.Nullable;

/**
 * How the cells of CSV and TSV are written, beyond what the format itself says.
 *
 * @param delimiter the byte of ASCII that separates the cells of CSV
 * @param backslash whether a backslash escapes the character after it
 * @param nullText the text of a cell without quotes that is null, as an empty cell is;
 * {@code null} if there is none
 * @param trim whether blanks around cells without quotes are dropped
 */
public record CellSyntax(char delimiter, boolean backslash, @Nullable String nullText, boolean trim) {

	/** Cells of RFC 4180. */
	public static final CellSyntax PLAIN = new CellSyntax(',', false, null, false);

}
