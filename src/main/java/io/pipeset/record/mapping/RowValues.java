package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;

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
import io.pipeset.record.mapping.Place.Verdict;
import io.pipeset.record.mapping.RecordTemplate.Part;
import io.pipeset.record.mapping.RecordTemplate.Spread;
import org.jspecify.annotations.Nullable;

/**
 * The text that a template makes of the values of one row. A value that is an argument by
 * itself is not copied; one that is a part of an argument is copied once.
 */
abstract class RowValues extends RowNames {

	private static final byte[] JSON_NULL = { 'n', 'u', 'l', 'l' };

	private final Nulls nulls;

	private final JsonCursor cursor = new JsonCursor();

	/** The elements of an array that is made one text, perhaps among other elements. */
	private final Elements joined = new Elements();

	private final boolean table;

	private final RecordLimit limit;

	/** Arrays that begin with the text before the only name of a template. */
	private final byte[][] prepared;

	/** The arguments that are put together of several parts. */
	private final ArgumentBytes made;

	private @Nullable ZoneId zone;

	/** The bytes of the arguments so far. */
	private long size;

	private boolean deletes;

	RowValues(Templates templates, Nulls nulls, boolean table, RecordLimit limit) {
		super(templates, new ArgumentBytes(limit.memory()));
		this.nulls = nulls;
		this.table = table;
		this.limit = limit;
		this.made = new ArgumentBytes(limit.memory());
		this.prepared = new byte[templates.parts()][];
	}

	/** Forgets the last row. */
	final void clear() {
		this.made.clear();
		composed().clear();
		forget(null);
		this.size = 0;
	}

	/** Begins a record of the row. */
	final void beginRecord(@Nullable Rejection problem) {
		forget(problem);
		this.size = 0;
		this.deletes = false;
	}

	/** Sets the zone of timestamps without one; {@code null} if they are refused. */
	final void setZone(@Nullable ZoneId zone) {
		this.zone = zone;
	}

	protected final Nulls nulls() {
		return this.nulls;
	}

	/** Whether a null makes the record a DEL of its key. */
	final boolean deletes() {
		return this.deletes;
	}

	/** Counts bytes of the record. */
	final void addSize(long bytes) {
		this.size += bytes;
	}

