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
 * The cells of a row that templates use. Names are looked up in the header once, and are
 * column indexes from then on. A cell that is empty without quotes is CSV's null.
 */
final class CsvRow extends Row {

	private static final int WHOLE_ROW = -1;

	private static final byte[] OBJECT = { '{', '}' };

	private static final byte[] QUOTE = { '"' };

	private final CsvCells cells;

	private final int[] columns;

	/** The names of all columns if all of them become fields; otherwise empty. */
	private final byte[][] names;

	/**
	 * The names as the beginnings of JSON members if a template uses the whole row;
	 * otherwise empty.
	 */
	private final byte[][] members;

	/** The whole row as JSON, if a template uses it. */
	private byte[] whole = {};

	private int wholeOffset;

	private int wholeLength;

	private final int maxKeptCells;

	private final int maxArguments;

	/**
	 * Looks up the names of templates in a header.
	 * @param templates the templates; the header contains each of their names once
	 * @param nulls what to do with an empty cell
	 */
	CsvRow(Templates templates, Nulls nulls, List<String> header, CsvCells cells, RecordLimit limit) {
		super(templates, nulls, limit);
		this.cells = cells;
		List<String> templateNames = templates.names();
		boolean whole = templateNames.contains(Template.WHOLE);
		Map<String, Integer> columnsByName = new HashMap<>();
		IntStream.range(0, header.size()).forEach((column) -> columnsByName.putIfAbsent(header.get(column), column));
		this.columns = templateNames.stream()
			.mapToInt((name) -> (name.equals(Template.WHOLE)) ? WHOLE_ROW : columnsByName.getOrDefault(name, WHOLE_ROW))
			.toArray();
		this.names = (templates.mapsAllValues()) ? bytes(header, UnaryOperator.identity()) : new byte[0][];
		this.members = (whole) ? bytes(header, (name) -> ",\"" + JsonText.escaped(name) + "\":\"") : new byte[0][];
		this.maxKeptCells = (whole || templates.mapsAllValues()) ? header.size()
				: IntStream.of(this.columns).max().orElse(WHOLE_ROW) + 1;
		this.maxArguments = (templates.mapsAllValues()) ? 2 * header.size() + 1 : templates.maxArguments();
	}

	private static byte[][] bytes(List<String> header, UnaryOperator<String> form) {
		return header.stream().map((name) -> form.apply(name).getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The number of cells to keep. */
	int maxKeptCells() {
		return this.maxKeptCells;
	}

	/** The largest number of arguments that a row's record may have. */
	int maxArguments() {
		return this.maxArguments;
	}

	/** The column names that are kept in memory as bytes. */
	Stream<byte[]> nameBytes() {
		return Stream.concat(Arrays.stream(this.names), Arrays.stream(this.members));
	}

	/**
	 * Builds a record from the cells; it may be refused.
	 * @param fault the reason to refuse the row; {@code null} for a valid one
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
		return (column == WHOLE_ROW) ? this.wholeLength : this.cells.has(column) ? this.cells.length(column) : NULL;
	}

	@Override
	protected byte[] source(int name) {
		return (this.columns[name] == WHOLE_ROW) ? this.whole : this.cells.bytes();
	}

	@Override
	protected int offset(int name) {
		int column = this.columns[name];
		return (column == WHOLE_ROW) ? this.wholeOffset : this.cells.offset(column);
	}

	@Override
	protected boolean isString(int name) {
		return this.columns[name] != WHOLE_ROW;
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

	/** Writes the row as a JSON object of strings, without empty cells. */
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
