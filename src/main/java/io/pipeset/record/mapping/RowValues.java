package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.List;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.LineScanner;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Utf8;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonWalk;
import io.pipeset.record.mapping.Place.Verdict;
import io.pipeset.record.mapping.RecordTemplate.Part;
import io.pipeset.record.mapping.RecordTemplate.Spread;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row, and the text that a template makes of them. A value that is an
 * argument by itself is not copied; one that is a part of an argument is copied once.
 */
abstract class RowValues {

	private static final byte[] JSON_NULL = { 'n', 'u', 'l', 'l' };

	private final Nulls nulls;

	private final boolean table;

	private final RecordLimit limit;

	/** Arrays that begin with the text before the only name of a template. */
	private final byte[][] prepared;

	/** The arguments that are put together of several parts. */
	private final ArgumentBytes made;

	/** Values that do not stand in the row as they are needed, until the next row. */
	private final ArgumentBytes copies;

	private final Elements elements = new Elements();

	private final JsonCursor cursor = new JsonCursor();

	private final List<Slot> slots;

	/** Whether each value was looked for, and whether it was there, in any row. */
	private final boolean[] looked;

	private final boolean[] found;

	private @Nullable ZoneId zone;

	/** The bytes of the arguments so far. */
	private long size;

	private @Nullable Rejection problem;

	/** The value that was found last. */
	private byte[] source = {};

	private int offset;

	private int length;

	/** Whether it is a single string, which is still to be decoded. */
	private boolean string;

	/** Which reading of its slot it has. */
	private int reading;

	private boolean deletes;

	RowValues(Templates templates, Nulls nulls, boolean table, RecordLimit limit) {
		this.nulls = nulls;
		this.table = table;
		this.limit = limit;
		this.made = new ArgumentBytes(limit.memory());
		this.copies = new ArgumentBytes(limit.memory());
		this.prepared = new byte[templates.parts()][];
		this.slots = templates.slots();
		this.looked = new boolean[this.slots.size()];
		this.found = new boolean[this.slots.size()];
	}

	/** Forgets the last row. */
	final void clear() {
		this.made.clear();
		this.copies.clear();
		this.problem = null;
		this.size = 0;
	}

	/** Begins a record of the row. */
	final void beginRecord(@Nullable Rejection problem) {
		this.problem = problem;
		this.size = 0;
		this.deletes = false;
	}

	/** Sets the zone of moments without one; {@code null} if they are refused. */
	final void setZone(@Nullable ZoneId zone) {
		this.zone = zone;
	}

	protected final Nulls nulls() {
		return this.nulls;
	}

	/** Why the record is refused; {@code null} as long as it is good. */
	final @Nullable Rejection problem() {
		return this.problem;
	}

	/** Whether a null makes the record a DEL of its key. */
	final boolean deletes() {
		return this.deletes;
	}

	/** Counts bytes of the record. */
	final void addSize(long bytes) {
		this.size += bytes;
	}

	/** The array of the value that was found last. */
	final byte[] foundSource() {
		return this.source;
	}

	/** The first byte of the value that was found last. */
	final int foundOffset() {
		return this.offset;
	}

	/** The length of the value that was found last, in bytes. */
	final int foundLength() {
		return this.length;
	}

	/**
	 * Whether the value that was found last is a string, which is still to be decoded.
	 */
	final boolean foundString() {
		return this.string;
	}

	/** The reading of the value that was looked for last. */
	final int reading() {
		return this.reading;
	}

	/** Sets a value that needs no search. */
	final void setFound(State state, byte[] source, int offset, int length, Encoding encoding) {
		this.source = source;
		this.offset = offset;
		this.length = length;
		this.string = encoding != Encoding.UTF8 && state == State.TEXT;
	}

	/**
	 * What the row has under a name.
	 * @param name the number of the name
	 */
	protected abstract State state(int name);

	/**
	 * The array that holds a value that is there. It must not change before the next row.
	 */
	protected abstract byte[] source(int name);

