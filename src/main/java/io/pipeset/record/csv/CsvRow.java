package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * The cells of a row that templates name. Names are found in the header once, and are
 * places from then on. A cell that is empty without quotes is CSV's null.
 */
final class CsvRow extends Row {

	private static final int ALL = -1;

	private static final byte[] OBJECT = { '{', '}' };

	private static final byte[] QUOTE = { '"' };

	private final CsvCells cells;

	private final int[] columns;

	/** The names of all columns, where all of them are fields. */
	private final byte[][] names;

	/** The same as members of an object, where the whole row is one. */
	private final byte[][] members;

	/** The whole row, if a template has it. */
	private byte[] whole = {};

	private int wholeOffset;

	private int wholeLength;

	private final int kept;

	private final int mostArguments;

	/**
	 * Finds the names of templates in a header.
	 * @param templates the templates, whose names are in the header once
	 * @param nulls the meaning of an empty cell
	 */
	CsvRow(Templates templates, Nulls nulls, List<String> header, CsvCells cells, RecordLimit limit) {
		super(templates, nulls, limit);
		this.cells = cells;
		List<String> named = templates.names();
		boolean whole = named.contains(Template.WHOLE);
		Map<String, Integer> places = new HashMap<>();
		IntStream.range(0, header.size()).forEach((place) -> places.putIfAbsent(header.get(place), place));
		this.columns = named.stream()
			.mapToInt((name) -> (name.equals(Template.WHOLE)) ? ALL : places.getOrDefault(name, ALL))
			.toArray();
		this.names = (templates.takesAll()) ? bytes(header, UnaryOperator.identity()) : new byte[0][];
		this.members = (whole) ? bytes(header, (name) -> ",\"" + JsonText.escaped(name) + "\":\"") : new byte[0][];
		this.kept = (whole || templates.takesAll()) ? header.size() : IntStream.of(this.columns).max().orElse(ALL) + 1;
		this.mostArguments = (templates.takesAll()) ? 2 * header.size() + 1 : templates.mostArguments();
	}

	private static byte[][] bytes(List<String> header, UnaryOperator<String> form) {
		return header.stream().map((name) -> form.apply(name).getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The number of cells to look at. */
	int kept() {
		return this.kept;
	}

	/** The largest number of arguments that a row's record may have. */
	int mostArguments() {
		return this.mostArguments;
	}

	/** The names of columns that are kept as bytes. */
	Stream<byte[]> keptNames() {
		return Stream.concat(Arrays.stream(this.names), Arrays.stream(this.members));
	}

	/**
	 * Makes a record of the cells, good or refused.
	 * @param fault why the cells can only be refused; {@code null} if they are a row
	 */
	void read(Record record, @Nullable Rejection fault) {
		begin();
		if (this.members.length > 0) {
			this.wholeLength = NULL;
			if (fault == null) {
				writeWhole();
			}
		}
		fill(record, fault);
	}

	@Override
	protected int length(int name) {
		int column = this.columns[name];
		return (column == ALL) ? this.wholeLength : this.cells.has(column) ? this.cells.length(column) : NULL;
	}

	@Override
	protected byte[] source(int name) {
		return (this.columns[name] == ALL) ? this.whole : this.cells.bytes();
	}

	@Override
	protected int offset(int name) {
		int column = this.columns[name];
		return (column == ALL) ? this.wholeOffset : this.cells.offset(column);
	}

	@Override
	protected boolean isString(int name) {
		return this.columns[name] != ALL;
	}

	@Override
	protected void addFields(Record record) {
		for (int i = 0; i < this.names.length; i++) {
			if (this.cells.hasValue(i)) {
				addField(record, this.names[i], 0, this.names[i].length, this.cells.bytes(), this.cells.offset(i),
						Math.max(this.cells.length(i), 0), true);
			}
		}
	}

	@Override
	protected String noun() {
		return "column";
	}

	@Override
	protected String emptiness() {
		return "empty";
	}

	/** Makes the whole row an object of strings, without the cells that are empty. */
	private void writeWhole() {
		ArgumentBytes json = made();
		json.begin();
		json.append(OBJECT, 0, 1);
		boolean first = true;
		for (int i = 0; i < this.members.length && fits(json.length()); i++) {
			if (this.cells.hasValue(i)) {
				int comma = (first) ? 1 : 0;
				json.append(this.members[i], comma, this.members[i].length - comma);
				JsonText.appendEscaped(json, this.cells.bytes(), this.cells.offset(i), this.cells.length(i));
				json.append(QUOTE, 0, 1);
				first = false;
			}
		}
		json.append(OBJECT, 1, 1);
		this.whole = json.bytes();
		this.wholeOffset = json.start();
		this.wholeLength = json.length();
	}

}
