package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/** The row that names the columns. It is read once. */
final class CsvHeader {

	static final int MOST_COLUMNS = 10_000;

	private static final int MOST_QUOTED = 5;

	/** The characters after which no further column is listed. */
	private static final int MOST_LISTED = 1_000;

	private static final Pattern ARGUMENT = Pattern.compile("arg[1-9][0-9]{0,4}");

	private static final Pattern COLUMN = Pattern.compile("op|key|value|ttl|expireAt|" + ARGUMENT);

	private static final Set<String> VALUE_COLUMNS = Set.of("key", "value", "ttl", "expireAt");

	private final List<String> names;

	private final Map<String, Integer> places = new LinkedHashMap<>();

	/** The first name that two columns have. */
	private final Set<String> repeated = new LinkedHashSet<>();

	private final int count;

	private final CsvSyntax syntax;

	/**
	 * Takes the names.
	 * @param names those of the columns, {@value #MOST_COLUMNS} at most
	 */
	CsvHeader(List<String> names, int count, CsvSyntax syntax) {
		this.names = names;
		this.count = count;
		this.syntax = syntax;
		for (int i = 0; i < names.size(); i++) {
			if (this.places.putIfAbsent(names.get(i), i) != null) {
				this.repeated.add(names.get(i));
			}
		}
	}

	/** The names in a row. */
	static CsvHeader of(CsvCells cells, CsvSyntax syntax) {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < Math.min(cells.count(), MOST_COLUMNS); i++) {
			names.add(cells.text(i));
		}
		return new CsvHeader(names, cells.count(), syntax);
	}

	/** The names of all columns, of which some may be empty. */
	List<String> names() {
		return this.names;
	}

	/**
	 * Looks for the names that templates have.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(Templates templates) {
		if (this.count > MOST_COLUMNS) {
			return tooMany();
		}
		for (String name : templates.names()) {
			boolean known = name.equals(Template.WHOLE) || this.places.containsKey(name);
			if (!known) {
				return "the header has no column '" + Excerpt.of(name) + "', which '" + templates.settingOf(name)
						+ "' names; it has " + listed() + separators();
			}
			if (this.repeated.contains(name)) {
				return "the header has two columns '" + Excerpt.of(name) + "', and '" + templates.settingOf(name)
						+ "' names one of them";
			}
		}
		String problem = (templates.takesAll() || templates.names().contains(Template.WHOLE)) ? namingProblem() : null;
		return (problem != null)
				? problem + ", and " + ((templates.takesAll()) ? "without 'fields' each column is a field"
						: "'" + templates.settingOf(Template.WHOLE) + "' takes all columns")
				: null;
	}

	private static String tooMany() {
		return "the header has more than " + MOST_COLUMNS + " columns";
	}

	/** The reason why not every column can be named. */
	private @Nullable String namingProblem() {
		int unnamed = this.names.indexOf("");
		if (unnamed >= 0) {
			return "column " + (unnamed + 1) + " of the header has no name";
		}
		return (this.repeated.isEmpty()) ? null
				: "the header has two columns '" + Excerpt.of(this.repeated.iterator().next()) + "'";
	}

	/** The columns that there are, or the first of them if they are many. */
	private String listed() {
		StringBuilder list = new StringBuilder();
		int listed = 0;
		while (listed < this.names.size() && list.length() < MOST_LISTED) {
			list.append((listed == 0) ? "" : ", ").append(Excerpt.of(this.names.get(listed)));
			listed++;
		}
		return list + ((listed < this.names.size()) ? "… (" + this.names.size() + " columns)" : "");
	}

	/**
	 * Compares the names with the columns that the operation takes.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(@Nullable Operation operation) {
		String problem = (this.count > MOST_COLUMNS) ? tooMany() : namingProblem();
		if (problem != null) {
			return problem;
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
			return new CsvColumns.Value(size, key, place("value"), place("ttl"), place("expireAt"));
		}
		return new CsvColumns.Arguments(size, key, place("op"), operation,
				arguments().values().stream().mapToInt(Integer::intValue).toArray());
	}

	private @Nullable String checkValues() {
		for (String name : this.places.keySet()) {
			if (!VALUE_COLUMNS.contains(name)) {
				return "SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not '" + Excerpt.of(name) + "'"
						+ remedy(name);
			}
		}
		return (this.places.containsKey("value")) ? null : "the header has no column 'value'" + found();
	}

	private @Nullable String checkArguments(@Nullable Operation operation) {
		String allowed = (namesOperations())
				? "rows that name their operation take the columns 'op', 'key', 'arg1', 'arg2'…"
				: operation + " takes the columns 'key', 'arg1', 'arg2'…"
						+ ((operation == Operation.SET) ? ", or 'key', 'value' and 'ttl' or 'expireAt'" : "");
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
			.map(this::remedy)
			.filter((remedy) -> !remedy.isEmpty())
			.findFirst()
			.orElse("");
	}

	/** Advice about a name that is not a column's, or an empty text. */
	private String remedy(String name) {
		String separators = separators(name);
		if (!separators.isEmpty()) {
			return separators;
		}
		String meant = Excerpt.of(name).strip().toLowerCase(Locale.ROOT);
		if (meant.equals(name) || !COLUMN.matcher(meant).matches()) {
			return "";
		}
		return ((meant.length() < name.length()) ? "; spaces are part of a column's name: '"
				: "; columns are named in lower case: '") + meant + "'";
	}

	/** Advice about names that are several. */
	private String separators() {
		return this.names.stream().map(this::separators).filter((advice) -> !advice.isEmpty()).findFirst().orElse("");
	}

	private String separators(String name) {
		// One column with a comma in its name is seldom meant; one of several may be.
		return ((this.names.size() == 1) ? ";\t," : ";\t").chars()
			.filter((separator) -> separator != this.syntax.delimiter() && name.indexOf(separator) >= 0)
			.mapToObj(
					(separator) -> "; columns are separated by " + plural(this.syntax.delimiter()) + ", not by "
							+ plural((char) separator)
							+ ((this.syntax.quotes()) ? ", unless delimiter="
									+ ((separator == '\t') ? "tab" : (char) separator) + " says so" : ""))
			.findFirst()
			.orElse("");
	}

	private static String plural(char separator) {
		return switch (separator) {
			case ',' -> "commas";
			case ';' -> "semicolons";
			case '\t' -> "tabs";
			default -> "'" + separator + "'";
		};
	}

}
