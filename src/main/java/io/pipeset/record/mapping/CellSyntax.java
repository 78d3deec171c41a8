package io.pipeset.record.mapping;

import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * How the cells of CSV and TSV are written, beyond what the format itself says.
 *
 * @param delimiter the byte of ASCII that separates cells; by default that of the format
 * @param nulls the texts that stand for null; none if an empty cell without quotes does
 * @param trim whether blanks around cells without quotes, and around quotes, are dropped
 * @param comment the text with which rows begin that are passed over, if there is one
 */
public record CellSyntax(@Nullable Character delimiter, Escape escape, List<String> nulls, boolean trim,
		@Nullable String comment) {

	/** Cells of RFC 4180, or of TSV. */
	public static final CellSyntax PLAIN = new CellSyntax(null, Escape.NONE, List.of(), false, null);

	/** The text that stands for empty cells, also those in quotes. */
	public static final String QUOTES = "\"\"";

	/** Whether an empty cell without quotes is null. */
	public boolean isEmptyNull() {
		return this.nulls.isEmpty() || this.nulls.contains("") || isEmptyQuoteNull();
	}

	/** Whether an empty cell in quotes is null. */
	public boolean isEmptyQuoteNull() {
		return this.nulls.contains(QUOTES);
	}

	/** The same cells, separated by another byte. */
	public CellSyntax separatedBy(char other) {
		return new CellSyntax(other, this.escape, this.nulls, this.trim, this.comment);
	}

	/** What a backslash means. */
	public enum Escape {

		/** Itself. */
		NONE,

		/** An escape in every cell, as MySQL and COPY's text format write it. */
		BACKSLASH,

		/** An escape of quotes and backslashes within quotes, as Spark writes it. */
		QUOTES;

		private final String label = name().toLowerCase(Locale.ROOT);

		/** The word for it in settings and reports. */
		public String label() {
			return this.label;
		}

	}

}
