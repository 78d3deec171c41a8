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
import io.pipeset.record.json.JsonSpread;
import io.pipeset.record.mapping.Elements;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.Spreading;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * The cells of a row that templates name. Names are found in the header once, and are
 * places from then on. A cell that is empty without quotes is CSV's null.
 */
final class CsvRow extends Row {

	/** The whole row as JSON. */
	private static final int ALL = -1;

	/** The number of the row. */
	private static final int INDEX = -2;

	/** A name that the header does not have: another one takes its place. */
	private static final int NOWHERE = -3;

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

	/** Whether a template has the number of the row. */
	private final boolean counts;

	private byte[] index = {};

	/** Why the cells can only be refused; {@code null} if they are a row. */
	private @Nullable Rejection fault;

	private final JsonSpread json = new JsonSpread();

	private final int maxArguments;

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
			.mapToInt((name) -> (name.equals(Template.WHOLE)) ? ALL
					: places.getOrDefault(name, (name.equals(Template.INDEX)) ? INDEX : NOWHERE))
			.toArray();
		this.names = (templates.mapsAllValues()) ? bytes(header, UnaryOperator.identity()) : new byte[0][];
		this.members = (whole) ? bytes(header, (name) -> ",\"" + JsonText.escaped(name) + "\":\"") : new byte[0][];
		this.kept = (whole || templates.mapsAllValues()) ? header.size()
				: Math.max(0, IntStream.of(this.columns).max().orElse(ALL) + 1);
		this.maxArguments = templates.maxArguments(header.size());
		this.counts = named.contains(Template.INDEX);
	}

	private static byte[][] bytes(List<String> header, UnaryOperator<String> form) {
		return header.stream().map((name) -> form.apply(name).getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The number of cells to look at. */
	int maxKeptCells() {
		return this.kept;
	}

	/** The largest number of arguments that a row's record may have. */
	int maxArguments() {
		return this.maxArguments;
	}

	/** The names of columns that are kept as bytes. */
	Stream<byte[]> nameBytes() {
		return Stream.concat(Arrays.stream(this.names), Arrays.stream(this.members));
	}

	/** Takes the row whose cells were split last. */
	void read(@Nullable Rejection fault) {
		begin();
		this.index = (this.counts) ? digits() : this.index;
		if (this.members.length > 0) {
			this.wholeLength = NULL;
			if (fault == null) {
				writeWhole();
			}
		}
		this.fault = fault;
		if (fault != null) {
			setUnreadable();
		}
	}

	/** Makes the next record of the row, good or refused. */
	void deliver(Record record) {
		fill(record, this.fault);
	}

	@Override
	protected int length(int name) {
		int column = this.columns[name];
		if (column >= 0) {
			return this.cells.has(column) ? this.cells.length(column) : NULL;
		}
		return (column == ALL) ? this.wholeLength : (column == INDEX) ? this.index.length : ABSENT;
	}

	@Override
	protected byte[] source(int name) {
		int column = this.columns[name];
		return (column >= 0) ? this.cells.bytes() : (column == ALL) ? this.whole : this.index;
	}

	@Override
	protected int offset(int name) {
		int column = this.columns[name];
		return (column >= 0) ? this.cells.offset(column) : (column == ALL) ? this.wholeOffset : 0;
	}

	@Override
	protected boolean isString(int name) {
		return this.columns[name] >= 0;
	}

	@Override
	protected boolean hasNoElements(int name) {
		String text = new String(source(name), offset(name), length(name), StandardCharsets.UTF_8).strip();
		return text.matches("\\[\\s*]|\\{\\s*}");
	}

	/** A cell that is a JSON array or object has elements; any other is one value. */
	@Override
	protected Spreading spread(int name, Elements elements) {
		ArgumentBytes copy = composed();
		copy.begin();
		copy.append(source(name), offset(name), length(name));
		if (!this.json.isArrayOrObject(copy)) {
			elements.add(source(name), offset(name), length(name), isString(name));
			return Spreading.SINGLE;
		}
		return this.json.spread(elements);
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
		ArgumentBytes json = composed();
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