	/**
	 * Finds the value of a template.
	 * @return {@code false} if it is left out, or the row is refused
	 */
	final boolean find(Part part, Place place, Encoding encoding) {
		int name = part.onlyName();
		State state = (name >= 0) ? state(name) : State.ABSENT;
		boolean plain = (state == State.TEXT || state == State.SCALAR) && length(name) > 0;
		if (!plain || ((place == Place.KEY || place == Place.MEMBER) && mayBeComposite(source(name)[offset(name)]))) {
			return compose(part, place, encoding);
		}
		markFound(part.slots()[0]);
		int before = part.literals()[0].length;
		boolean decodes = encoding != Encoding.UTF8 && state == State.TEXT;
		int length = length(name);
		if (before == 0) {
			setFound(state, source(name), offset(name), length, encoding);
		}
		else if (decodes || before + length > Part.PREPARED_BYTES) {
			return compose(part, place, encoding);
		}
		else {
			byte[] prepared = prepared(part);
			System.arraycopy(source(name), offset(name), prepared, before, length);
			setFound(State.SCALAR, prepared, 0, before + length, encoding);
		}
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
		if (problem() != null) {
			return false;
		}
		byte[] otherwise = slot.otherwise(reading());
		if (!state.isValue() && otherwise != null) {
			this.made.append(otherwise, 0, otherwise.length);
			return true;
		}
		Form form = slot.form(reading());
		boolean shaped = form != null && place != Place.OPTION;
		State judged = (shaped && state == State.COMPOSITE) ? State.SCALAR
				: (!shaped && isComposite(place, state)) ? State.COMPOSITE : state;
		boolean empty = state == State.TEXT && foundLength() == 0 && !shaped;
		Verdict verdict = place.decide(judged, empty, this.nulls, this.table);
		if (judged == State.COMPOSITE && place == Place.MEMBER && firstBracket() == '[') {
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
					refuse(Rejection.MALFORMED, noun() + " '" + slot.pathText(reading()) + "' is " + emptiness()
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

	/** Whether a value is an array or an object, also as a text where it must be one. */
	private boolean isComposite(Place place, State state) {
		return (state == State.TEXT && (place == Place.KEY || place == Place.MEMBER))
				? isComposite(foundSource(), foundOffset(), foundLength()) : state == State.COMPOSITE;
	}

	/** Whether a text is an array or an object of JSON. */
	final boolean isComposite(byte[] source, int offset, int length) {
		if (length == 0 || !mayBeComposite(source[offset])) {
			return false;
		}
		composed().begin();
		composed().append(source, offset, length);
		try {
			this.cursor.begin(composed().bytes(), composed().start(), composed().start() + length);
			boolean bracket = this.cursor.isNext('[') || this.cursor.isNext('{');
			this.cursor.readValue(0);
			this.cursor.expectEnd();
			return bracket && this.cursor.contentFault() == null;
		}
		catch (JsonFault fault) {
			return false;
		}
	}

	private boolean take(Slot slot, Place place, @Nullable Form form, State state, Encoding encoding) {
		if (!fits((long) this.made.length() + foundLength())) {
			return false;
		}
		int before = this.made.length();
		if (form != null) {
			if (!apply(form, slot, state)) {
				return false;
			}
			this.made.append(foundSource(), foundOffset(), foundLength());
		}
		else if (encoding == Encoding.UTF8 || state != State.TEXT) {
			this.made.append(foundSource(), foundOffset(), foundLength());
		}
		else if (!this.made.appendBase64(foundSource(), foundOffset(), foundLength())) {
			refuse(Rejection.MALFORMED, Record.base64Problem(foundSource(), foundOffset(), foundLength()));
			return false;
		}
		boolean sure = form == null && state != State.TEXT && state != State.BYTES;
		if ((place == Place.JSON && !sure && !isJson(before)) || (place == Place.JSON_STRING && !isPlain(before))) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + slot.pathText(reading()) + "' is '"
							+ Excerpt.of(this.made.bytes(), this.made.start() + before, this.made.length() - before)
							+ "', and '" + slot.setting() + "' is JSON: "
							+ ((place == Place.JSON) ? "outside of quotes it would be no JSON"
									: "between quotes it would be other JSON, or none")
							+ "; {" + slot.pathText(reading()) + ":json} without quotes around it takes any text");
			return false;
		}
		return true;
	}

	/** Whether what was appended last is JSON. */
	private boolean isJson(int before) {
		composed().begin();
		composed().append(this.made.bytes(), this.made.start() + before, this.made.length() - before);
		try {
			this.cursor.begin(composed().bytes(), composed().start(), composed().start() + composed().length());
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
			composed().begin();
			problem = form.append(composed(), state, foundSource(), foundOffset(), foundLength(), this.zone);
		}
		if (problem != null) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + slot.pathText(reading()) + "' is not of the form " + form + ": " + problem);
			return false;
		}
		setFound(State.BYTES, composed().bytes(), composed().start(), composed().length(), Encoding.UTF8);
		return true;
	}

	/** Makes the elements of an array one text. */
	private @Nullable String join(Form form, State state) {
		if ((state != State.COMPOSITE && state != State.TEXT) || !begin(this.joined) || this.joined.areMembers()) {
			return "'" + Excerpt.of(foundSource(), foundOffset(), foundLength()) + "' is no array of JSON";
		}
		byte[] separator = form.separator().getBytes(StandardCharsets.UTF_8);
		composed().begin();
		boolean first = true;
		while (this.joined.next()) {
			State element = this.joined.state();
			if (!element.isValue() || element == State.COMPOSITE) {
				return "it has " + ((element == State.COMPOSITE) ? "an array or object" : "a null")
						+ " among its elements";
			}
			String text = new String(this.joined.source(), this.joined.offset(), this.joined.length(),
					StandardCharsets.UTF_8);
			if (text.contains(form.separator())) {
				return "its element '" + Excerpt.of(text) + "' has the separator in it";
			}
			composed().append(separator, 0, (first) ? 0 : separator.length);
			composed().append(this.joined.source(), this.joined.offset(), this.joined.length());
			first = false;
		}
		return null;
	}

	/** Whether the row lacks one of the values of an argument, so that its group goes. */
	final boolean lacksValue(Part part) {
		for (Slot slot : part.slots()) {
			State state = look(slot);
			if (problem() == null && !state.isValue() && slot.otherwise(reading()) == null) {
				return true;
			}
		}
		return false;
	}

	/** Whether a spread of the row makes any argument. */
	protected abstract boolean hasMembers();

	/** Whether a spread makes any argument. */
	final boolean yields(Spread spread) {
		if (spread.isOfRow() && isObject()) {
			return hasMembers();
		}
		State state = look(spread.slot());
		if (problem() != null) {
			return true;
		}
		if (!state.isValue() || (state == State.TEXT && foundLength() == 0)) {
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
		if ((state == State.COMPOSITE || state == State.TEXT) && begin(elements())) {
			return elements();
		}
		String text = new String(foundSource(), foundOffset(), foundLength(), StandardCharsets.UTF_8).strip();
		boolean list = state == State.TEXT && isEnclosed(text);
		boolean apart = state == State.TEXT && !list && !spread.slot().separator().isEmpty();
		boolean single = state == State.SCALAR || (state == State.TEXT && !this.table && !list);
		if (spread.pairs() || state == State.BYTES || (!apart && !single)) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + spread.slot().pathText(reading()) + "' is " + describe(spread.slot(), state)
							+ ", and '" + spread.slot().setting() + "' spreads it: it takes "
							+ ((spread.pairs()) ? "an object of JSON"
									: "an array of JSON, or a text with a separator, as in {"
											+ spread.slot().pathText(reading()) + "...(,)}"
											+ ((list) ? "; brackets around it are those of another language" : "")));
			return null;
		}
		elements().begin(foundSource(), foundOffset(), foundLength(), state, (apart) ? spread.slot().separator() : "");
		return elements();
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

	/** How an argument that is null or missing is taken. */
	private static String groups(String setting, boolean absent) {
		return ((absent) ? "; a group leaves it out" : Nulls.IN_ARGUMENTS) + ((setting.equals("command"))
				? ", as in SET {id} {name} [ EX {secs} ]" : ", as in args=[&args=EX&args={secs}&args=]");
	}

	/** Refuses the row because of a value that its place does not take. */
	final void refuseValue(Slot slot, Place place, State state) {
		String name = slot.pathText(reading());
		refuse(Rejection.MALFORMED, noun() + " '" + name + "' is " + describe(slot, state) + ", and '" + slot.setting()
				+ "' names it" + remedy(slot.setting(), place, state, name));
	}

	/** The spelling that would take a value. */
	private String remedy(String setting, Place place, State state, String name) {
		boolean absent = state == State.ABSENT;
		if (state == State.COMPOSITE) {
			return (place == Place.MEMBER)
					? " as one member: {" + name + "...} takes each element, {" + name + ":json} the array as a text"
					: (place == Place.JSON_STRING) ? " between quotes: write it without quotes around it"
							: (firstBracket() == '{')
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
			case ARGUMENT, MEMBER -> ((absent) ? or : "") + groups(setting, absent);
			case SPREAD -> groups(setting, absent);
			default -> or;
		};
	}

}
