package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonText;
import org.jspecify.annotations.Nullable;

/**
 * The cells of a table's row that templates name. Names are found among the columns once,
 * and are places from then on.
 */
public abstract class TableRow extends Row {

	/** The whole row as JSON. */
	private static final int ALL = -1;

	/** The number of the row. */
	private static final int INDEX = -2;

	/** A name that no column has: another one takes its place. */
	private static final int NOWHERE = -3;

	/** The column of each name of templates, or what else it is. */
	private final int[] places;

	/** The names of the columns that templates need; {@code null} for others. */
	private final List<byte @Nullable []> names = new ArrayList<>();

	/** The same as names of JSON, once a row was written as an object. */
	private byte[][] members = {};

	private final String nullText;

	private final boolean needsWhole;

	/** The number of columns up to the last one that templates need. */
	private final int needed;

	/** Whether a template has the number of the row. */
	private final boolean counts;

	/** The whole row, if a template has it. */
	private byte[] whole = {};

	private int wholeOffset;

	private int wholeLength;

	private byte[] index = {};

	/**
	 * Finds the names of templates among the columns.
	 * @param place the index of the column of a name, negative for none
	 * @param unnamed whether a column without a name belongs to the row as a whole
	 * @param nullText a null in the row as a whole; empty if it is left out
	 */
	protected TableRow(Templates templates, Nulls nulls, List<String> columns, ToIntFunction<String> place,
			boolean unnamed, String nullText, RecordLimit limit) {
		super(templates, nulls, true, limit);
		this.nullText = nullText;
		this.needsWhole = templates.needWhole();
		this.places = templates.names().stream().mapToInt((name) -> {
			int column = place.applyAsInt(name);
			return (name.equals(Template.WHOLE)) ? ALL
					: (column >= 0) ? column : (name.equals(Template.INDEX)) ? INDEX : NOWHERE;
		}).toArray();
		this.counts = IntStream.of(this.places).anyMatch((column) -> column == INDEX);
		BitSet needed = new BitSet();
		IntStream.of(this.places).filter((column) -> column >= 0).forEach(needed::set);
		if (templates.mapsAllValues()) {
			needed.set(0, columns.size());
		}
		this.needed = needed.length();
		for (int i = 0; i < this.needed; i++) {
			String name = columns.get(i);
			boolean named = needed.get(i) && (unnamed || !name.isEmpty());
			this.names.add((named) ? name.getBytes(StandardCharsets.UTF_8) : null);
		}
	}

	/** The number of columns up to the last one that templates need. */
	protected final int needed() {
		return this.needed;
	}

	/** Whether templates need a column that has a name. */
	protected final boolean needs(int column) {
		return this.names.get(column) != null;
	}

	/** The names of the columns that templates need. */
	protected final Stream<byte[]> names() {
		return this.names.stream().filter(Objects::nonNull).map(Objects::requireNonNull);
	}

	/** The state of a cell of the current row. */
	protected abstract State cell(int column);

	/** The array that holds a cell with a value, unchanged before the next row. */
	protected abstract byte[] cellSource(int column);

	protected abstract int cellOffset(int column);

	protected abstract int cellLength(int column);

	/** Takes note of a row whose cells are there. */
	protected final void readCells() {
		this.index = (this.counts) ? digits() : this.index;
		if (this.needsWhole) {
			ArgumentBytes json = writeWhole(true);
			this.whole = json.bytes();
			this.wholeOffset = json.start();
			this.wholeLength = json.length();
		}
	}

	@Override
	protected final State state(int name) {
		int place = this.places[name];
		return (place >= 0) ? cell(place)
				: (place == ALL) ? State.COMPOSITE : (place == INDEX) ? State.SCALAR : State.ABSENT;
	}

	@Override
	protected final byte[] source(int name) {
		int place = this.places[name];
		return (place >= 0) ? cellSource(place) : (place == ALL) ? this.whole : this.index;
	}

	@Override
	protected final int offset(int name) {
		int place = this.places[name];
		return (place >= 0) ? cellOffset(place) : (place == ALL) ? this.wholeOffset : 0;
	}

	@Override
	protected final int length(int name) {
		int place = this.places[name];
		return (place >= 0) ? cellLength(place) : (place == ALL) ? this.wholeLength : this.index.length;
	}

	@Override
	protected final boolean isObject() {
		return true;
	}

	@Override
	protected final void members() {
		for (int i = 0; i < this.names.size(); i++) {
			byte[] name = this.names.get(i);
			if (name != null) {
				State state = cell(i);
				boolean value = state.isValue();
				member(name, 0, name.length, state, cellSource(i), (value) ? cellOffset(i) : 0,
						(value) ? cellLength(i) : 0);
			}
		}
	}

	@Override
	protected final String noun() {
		return "column";
	}

	/**
	 * Makes the row an object of JSON, in which bytes are Base64.
	 * @param bounded whether it ends, and is refused, where it is too large for a record
	 */
	protected final ArgumentBytes writeWhole(boolean bounded) {
		ArgumentBytes json = composed();
		if (this.members.length == 0) {
			this.members = this.names.stream().map(this::member).toArray(byte[][]::new);
		}
		json.begin();
		char before = '{';
		for (int i = 0; i < this.members.length && (!bounded || fits(json.length())); i++) {
			State state = cell(i);
			if (this.members[i].length > 0 && (state.isValue() || !this.nullText.isEmpty())) {
				json.append(before);
				json.append(this.members[i], 0, this.members[i].length);
				if (state.isValue()) {
					state.append(json, cellSource(i), cellOffset(i), cellLength(i));
				}
				else {
					json.append(this.nullText);
				}
				before = ',';
			}
		}
		json.append((before == '{') ? "{}" : "}");
		return json;
	}

	/** A name as the beginning of a member of JSON; empty for none. */
	private byte[] member(byte @Nullable [] name) {
		ArgumentBytes json = composed();
		json.begin();
		if (name != null) {
			JsonText.appendString(json, name, 0, name.length);
			json.append(':');
		}
		return Arrays.copyOfRange(json.bytes(), json.start(), json.start() + json.length());
	}

}
