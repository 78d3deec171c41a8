package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
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
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/** The header: the names of the columns. It is read once per body. */
final class CsvHeader {

	static final int MAX_COLUMNS = 10_000;

	private static final int MAX_FOUND_NAMES = 5;

	/** After this number of characters, a message lists no further column. */
	private static final int MAX_LISTED_CHARACTERS = 1_000;

	private static final Pattern ARGUMENT = Pattern.compile("arg[1-9][0-9]{0,4}");

	private static final Pattern COLUMN = Pattern.compile("op|key|value|ttl|expireAt|" + ARGUMENT);

	private static final Set<String> VALUE_COLUMNS = Set.of("key", "value", "ttl", "expireAt");

	private final List<String> names;

	private final Map<String, Integer> columnsByName = new LinkedHashMap<>();

	/** The names that more than one column has. */
	private final Set<String> repeated = new LinkedHashSet<>();

	/** The names without blanks around them, in lower case. */
	private final byte[][] likeNames;

	/**
	 * The bytes with which these begin, in both cases; blanks and byte order marks too.
	 */
	private final boolean[] firstBytes = new boolean[256];

	private final int count;

	private final CsvSyntax syntax;

	/**
	 * Creates a header.
	 * @param names the names of the columns, at most {@value #MAX_COLUMNS}
	 */
	CsvHeader(List<String> names, int count, CsvSyntax syntax) {
		this.names = names;
		this.count = count;
		this.syntax = syntax;
		this.likeNames = names.stream()
			.map((name) -> name.replace("\ufeff", "").strip().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		this.firstBytes[' '] = true;
		this.firstBytes[0xEF] = true;
		for (byte[] name : this.likeNames) {
			if (name.length > 0) {
				this.firstBytes[name[0] & 0xFF] = true;
				this.firstBytes[Character.toUpperCase((char) (name[0] & 0xFF)) & 0xFF] = true;
			}
		}
		for (int i = 0; i < names.size(); i++) {
			if (this.columnsByName.putIfAbsent(names.get(i), i) != null) {
				this.repeated.add(names.get(i));
			}
		}
	}

	/** Reads the names from a row. */
	static CsvHeader of(CsvCells cells, CsvSyntax syntax) {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < Math.min(cells.count(), MAX_COLUMNS); i++) {
			names.add(cells.text(i));
		}
		return new CsvHeader(names, cells.count(), syntax);
	}

	/**
	 * The header of a file that has none, for templates that name columns by number.
	 * @param count how many columns the first row has
	 */
	static CsvHeader withoutNames(int count, CsvSyntax syntax) {
		return new CsvHeader(Collections.nCopies(Math.min(count, MAX_COLUMNS), ""), count, syntax);
	}

	/**
	 * The place of a column, by its name or by its number.
	 * @return its index, or {@link CsvColumns#NONE}
	 */
	int place(String name) {
		return Templates.place(name, (name.isEmpty()) ? CsvColumns.NONE : column(name), this.names.size());
	}

	/** The names of all columns. Some may be empty. */
	List<String> names() {
		return this.names;
	}

	/**
	 * Checks that the columns include the names in templates.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(Templates templates) {
		if (this.count > MAX_COLUMNS) {
			return tooMany();
		}
		String missing = templates.missingColumn(this.columnsByName.keySet(), this.names.size());
		if (missing != null && this.columnsByName.containsKey("") && this.columnsByName.size() == 1) {
			return "the first row has " + this.names.size() + " cells, and so it " + missing;
		}
		if (missing != null) {
			return "the header " + missing + "; it has " + listed() + separators() + blanks();
		}
		String all = templates.settingOfAll();
		for (String name : templates.names()) {
			if (this.repeated.contains(name) && place(name) != CsvColumns.NONE) {
				return "the header has two columns '" + Excerpt.of(name) + "', and '" + templates.settingOf(name)
						+ "' names one of them";
			}
		}
		String braces = templates.problemOfBraces(this.columnsByName::containsKey);
		if (braces != null) {
			return "a template " + braces;
		}
		if (this.names.get(0).startsWith("#") && !templates.nameColumns()) {
			return "the header begins with '" + Excerpt.of(this.names.get(0))
					+ "', which looks like a remark; comment=%23 passes over rows that begin so";
		}
		String problem = (all != null) ? namingProblem(templates) : null;
		return (problem != null) ? problem + ", and " + (("fields".equals(all))
				? "without 'fields' each column is a field" : "'" + all + "' takes all columns") : null;
	}

	/** The reason why not all columns may be meant, or {@code null}. */
	private @Nullable String namingProblem(Templates templates) {
		for (int i = 0; i < this.names.size(); i++) {
			if (this.names.get(i).isEmpty() && !templates.names().contains("@" + (i + 1))) {
				return "column " + (i + 1) + " of the header has no name: {@" + (i + 1) + "} names it";
			}
		}
		return (this.repeated.stream().allMatch(String::isEmpty)) ? null : namingProblem();
	}

