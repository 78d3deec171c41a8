package io.pipeset.record.mapping;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The names of a table's columns, as a request says it.
 *
 * @param names the names, for a file without a header row; none if {@code absent}
 */
public record Header(Kind kind, List<String> names) {

	/** The first row, by default. */
	public static final Header FIRST_ROW = new Header(Kind.FIRST_ROW, List.of());

	/**
	 * Reads the setting.
	 * @return {@code null} if the text is none of names
	 */
	public static @Nullable Header parse(String text) {
		for (Kind kind : List.of(Kind.PRESENT, Kind.ABSENT)) {
			if (text.equals(kind.label)) {
				return new Header(kind, List.of());
			}
		}
		List<String> names = (text.isEmpty()) ? null : Names.parse(text);
		return (names != null) ? new Header(Kind.NAMED, names) : null;
	}

	/** Whether the file has no header row. */
	public boolean isAbsent() {
		return this.kind == Kind.ABSENT || this.kind == Kind.NAMED;
	}

	/** The value of the setting; {@code null} if it was not given. */
	public @Nullable Object text() {
		return switch (this.kind) {
			case FIRST_ROW -> null;
			case PRESENT, ABSENT -> this.kind.label;
			case NAMED -> this.names;
		};
	}

	/** Where the names are. */
	public enum Kind {

		/** The first row, because it was not said. */
		FIRST_ROW(""),

		/** The first row. */
		PRESENT("present"),

		/** Nowhere: columns have numbers only. */
		ABSENT("absent"),

		/** In the request. */
		NAMED("");

		private final String label;

		Kind(String label) {
			this.label = label;
		}

	}

}
