package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/** The row that names the columns. It is read once. */
final class CsvHeader {

	static final int MOST_COLUMNS = 10_000;

	private static final int MOST_QUOTED = 5;

	private static final Pattern ARGUMENT = Pattern.compile("arg[1-9][0-9]{0,4}");

	private static final Pattern COLUMN = Pattern.compile("op|key|value|ttl|" + ARGUMENT);

	private final Map<String, Integer> places = new LinkedHashMap<>();

	private @Nullable String problem;

	/** Takes the names from a row, and notes down the first problem with them. */
	CsvHeader(CsvCells cells) {
		int count = Math.min(cells.count(), MOST_COLUMNS + 1);
		for (int i = 0; i < count && this.problem == null; i++) {
			String name = cells.text(i);
			if (name.isEmpty()) {
				this.problem = "column " + (i + 1) + " of the header has no name";
			}
			else if (this.places.put(name, i) != null) {
				this.problem = "the header has two columns '" + Excerpt.of(name) + "'";
			}
		}
		if (count > MOST_COLUMNS) {
			this.problem = "the header has more than " + MOST_COLUMNS + " columns";
		}
	}

	/**
	 * Compares the names with the columns that the operation takes.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(@Nullable Operation operation) {
		if (this.problem != null) {
			return this.problem;
		}
		if (!this.places.containsKey("key")) {
			return "the header has no column 'key'" + found();
		}
		if (operation == null && !namesOperations()) {
			return "the header has no column 'op', and the request names no operation by '?op='" + found();
		}
		if (isFor(Operation.HSET, operation)) {
			return (this.places.size() > 1) ? null
					: "HSET takes the column 'key' and a column for each field" + found();
		}
		return (hasValues(operation)) ? checkValues() : checkArguments(operation);
	}

	/** The meaning of the rows under a header without problems. */
	CsvColumns columns(@Nullable Operation operation) {
		int size = this.places.size();
		int key = place("key");
		if (isFor(Operation.HSET, operation)) {
			byte[][] fields = this.places.keySet()
				.stream()
				.map((name) -> name.getBytes(StandardCharsets.UTF_8))
				.toArray(byte[][]::new);
			return new CsvColumns.Fields(key, fields);
		}
		if (hasValues(operation)) {
			return new CsvColumns.Value(size, key, place("value"), place("ttl"));
		}
		return new CsvColumns.Arguments(size, key, place("op"), operation,
				arguments().values().stream().mapToInt(Integer::intValue).toArray());
	}

	private @Nullable String checkValues() {
		for (String name : this.places.keySet()) {
			if (!name.equals("key") && !name.equals("value") && !name.equals("ttl")) {
				return "SET takes the columns 'key', 'value' and 'ttl', not '" + Excerpt.of(name) + "'" + remedy(name);
			}
		}
		return (this.places.containsKey("value")) ? null : "the header has no column 'value'" + found();
	}

	private @Nullable String checkArguments(@Nullable Operation operation) {
		String allowed = (namesOperations())
				? "rows that name their operation take the columns 'op', 'key', 'arg1', 'arg2'…"
				: operation + " takes the columns 'key', 'arg1', 'arg2'…"
						+ ((operation == Operation.SET) ? ", or 'key', 'value' and 'ttl'" : "");
		for (String name : this.places.keySet()) {
			if (!name.equals("op") && !name.equals("key") && !ARGUMENT.matcher(name).matches()) {
				return allowed + ", not '" + Excerpt.of(name) + "'" + remedy(name);
			}
		}
		int next = 1;
		for (int number : arguments().keySet()) {
			if (number != next++) {
				return "the header has no column 'arg" + (next - 1) + "'" + found();
			}
		}
		return null;
	}

	private Map<Integer, Integer> arguments() {
		Map<Integer, Integer> arguments = new TreeMap<>();
		this.places.forEach((name, place) -> {
			if (ARGUMENT.matcher(name).matches()) {
				arguments.put(Integer.valueOf(name.substring("arg".length())), place);
			}
		});
		return arguments;
	}

	private boolean namesOperations() {
		return this.places.containsKey("op");
	}

	private boolean isFor(Operation wanted, @Nullable Operation operation) {
		return operation == wanted && !namesOperations();
	}

	private boolean hasValues(@Nullable Operation operation) {
		return isFor(Operation.SET, operation) && arguments().isEmpty();
	}

	private int place(String name) {
		return Objects.requireNonNullElse(this.places.get(name), CsvColumns.NONE);
	}

	private String found() {
		String names = this.places.keySet()
			.stream()
			.limit(MOST_QUOTED)
			.map(Excerpt::of)
			.collect(Collectors.joining(", "));
		return "; found: " + names + ((this.places.size() > MOST_QUOTED) ? "…" : "") + remedy();
	}

	/** Advice about the first of the names for which there is any. */
	private String remedy() {
		return this.places.keySet()
			.stream()
			.map(CsvHeader::remedy)
			.filter((remedy) -> !remedy.isEmpty())
			.findFirst()
			.orElse("");
	}

	/** Advice about a name that is not a column's, or an empty text. */
	private static String remedy(String name) {
		if (name.indexOf(';') >= 0 || name.indexOf('\t') >= 0) {
			return "; columns are separated by commas, not by " + ((name.indexOf(';') >= 0) ? "semicolons" : "tabs");
		}
		String meant = Excerpt.of(name).strip().toLowerCase(Locale.ROOT);
		if (meant.equals(name) || !COLUMN.matcher(meant).matches()) {
			return "";
		}
		return ((meant.length() < name.length()) ? "; spaces are part of a column's name: '"
				: "; columns are named in lower case: '") + meant + "'";
	}

}