	/** Whether the cells of a row that are kept repeat the names of their columns. */
	boolean isRepeatedBy(CsvCells cells) {
		boolean same = cells.count() == this.names.size() && cells.kept() > 0;
		for (int i = 0; same && i < cells.kept(); i++) {
			same = cells.isLike(i, this.likeNames[i]);
		}
		return same;
	}

	/** Whether the first cell of a row may be the name of a column. */
	boolean mayBeginWith(CsvCells cells) {
		return cells.count() == this.names.size() && cells.kept() > 0 && this.firstBytes[cells.firstByte(0)]
				&& isName(cells, 0);
	}

	/** Whether the cells of a row are the names of all columns, in any order. */
	boolean isOrderedBy(CsvCells cells) {
		boolean names = cells.count() == this.names.size();
		Set<Integer> found = new HashSet<>();
		for (int i = 0; names && i < cells.kept(); i++) {
			int column = columnLike(cells, i);
			names = column >= 0 && found.add(column);
		}
		return names;
	}

	/**
	 * Whether the first cell of a row is the name of a column, or one that of another.
	 */
	boolean isNamedBy(CsvCells cells) {
		boolean named = cells.kept() > 0 && isName(cells, 0);
		for (int i = 1; !named && i < cells.kept(); i++) {
			int column = columnLike(cells, i);
			named = column >= 0 && column != i;
		}
		return named;
	}

	private boolean isName(CsvCells cells, int cell) {
		return columnLike(cells, cell) >= 0;
	}

	private int columnLike(CsvCells cells, int cell) {
		for (int i = 0; i < this.likeNames.length; i++) {
			if (this.likeNames[i].length > 0 && cells.isLike(cell, this.likeNames[i])) {
				return i;
			}
		}
		return CsvColumns.NONE;
	}

	/** Advice about names with blanks around them. */
	private String blanks() {
		boolean blank = !this.syntax.cells().trim()
				&& this.names.stream().anyMatch((name) -> !name.equals(name.strip()));
		return (blank) ? "; trim=true drops the blanks around names and cells" : "";
	}

	private static String tooMany() {
		return "the header has more than " + MAX_COLUMNS + " columns";
	}

	/** The reason why not every column has a unique name, or {@code null}. */
	private @Nullable String namingProblem() {
		int unnamed = this.names.indexOf("");
		if (unnamed >= 0) {
			return "column " + (unnamed + 1) + " of the header has no name";
		}
		return (this.repeated.isEmpty()) ? null
				: "the header has two columns '" + Excerpt.of(this.repeated.iterator().next()) + "'";
	}

	/** The columns for a message, or the first of them if they are many. */
	private String listed() {
		StringBuilder list = new StringBuilder();
		int listed = 0;
		while (listed < this.names.size() && list.length() < MAX_LISTED_CHARACTERS) {
			list.append((listed == 0) ? "'" : ", '").append(Excerpt.of(this.names.get(listed))).append("'");
			listed++;
		}
		return list + ((listed < this.names.size()) ? "… (" + this.names.size() + " columns)" : "");
	}

