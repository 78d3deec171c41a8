package io.pipeset.record.json;

import java.util.Arrays;
import java.util.List;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonKind;
import io.pipeset.record.grammar.JsonText;
import io.pipeset.record.grammar.JsonWalk;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.State;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/** The members of an object, or another value, that templates name. */
final class JsonRow extends Row {

	/** What is looked for is no array or object. */
	static final int NO_ARRAY = -3;

	private static final State[] STATES = State.values();

	private final JsonNames names;

	private final List<String> texts;

	private final JsonCursor cursor = new JsonCursor();

	private final RecordLimit limit;

	/** The numbers of names with a meaning of their own; -1 for those not used. */
	private final int whole;

	private final int index;

	private final int entryKey;

	private final int entryValue;

	/** Whether {@code @value} is also the value of an object. */
	private final boolean valueIsNamed;

	private final boolean needsWhole;

	private final boolean needsMembers;

	/** The values by the numbers of their names. */
	private final Found own;

	/** The members of the object that has the row in an array. */
	private final Found outer;

	/**
	 * Each name and value if all members are wanted. The length of a value is followed by
	 * the number of its state.
	 */
	private final Spans members;

	private byte[] bytes = {};

	private boolean object;

	JsonRow(Templates templates, Nulls nulls, Rows rows, RecordLimit limit) {
		super(templates, nulls, false, limit);
		this.texts = templates.names();
		this.names = new JsonNames(this.texts);
		this.whole = this.texts.indexOf(Template.WHOLE);
		this.index = this.texts.indexOf(Template.INDEX);
		this.entryKey = this.texts.indexOf(Template.ENTRY_KEY);
		this.entryValue = this.texts.indexOf(Template.ENTRY_VALUE);
		this.valueIsNamed = this.entryValue >= 0 && (rows.entries() || rows.areItems());
		this.needsWhole = templates.needWhole() || this.valueIsNamed;
		this.needsMembers = templates.needMembers();
		this.own = new Found(this.texts.size());
		this.outer = new Found(this.texts.size());
		this.limit = limit;
		this.members = new Spans(limit.memory());
	}

	/** Reads a value as a row. */
	@Nullable JsonFault read(byte[] bytes, int from, int to) throws JsonFault {
		beginRow();
		this.bytes = bytes;
		this.cursor.begin(bytes, from, to);
		JsonFault fault = readRow(0);
		return end(fault);
	}

	/** Reads a name and its value as a row. */
	@Nullable JsonFault readEntry(byte[] bytes, int from, int to) throws JsonFault {
		beginRow();
		this.bytes = bytes;
		this.cursor.begin(bytes, from, to);
		this.cursor.readName();
		int name = this.cursor.offset();
		int length = this.cursor.length();
		JsonFault fault = this.cursor.contentFault();
		JsonFault inside = readRow(1);
		if (this.entryKey >= 0 && this.own.states[this.entryKey] == State.ABSENT) {
			this.own.set(this.entryKey, State.TEXT, bytes, name, length);
		}
		return end((fault != null) ? fault : inside);
	}

	private @Nullable JsonFault end(@Nullable JsonFault before) throws JsonFault {
		this.cursor.expectEnd();
		JsonFault fault = (before != null) ? before : this.cursor.contentFault();
		if (fault != null) {
			setUnreadable();
		}
		if (this.index >= 0 && this.own.states[this.index] == State.ABSENT) {
			byte[] digits = digits();
			this.own.set(this.index, State.SCALAR, digits, 0, digits.length);
		}
		return fault;
	}

	private @Nullable JsonFault readRow(int depth) throws JsonFault {
		this.object = this.cursor.isNext('{');
		if (!this.object) {
			JsonKind kind = this.cursor.readValue(depth);
			State state = State.of(kind);
			setValue(this.entryValue, state, this.cursor.source(), this.cursor.offset(), this.cursor.length());
			setValue(this.whole, state, this.cursor.source(), this.cursor.offset(), this.cursor.length());
			if (this.needsMembers && this.whole < 0) {
				refuse(Rejection.MALFORMED, "the row is " + kind.describe(this.cursor.excerpt())
						+ ", and without 'fields' its members are the fields: name one, as in fields=value={@value}");
			}
			return null;
		}
		JsonFault fault = null;
		if (this.needsWhole) {
			fault = copyWhole();
		}
		readMembers(this.cursor, this.own, this.needsMembers, null);
		return fault;
	}

	private void setValue(int name, State state, byte[] source, int offset, int length) {
		if (name >= 0) {
			this.own.set(name, state, source, offset, length);
		}
	}

	/**
	 * Removes white space from the object, and keeps a copy, because its strings are
	 * decoded in place.
	 */
	private @Nullable JsonFault copyWhole() throws JsonFault {
		this.cursor.readValue(0);
		int offset = this.cursor.offset();
		int length = this.cursor.length();
		this.cursor.expectEnd();
		JsonFault fault = this.cursor.contentFault();
		ArgumentBytes copy = composed();
		copy.begin();
		copy.append(this.bytes, offset, length);
		setValue(this.whole, State.COMPOSITE, copy.bytes(), copy.start(), length);
		if (this.valueIsNamed) {
			setValue(this.entryValue, State.COMPOSITE, copy.bytes(), copy.start(), length);
		}
		this.cursor.begin(this.bytes, offset, offset + length);
		return fault;
	}

