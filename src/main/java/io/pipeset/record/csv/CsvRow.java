package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonText;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.State;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The cells of a row that templates name. Names are found in the header once, and are
 * places from then on.
 */
final class CsvRow extends Row {

	/** The whole row as JSON. */
	private static final int ALL = -1;

	/** The number of the row. */
	private static final int INDEX = -2;

	/** A name that the header does not have: another one takes its place. */
	private static final int NOWHERE = -3;

	private final CsvCells cells;

	private final int[] columns;

	/** The names of all columns, where all of them are meant; empty for one left out. */
	private final byte[][] names;

	/** The same as names of JSON, where the whole row is an object. */
	private final byte[][] members;

	/** The whole row, if a template has it. */
	private byte[] whole = {};

	private int wholeOffset;

	private int wholeLength;

	private final boolean needsWhole;

	private final int kept;

	/** Whether a template has the number of the row. */
	private final boolean counts;

	private byte[] index = {};

	/** Why the cells can only be refused; {@code null} if they are a row. */
	private @Nullable Rejection fault;

	private final int maxArguments;

	/**
	 * Finds the names of templates in a header.
	 * @param templates the templates, whose names are in the header once
	 * @param nulls the meaning of a cell that is null
	 */
	CsvRow(Templates templates, Nulls nulls, CsvHeader header, CsvCells cells, RecordLimit limit) {
		super(templates, nulls, true, limit);
		this.cells = cells;
		List<String> names = header.names();
		this.columns = templates.names()
			.stream()
			.mapToInt((name) -> (name.equals(Template.WHOLE)) ? ALL
					: (header.place(name) != CsvColumns.NONE) ? header.place(name)
							: (name.equals(Template.INDEX)) ? INDEX : NOWHERE)
			.toArray();
		this.needsWhole = templates.needWhole();
		this.names = (templates.mapsAllValues())
				? names.stream().map((name) -> name.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new)
				: new byte[0][];
		this.members = (this.needsWhole) ? Arrays.stream(this.names).map(CsvRow::member).toArray(byte[][]::new)
				: new byte[0][];
		this.kept = (templates.mapsAllValues()) ? names.size()
				: Math.max(0, IntStream.of(this.columns).max().orElse(ALL) + 1);
		this.maxArguments = templates.maxArguments(names.size());
		this.counts = IntStream.of(this.columns).anyMatch((column) -> column == INDEX);
	}

	/** A name as the beginning of a member of JSON. */
	private static byte[] member(byte[] name) {
		ArgumentBytes json = new ArgumentBytes(MemoryReservation.UNLIMITED);
		JsonText.appendString(json, name, 0, name.length);
		json.append(':');
		return Arrays.copyOfRange(json.bytes(), json.start(), json.start() + json.length());
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
		if (this.needsWhole && fault == null) {
			writeWhole();
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
	protected State state(int name) {
		int column = this.columns[name];
		if (column >= 0) {
			return state(this.cells, column);
		}
		return (column == ALL) ? State.COMPOSITE : (column == INDEX) ? State.SCALAR : State.ABSENT;
	}

	private static State state(CsvCells cells, int column) {
		return (cells.has(column)) ? State.TEXT : State.NULL;
	}

	@Override
	protected int length(int name) {
		int column = this.columns[name];
		return (column >= 0) ? this.cells.length(column) : (column == ALL) ? this.wholeLength : this.index.length;
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
	protected boolean isObject() {
		return true;
	}

	@Override
	protected void members() {
		for (int i = 0; i < this.names.length; i++) {
			byte[] name = this.names[i];
			if (name.length > 0) {
				State state = state(this.cells, i);
				member(name, 0, name.length, state, this.cells.bytes(),
						(state == State.TEXT) ? this.cells.offset(i) : 0,
						(state == State.TEXT) ? this.cells.length(i) : 0);
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

	/** Makes the whole row an object of strings, without the cells that are null. */
	private void writeWhole() {
		ArgumentBytes json = composed();
		json.begin();
		char before = '{';
		for (int i = 0; i < this.names.length && fits(json.length()); i++) {
			boolean has = this.cells.has(i);
			if (this.names[i].length > 0 && (has || nulls() == Nulls.EMPTY)) {
				json.append(before);
				json.append(this.members[i], 0, this.members[i].length);
				JsonText.appendString(json, this.cells.bytes(), (has) ? this.cells.offset(i) : 0,
						(has) ? this.cells.length(i) : 0);
				before = ',';
			}
		}
		if (before == '{') {
			json.append('{');
		}
		json.append('}');
		this.whole = json.bytes();
		this.wholeOffset = json.start();
		this.wholeLength = json.length();
	}

}
