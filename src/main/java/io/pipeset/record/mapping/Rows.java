package io.pipeset.record.mapping;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the rows of a body of JSON are.
 *
 * @param entries whether the members of one object are
 * @param path the steps to an array whose elements are; empty for objects themselves
 */
public record Rows(boolean entries, List<String> path) {

	/** Each object is a row. */
	public static final Rows OBJECTS = new Rows(false, List.of());

	private static final String ENTRIES = "entries";

	private static final String ITEMS = "items:";

	/** Reads the setting; {@code null} if the text is none of its values. */
	public static @Nullable Rows parse(String text) {
		if (text.equals(ENTRIES)) {
			return new Rows(true, List.of());
		}
		List<String> path = (text.startsWith(ITEMS)) ? List.of(text.substring(ITEMS.length()).split("\\.", -1))
				: List.of();
		return (path.isEmpty() || path.contains("")) ? null : new Rows(false, path);
	}

	/** Whether the elements of arrays are rows. */
	public boolean areItems() {
		return !this.path.isEmpty();
	}

	/** The path with its dots. */
	public String pathText() {
		return String.join(".", this.path);
	}

	/** The value of the setting; {@code null} if it was not given. */
	public @Nullable String text() {
		return (this.entries) ? ENTRIES : (areItems()) ? ITEMS + pathText() : null;
	}

}