	/**
	 * Checks the names by the columns that the operation takes.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(@Nullable Operation operation) {
		String problem = (this.count > MAX_COLUMNS) ? tooMany() : namingProblem();
		if (problem != null) {
			return problem;
		}
		if (!this.columnsByName.containsKey("key")) {
			return "the header has no column 'key'" + found();
		}
		if (operation == null && !hasOperationColumn()) {
			return "the header has no column 'op', and the request names no operation by '?op='" + found();
		}
		if (isFor(Operation.HSET, operation)) {
			int arguments = arguments().size();
			if (arguments > 0 && arguments == this.columnsByName.size() - 1) {
				return "with HSET each column but 'key' is a field, and 'arg1' names an argument: command=HSET {key}"
						+ " {arg1} {arg2} takes arguments in order";
			}
			return (this.columnsByName.size() > 1) ? null
					: "HSET takes the column 'key' and a column for each field" + found();
		}
		return (hasValueColumn(operation)) ? checkValues() : checkArguments(operation);
	}

	/**
	 * The meaning of the rows under a header without problems.
	 * @param deletes whether a SET without a value is a DEL of its key
	 */
	CsvColumns columns(@Nullable Operation operation, boolean deletes) {
		int size = this.columnsByName.size();
		int key = column("key");
		if (isFor(Operation.HSET, operation)) {
			byte[][] fields = this.columnsByName.keySet()
				.stream()
				.map((name) -> name.getBytes(StandardCharsets.UTF_8))
				.toArray(byte[][]::new);
			return new CsvColumns.Fields(key, fields);
		}
		if (hasValueColumn(operation)) {
			return new CsvColumns.Value(size, key, column("value"), column("ttl"), column("expireAt"), deletes);
		}
		return new CsvColumns.Arguments(size, key, column("op"), operation,
				arguments().values().stream().mapToInt(Integer::intValue).toArray());
	}

	private @Nullable String checkValues() {
		for (String name : this.columnsByName.keySet()) {
			if (!VALUE_COLUMNS.contains(name)) {
				return "SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not '" + Excerpt.of(name) + "'"
						+ advice(name);
			}
		}
		return (this.columnsByName.containsKey("value")) ? null : "the header has no column 'value'" + found();
	}

	private @Nullable String checkArguments(@Nullable Operation operation) {
		String allowed = (hasOperationColumn())
				? "rows that name their operation take the columns 'op', 'key', 'arg1', 'arg2'…"
				: operation + " takes the columns 'key', 'arg1', 'arg2'…"
						+ ((operation == Operation.SET) ? ", or 'key', 'value' and 'ttl' or 'expireAt'" : "");
		for (String name : this.columnsByName.keySet()) {
			if (!name.equals("op") && !name.equals("key") && !ARGUMENT.matcher(name).matches()) {
				return allowed + ", not '" + Excerpt.of(name) + "'" + advice(name);
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
		this.columnsByName.forEach((name, column) -> {
			if (ARGUMENT.matcher(name).matches()) {
				arguments.put(Integer.valueOf(name.substring("arg".length())), column);
			}
		});
		return arguments;
	}

	private boolean hasOperationColumn() {
		return this.columnsByName.containsKey("op");
	}

	private boolean isFor(Operation wanted, @Nullable Operation operation) {
		return operation == wanted && !hasOperationColumn();
	}

	private boolean hasValueColumn(@Nullable Operation operation) {
		return isFor(Operation.SET, operation) && arguments().isEmpty();
	}

	private int column(String name) {
		return Objects.requireNonNullElse(this.columnsByName.get(name), CsvColumns.NONE);
	}

	private String found() {
		String names = this.columnsByName.keySet()
			.stream()
			.limit(MAX_FOUND_NAMES)
			.map(Excerpt::of)
			.collect(Collectors.joining(", "));
		return "; found: " + names + ((this.columnsByName.size() > MAX_FOUND_NAMES) ? "…" : "") + advice();
	}

	/** Advice about the first name for which there is advice. */
	private String advice() {
		return this.columnsByName.keySet()
			.stream()
			.map(this::advice)
			.filter((advice) -> !advice.isEmpty())
			.findFirst()
			.orElse("");
	}

	/** Advice about a name that is not a known column, or an empty text. */
	private String advice(String name) {
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

	/**
	 * Advice about a name that contains another separator, and so is probably several
	 * names.
	 */
	private String separators() {
		return this.names.stream().map(this::separators).filter((advice) -> !advice.isEmpty()).findFirst().orElse("");
	}

	private String separators(String name) {
		// A comma in the name of the only column is probably a separator. With several
		// columns it may be part of the name.
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