	/**
	 * Reads the members of an object that has an array of rows.
	 * @param wanted the name of the member that has the array
	 * @return the index of its value, {@link JsonWalk#ABSENT}, {@link JsonWalk#TWICE} or
	 * {@link #NO_ARRAY}
	 */
	int readOuter(JsonCursor object, byte[] wanted) throws JsonFault {
		forgetOuter();
		return readMembers(object, this.outer, false, wanted);
	}

	/** Why rows of the object that was read last are refused; {@code null} for none. */
	@Nullable Rejection outerProblem() {
		return problem();
	}

	/** The row is in no object, or in one whose members do not matter. */
	void forgetOuter() {
		this.outer.clear();
	}

	/**
	 * Reads the members of the object that is next.
	 * @param all whether each of them is wanted
	 * @param wanted the name of one that is looked for; {@code null} for none
	 * @return the index of its value, {@link JsonWalk#ABSENT}, {@link JsonWalk#TWICE} or
	 * {@link #NO_ARRAY}
	 */
	private int readMembers(JsonCursor cursor, Found found, boolean all, byte @Nullable [] wanted) throws JsonFault {
		int wantedAt = JsonWalk.ABSENT;
		if (!cursor.enter('}')) {
			return wantedAt;
		}
		do {
			cursor.readName();
			int name = cursor.offset();
			int nameLength = cursor.length();
			int number = this.names.find(cursor.source(), name, nameLength);
			boolean isWanted = wanted != null
					&& Arrays.equals(wanted, 0, wanted.length, cursor.source(), name, name + nameLength);
			JsonKind kind = cursor.readValue(1);
			if (isWanted) {
				wantedAt = (wantedAt != JsonWalk.ABSENT) ? JsonWalk.TWICE
						: (kind == JsonKind.STRING) ? NO_ARRAY : cursor.offset();
			}
			if (all) {
				addMember(name, nameLength, State.of(kind));
			}
			if (number != JsonNames.NONE && number != this.whole) {
				store(found, number, State.of(kind), cursor);
			}
		}
		while (cursor.next('}'));
		return wantedAt;
	}

	private void addMember(int name, int nameLength, State state) {
		if (this.members.count() / 3 * 2 + 2 > this.limit.arguments()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
			return;
		}
		this.members.add(name, nameLength);
		this.members.add(this.cursor.offset(), this.cursor.length());
		this.members.add(number(state), 0);
	}

	@SuppressWarnings("EnumOrdinal") // spans are numbers
	private static int number(State state) {
		return state.ordinal();
	}

	private void store(Found found, int number, State state, JsonCursor cursor) {
		boolean special = number == this.entryValue && this.valueIsNamed;
		if (found.states[number] != State.ABSENT && !special) {
			refuse(Rejection.MALFORMED, "member '" + this.texts.get(number) + "' is there twice, and '"
					+ settingOf(this.texts.get(number)) + "' names it: one of two values would be lost");
		}
		found.set(number, state, cursor.source(), cursor.offset(), cursor.length());
	}

	/** Whether a template names a member of the outer object. */
	boolean namesOuter(byte[] name) {
		int number = this.names.find(name, 0, name.length);
		return number != JsonNames.NONE && this.outer.states[number] != State.ABSENT;
	}

	/** Writes the members of the outer object that templates name, but for one. */
	void writeOuter(ArgumentBytes json, byte[] excluded) {
		for (int i = 0; i < this.texts.size(); i++) {
			byte[] name = this.names.name(i);
			if (this.outer.states[i] != State.ABSENT && !Arrays.equals(name, excluded)) {
				JsonText.appendString(json, name, 0, name.length);
				json.append(':');
				this.outer.states[i].append(json, this.outer.sources[i], this.outer.offsets[i], this.outer.lengths[i]);
				json.append(',');
			}
		}
	}

	/** Begins a row. */
	void beginRow() {
		begin();
		this.own.clear();
		this.members.clear();
	}

	/** The row cannot be read. */
	void fail() {
		setUnreadable();
	}

	void deliver(Record record, @Nullable Rejection fault) {
		fill(record, fault);
	}

	/** Where a name was found: in the row, or else in the object around it. */
	private Found at(int name) {
		return (this.own.states[name] != State.ABSENT) ? this.own : this.outer;
	}

	@Override
	protected State state(int name) {
		return at(name).states[name];
	}

	@Override
	protected byte[] source(int name) {
		return at(name).sources[name];
	}

	@Override
	protected int offset(int name) {
		return at(name).offsets[name];
	}

	@Override
	protected int length(int name) {
		return at(name).lengths[name];
	}

	@Override
	protected boolean isObject() {
		return this.object;
	}

	@Override
	protected void members() {
		for (int i = 0; i < this.members.count(); i += 3) {
			member(this.bytes, this.members.offset(i), this.members.length(i), STATES[this.members.offset(i + 2)],
					this.bytes, this.members.offset(i + 1), this.members.length(i + 1));
		}
	}

	@Override
	protected String noun() {
		return "member";
	}

	@Override
	protected String emptiness() {
		return "null";
	}

	/** Values by the numbers of their names. */
	private static final class Found {

		private final State[] states;

		private final byte[][] sources;

		private final int[] offsets;

		private final int[] lengths;

		Found(int count) {
			this.states = new State[count];
			this.sources = new byte[count][];
			this.offsets = new int[count];
			this.lengths = new int[count];
			clear();
		}

		void clear() {
			Arrays.fill(this.states, State.ABSENT);
		}

		void set(int name, State state, byte[] source, int offset, int length) {
			this.states[name] = state;
			this.sources[name] = source;
			this.offsets[name] = offset;
			this.lengths[name] = length;
		}

	}

}