	/** The index in that array of the value's first byte. */
	protected abstract int offset(int name);

	/** The length of a value that is there, in bytes. */
	protected abstract int length(int name);

	/** Whether the row has names and values. */
	protected abstract boolean isObject();

	/** The word for what has a name: a column, or a member. */
	protected abstract String noun();

	/** The adjective for a value that is null. */
	protected abstract String emptiness();

	/**
	 * Finds the value of a template.
	 * @return {@code false} if it is left out, or the row is refused
	 */
	final boolean find(Part part, Place place, Encoding encoding) {
		int name = part.onlyName();
		State state = (name >= 0) ? state(name) : State.ABSENT;
		boolean plain = (state == State.TEXT || state == State.SCALAR) && length(name) > 0;
		if (!plain || ((place == Place.KEY || place == Place.MEMBER) && isBracket(source(name)[offset(name)]))) {
			return compose(part, place, encoding);
		}
		this.found[part.slots()[0].number()] = true;
		int before = part.literals()[0].length;
		boolean decodes = encoding != Encoding.UTF8 && state == State.TEXT;
		int length = length(name);
		if (before == 0) {
			this.source = source(name);
			this.offset = offset(name);
		}
		else if (decodes || before + length > Part.PREPARED_BYTES) {
			return compose(part, place, encoding);
		}
		else {
			byte[] prepared = prepared(part);
			System.arraycopy(source(name), offset(name), prepared, before, length);
			this.source = prepared;
			this.offset = 0;
		}
		this.length = before + length;
		this.string = decodes;
		return true;
	}

	/** Most arguments are a text and one short value. */
	private byte[] prepared(Part part) {
		byte[] prepared = this.prepared[part.number()];
		if (prepared == null) {
			byte[] before = part.literals()[0];
			prepared = new byte[Part.PREPARED_BYTES];
			System.arraycopy(before, 0, prepared, 0, before.length);
			this.prepared[part.number()] = prepared;
		}
		return prepared;
	}

	private static boolean isBracket(byte b) {
		return b == '[' || b == '{';
	}

