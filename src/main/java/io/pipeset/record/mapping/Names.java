package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/** Reads and writes lists of column or member names in settings. */
public final class Names {

	private Names() {
	}

	/**
	 * Reads names separated by commas. As in CSV, a name with a comma is in quotes, and a
	 * quote in it is doubled.
	 * @return at least one name; names may be empty; {@code null} if a quote is misplaced
	 */
	public static @Nullable List<String> parse(String text) {
		List<String> names = new ArrayList<>();
		int at = 0;
		while (true) {
			boolean quoted = at < text.length() && text.charAt(at) == '"';
			int end = (quoted) ? closingQuote(text, at + 1) : text.indexOf(',', at);
			if (quoted && end < 0) {
				return null;
			}
			names.add((quoted) ? text.substring(at + 1, end).replace("\"\"", "\"")
					: text.substring(at, (end < 0) ? text.length() : end));
			end = (quoted) ? end + 1 : end;
			if (end < 0 || end == text.length()) {
				return List.copyOf(names);
			}
			if (text.charAt(end) != ',') {
				return null;
			}
			at = end + 1;
		}
	}

	/** Writes names in the form that {@link #parse} reads. */
	public static String format(List<String> names) {
		return names.stream().map((name) -> '"' + name.replace("\"", "\"\"") + '"').collect(Collectors.joining(","));
	}

	private static int closingQuote(String text, int from) {
		int at = from;
		while (true) {
			int quote = text.indexOf('"', at);
			if (quote < 0 || quote + 1 == text.length() || text.charAt(quote + 1) != '"') {
				return quote;
			}
			at = quote + 2;
		}
	}

}