	/** Puts the value together of several parts. */
	private boolean compose(Part part, Place whole, Encoding encoding) {
		byte[][] literals = part.literals();
		Slot[] slots = part.slots();
		boolean empty = slots.length > 0;
		this.made.begin();
		this.made.append(literals[0], 0, literals[0].length);
		for (int i = 0; i < slots.length; i++) {
			int before = this.made.length();
			if (!append(part, slots[i], (whole == part.place()) ? part.place(i) : whole, encoding)) {
				return false;
			}
			empty &= this.made.length() == before;
			this.made.append(literals[i + 1], 0, literals[i + 1].length);
		}
		if (empty && whole == Place.KEY) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + Excerpt.of(slots[0].text()) + "' is an empty text, and the key has no other value");
			return false;
		}
		setFound(State.SCALAR, this.made.bytes(), this.made.start(), this.made.length(), Encoding.UTF8);
		return true;
	}

	/**
	 * Appends a value to the argument.
	 * @return {@code false} if the argument is left out, or refused
	 */
	private boolean append(Part part, Slot slot, Place place, Encoding encoding) {
		State state = look(slot);
		if (this.problem != null) {
			return false;
		}
		byte[] otherwise = slot.otherwise(this.reading);
		if (!state.isValue() && otherwise != null) {
			this.made.append(otherwise, 0, otherwise.length);
			return true;
		}
		Form form = slot.form(this.reading);
		boolean shaped = form != null && place != Place.OPTION;
		State judged = (shaped && state == State.COMPOSITE) ? State.SCALAR
				: (!shaped && isComposite(place, state)) ? State.COMPOSITE : state;
		boolean empty = state == State.TEXT && this.length == 0 && !shaped;
		Verdict verdict = place.decide(judged, empty, this.nulls, this.table);
		if (judged == State.COMPOSITE && place == Place.MEMBER && this.source[this.offset] == '[') {
			verdict = Verdict.REFUSE;
		}
		switch (verdict) {
			case TAKE -> {
				return take(slot, place, form, state, encoding);
			}
			case EMPTY -> {
				return true;
			}
			case NULL -> {
				this.made.append(JSON_NULL, 0, JSON_NULL.length);
				return true;
			}
			case DELETE -> {
				this.deletes = part.isWhole();
				if (!this.deletes) {
					refuse(Rejection.MALFORMED, noun() + " '" + slot.pathText(this.reading) + "' is " + emptiness()
							+ ", and only a part of 'value': nulls=delete takes a null for the whole value");
				}
				return false;
			}
			case LEAVE_OUT -> {
				return false;
			}
			default -> {
				refuseValue(slot, place, judged);
				return false;
			}
		}
	}

	/** Whether a text that must be one is an array or an object of JSON. */
	private boolean isComposite(Place place, State state) {
		if (state != State.TEXT || this.length == 0 || (place != Place.KEY && place != Place.MEMBER)
				|| !isBracket(this.source[this.offset])) {
			return state == State.COMPOSITE;
		}
		copy();
		return this.elements.begin(this.copies.bytes(), this.copies.start(), this.copies.start() + this.length);
	}

	private void copy() {
		this.copies.begin();
		this.copies.append(this.source, this.offset, this.length);
	}

	private boolean take(Slot slot, Place place, @Nullable Form form, State state, Encoding encoding) {
		if (!fits((long) this.made.length() + this.length)) {
			return false;
		}
		int before = this.made.length();
		if (form != null) {
			if (!apply(form, slot, state)) {
				return false;
			}
			this.made.append(this.source, this.offset, this.length);
		}
		else if (encoding == Encoding.UTF8 || state != State.TEXT) {
			this.made.append(this.source, this.offset, this.length);
		}
		else if (!this.made.appendBase64(this.source, this.offset, this.length)) {
			refuse(Rejection.MALFORMED, Record.base64Problem(this.source, this.offset, this.length));
			return false;
		}
		boolean sure = form == null && state != State.TEXT && state != State.BYTES;
		if ((place == Place.JSON && !sure && !isJson(before)) || (place == Place.JSON_STRING && !isPlain(before))) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + slot.pathText(this.reading) + "' is '"
							+ Excerpt.of(this.made.bytes(), this.made.start() + before, this.made.length() - before)
							+ "', and '" + slot.setting() + "' is JSON: "
							+ ((place == Place.JSON) ? "outside of quotes it would be no JSON"
									: "between quotes it would be other JSON, or none")
							+ "; {" + slot.pathText(this.reading) + ":json} without quotes around it takes any text");
			return false;
		}
		return true;
	}

	/** Whether what was appended last is JSON. */
	private boolean isJson(int before) {
		this.copies.begin();
		this.copies.append(this.made.bytes(), this.made.start() + before, this.made.length() - before);
		try {
			this.cursor.begin(this.copies.bytes(), this.copies.start(), this.copies.start() + this.copies.length());
			this.cursor.readValue(1);
			this.cursor.expectEnd();
			return this.cursor.contentFault() == null;
		}
		catch (JsonFault fault) {
			return false;
		}
	}

	/** Whether what was appended last means itself between double quotes of JSON. */
	private boolean isPlain(int before) {
		byte[] bytes = this.made.bytes();
		int to = this.made.start() + this.made.length();
		int at = this.made.start() + before;
		while ((at = LineScanner.skipPlain(bytes, at, to)) < to) {
			int length = (bytes[at] < 0) ? Utf8.characterLength(bytes, at, to) : 0;
			if (length == 0) {
				return false;
			}
			at += length;
		}
		return true;
	}

	/**
	 * Makes of the value that was found last what its form says.
	 * @return {@code false} if the row is refused
	 */
	final boolean apply(Form form, Slot slot, State state) {
		String problem = (form.kind() == Form.Kind.JOIN) ? join(form, state) : null;
		if (form.kind() != Form.Kind.JOIN) {
			this.copies.begin();
			problem = form.append(this.copies, state, this.source, this.offset, this.length, this.zone);
		}
		if (problem != null) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + slot.pathText(this.reading) + "' is not of the form " + form + ": " + problem);
			return false;
		}
		setFound(State.BYTES, this.copies.bytes(), this.copies.start(), this.copies.length(), Encoding.UTF8);
		return true;
	}

	/** Makes the elements of an array one text. */
	private @Nullable String join(Form form, State state) {
		if ((state != State.COMPOSITE && state != State.TEXT) || !beginElements() || this.elements.areMembers()) {
			return "'" + Excerpt.of(this.source, this.offset, this.length) + "' is no array of JSON";
		}
		byte[] separator = form.separator().getBytes(StandardCharsets.UTF_8);
		this.copies.begin();
		boolean first = true;
		while (this.elements.next()) {
			State element = this.elements.state();
			if (!element.isValue() || element == State.COMPOSITE) {
				return "it has " + ((element == State.COMPOSITE) ? "an array or object" : "a null")
						+ " among its elements";
			}
			String text = new String(this.elements.source(), this.elements.offset(), this.elements.length(),
					StandardCharsets.UTF_8);
			if (text.contains(form.separator())) {
				return "its element '" + Excerpt.of(text) + "' has the separator in it";
			}
			this.copies.append(separator, 0, (first) ? 0 : separator.length);
			this.copies.append(this.elements.source(), this.elements.offset(), this.elements.length());
			first = false;
		}
		return null;
	}

	/** Begins to read the elements of the value that was found last. */
	private boolean beginElements() {
		copy();
		return this.elements.begin(this.copies.bytes(), this.copies.start(), this.copies.start() + this.length);
	}

	/**
	 * Looks for a value: the longest of its names that the row has, and the steps from
	 * there.
	 * @return its state; {@link State#ABSENT} also if the row is refused
	 */
	final State look(Slot slot) {
		int last = slot.readings() - 1;
		int found = 0;
		while (found < last && state(slot.name(found)) == State.ABSENT) {
			found++;
		}
		this.reading = found;
		int name = slot.name(found);
		State state = state(name);
		if (state.isValue()) {
			this.source = source(name);
			this.offset = offset(name);
			this.length = length(name);
		}
		byte[][] steps = slot.steps(found);
		if (steps.length > 0 && state != State.ABSENT) {
			state = walk(slot, state, steps);
		}
		this.looked[slot.number()] = true;
		this.found[slot.number()] |= state != State.ABSENT;
		return state;
	}

	/** Goes from the value that was found last into its members and elements. */
	private State walk(Slot slot, State from, byte[][] steps) {
		State state = from;
		boolean entered = false;
		for (int i = 0; i < steps.length; i++) {
			if (state == State.TEXT && !entered) {
				entered = true;
				if (beginElements()) {
					state = State.COMPOSITE;
					this.source = this.copies.bytes();
					this.offset = firstBracket(this.copies.start());
				}
			}
			if (state != State.COMPOSITE) {
				return (state == State.NULL) ? state
						: refuseStep(slot, i, "is " + describe(state) + " and no object or array of JSON");
			}
			boolean object = this.source[this.offset] == '{';
			int at = (object) ? JsonWalk.member(this.source, this.offset, steps[i])
					: JsonWalk.element(this.source, this.offset, steps[i]);
			if (at == JsonWalk.TWICE) {
				return refuseStep(slot, i, "has the member '" + text(steps[i]) + "' twice");
			}
			if (at < 0) {
				boolean number = object || text(steps[i]).matches("[0-9]+");
				return (number) ? State.ABSENT
						: refuseStep(slot, i, "is an array, of which an element is named by its" + " number, as in {"
								+ path(slot, i) + ".0}; rows=items:" + path(slot, i) + " makes a row of each");
			}
			state = enter(at);
		}
		return state;
	}

	/** Finds the value at an index of compact JSON. A string is decoded. */
	private State enter(int at) {
		int end = JsonWalk.skip(this.source, at);
		byte first = this.source[at];
		this.offset = at;
		this.length = end - at;
		if (first != '"') {
			return isBracket(first) ? State.COMPOSITE : (first == 'n') ? State.NULL : State.SCALAR;
		}
		copy();
		try {
			this.cursor.begin(this.copies.bytes(), this.copies.start(), this.copies.start() + this.length);
			this.cursor.readValue(0);
		}
		catch (JsonFault fault) {
			throw new IllegalStateException("JSON that was read before is not JSON now", fault);
		}
		this.source = this.copies.bytes();
		this.offset = this.cursor.offset();
		this.length = this.cursor.length();
		return State.TEXT;
	}

	/** The index of a bracket, before which there may be blanks. */
	private int firstBracket(int from) {
		int at = from;
		while (JsonCursor.isWhitespace(this.source[at])) {
			at++;
		}
		return at;
	}

	private State refuseStep(Slot slot, int step, String what) {
		refuse(Rejection.MALFORMED, noun() + " '" + path(slot, step) + "' " + what + ", and '" + slot.setting()
				+ "' names '" + slot.pathText(this.reading) + "' in it");
		return State.ABSENT;
	}

	/** The name and the first steps of the value that is looked for. */
	private String path(Slot slot, int steps) {
		StringBuilder path = new StringBuilder(slot.nameText(this.reading));
		for (int i = 0; i < steps; i++) {
			path.append('.').append(text(slot.steps(this.reading)[i]));
		}
		return Excerpt.of(path.toString());
	}

	private static String text(byte[] step) {
		return new String(step, StandardCharsets.UTF_8);
	}

	/** Names the value that was found last. */
	private String describe(State state) {
		return switch (state) {
			case ABSENT -> "missing";
			case NULL -> emptiness();
			case TEXT -> (this.length == 0) ? "an empty text"
					: "the text '" + Excerpt.of(this.source, this.offset, this.length) + "'";
			case SCALAR -> Excerpt.of(this.source, this.offset, this.length);
			case COMPOSITE -> (this.source[this.offset] == '{') ? "an object" : "an array";
			case BYTES -> "bytes";
		};
	}

	/** Whether the row lacks one of the values of an argument, so that its group goes. */
	final boolean lacksValue(Part part) {
		for (Slot slot : part.slots()) {
			State state = look(slot);
			if (this.problem == null && !state.isValue() && slot.otherwise(this.reading) == null) {
				return true;
			}
		}
		return false;
	}

	/** Whether a spread makes any argument. */
	final boolean yields(Spread spread) {
		if (spread.isOfRow() && isObject()) {
			return true;
		}
		State state = look(spread.slot());
		if (this.problem != null) {
			return true;
		}
		if (!state.isValue() || (state == State.TEXT && this.length == 0)) {
			return false;
		}
		Elements elements = elements(spread, state);
		if (elements == null) {
			return true;
		}
		while (elements.next()) {
			boolean empty = elements.state() == State.TEXT && elements.length() == 0;
			Place place = (elements.areMembers()) ? Place.PAIR : Place.ELEMENT;
			if (place.decide(elements.state(), empty, this.nulls, false) != Verdict.LEAVE_OUT) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The elements of the value that was found last.
	 * @return {@code null} if the row is refused
	 */
	final @Nullable Elements elements(Spread spread, State state) {
		if ((state == State.COMPOSITE || state == State.TEXT) && beginElements()) {
			return this.elements;
		}
		String text = new String(this.source, this.offset, this.length, StandardCharsets.UTF_8).strip();
		boolean list = state == State.TEXT && isEnclosed(text);
		boolean apart = state == State.TEXT && !list && !spread.slot().separator().isEmpty();
		boolean single = state == State.SCALAR || (state == State.TEXT && !this.table && !list);
		if (spread.pairs() || state == State.BYTES || (!apart && !single)) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + spread.slot().pathText(this.reading) + "' is " + describe(state) + ", and '"
							+ spread.slot().setting() + "' spreads it: it takes "
							+ ((spread.pairs()) ? "an object of JSON"
									: "an array of JSON, or a text with a separator, as in {"
											+ spread.slot().pathText(this.reading) + "...(,)}"
											+ ((list) ? "; brackets around it are those of another language" : "")));
			return null;
		}
		this.elements.begin(this.source, this.offset, this.length, state, (apart) ? spread.slot().separator() : "");
		return this.elements;
	}

	/** Whether a text begins with a bracket and ends with its partner. */
	private static boolean isEnclosed(String text) {
		int bracket = (text.length() > 1) ? "[{(".indexOf(text.charAt(0)) : -1;
		return bracket >= 0 && text.charAt(text.length() - 1) == "]})".charAt(bracket);
	}

	/** Whether the record may have further bytes; it is refused if it may not. */
	protected final boolean fits(long more) {
		boolean fits = this.size + more <= this.limit.bytes();
		if (!fits) {
			refuse(Rejection.TOO_LARGE, "the record that the templates make is larger than " + this.limit.bytes()
					+ " bytes (pipeset.limits.max-record-bytes)");
		}
		return fits;
	}

	/** Refuses the row because of a value that its place does not take. */
	final void refuseValue(Slot slot, Place place, State state) {
		String name = slot.pathText(this.reading);
		refuse(Rejection.MALFORMED, noun() + " '" + name + "' is " + describe(state) + ", and '" + slot.setting()
				+ "' names it" + remedy(slot.setting(), place, state, name));
	}

	/** The spelling that would take a value. */
	private String remedy(String setting, Place place, State state, String name) {
		boolean absent = state == State.ABSENT;
		if (state == State.COMPOSITE) {
			return (place == Place.MEMBER)
					? " as one member: {" + name + "...} takes each element, {" + name + ":json} the array as a text"
					: (place == Place.JSON_STRING) ? " between quotes: write it without quotes around it"
							: (this.source[this.offset] == '{')
									? ", which takes a text: name a member of it, as in {" + name + ".id}, or {" + name
											+ ":json}"
									: ", which takes a text: {" + name + ".0} is its first element, and rows=items:"
											+ name + " makes a row of each, which {@value} names";
		}
		String or = "; a default takes its place, as in {" + name + "|0}";
		return switch (place) {
			case JSON_STRING -> or + "; without quotes around it, {" + name + ":json} is null for a null";
			case JSON -> (absent) ? or : "; {" + name + ":json} is a text in quotes";
			case VALUE -> (absent) ? or : "; nulls=empty takes it for an empty string, nulls=delete deletes the key";
			case FIELD -> "; nulls=skip leaves it out, nulls=empty takes it for an empty string";
			case SPREAD_FIELDS, OPTION -> "; nulls=skip leaves it out";
			case ARGUMENT, MEMBER, SPREAD -> Nulls.IN_ARGUMENTS + ((setting.equals("command"))
					? ", as in SET {id} {name} [ EX {secs} ]" : ", as in args=[&args=EX&args={secs}&args=]");
			default -> or;
		};
	}

	/** The texts of the values that were looked for, and that no row had. */
	final List<String> neverFound() {
		return this.slots.stream()
			.filter((slot) -> this.looked[slot.number()] && !this.found[slot.number()])
			.map(Slot::text)
			.distinct()
			.toList();
	}

	/** Refuses the row, unless it is refused already. */
	protected final void refuse(String code, String message) {
		if (this.problem == null) {
			this.problem = new Rejection(code, message);
		}
	}

	/**
	 * The bytes of this row that stand nowhere as they are needed. They are forgotten
	 * when the next row begins.
	 * @return the same object for all rows
	 */
	protected final ArgumentBytes composed() {
		return this.copies;
	}

}
