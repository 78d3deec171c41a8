package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Rejection;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonWalk;
import org.jspecify.annotations.Nullable;

/** What one row has under a name, and under the steps from there. */
abstract class RowNames {

	private final List<Slot> slots;

	/** Whether each value was looked for, and whether it was there, in any row. */
	private final boolean[] looked;

	private final boolean[] found;

	/** Values that do not stand in the row as they are needed, until the next row. */
	private final ArgumentBytes copies;

	private final Elements elements = new Elements();

	private final JsonCursor cursor = new JsonCursor();

	private @Nullable Rejection problem;

	/** The value that was found last. */
	private byte[] source = {};

	private int offset;

	private int length;

	/** Whether it is a single string, which is still to be decoded. */
	private boolean string;

	/** Which reading of its slot it has. */
	private int reading;

	RowNames(Templates templates, ArgumentBytes copies) {
		this.copies = copies;
		this.slots = templates.slots();
		this.looked = new boolean[this.slots.size()];
		this.found = new boolean[this.slots.size()];
	}

	/** Forgets what was found, and why a record was refused. */
	final void forget(@Nullable Rejection problem) {
		this.problem = problem;
	}

	/** Why the record is refused; {@code null} as long as it is good. */
	protected final @Nullable Rejection problem() {
		return this.problem;
	}

	/** The elements of a value. */
	final Elements elements() {
		return this.elements;
	}

	/** Notes that a value was found without a search. */
	final void markFound(Slot slot) {
		this.found[slot.number()] = true;
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

	static boolean isBracket(byte b) {
		return b == '[' || b == '{';
	}

	/** Whether a text that begins so may be an array or an object of JSON. */
	static boolean mayBeComposite(byte b) {
		return isBracket(b) || JsonCursor.isWhitespace(b);
	}

	final void copy() {
		this.copies.begin();
		this.copies.append(this.source, this.offset, this.length);
	}

	/** Begins to read the elements of the value that was found last. */
	final boolean begin(Elements elements) {
		copy();
		return elements.begin(this.copies.bytes(), this.copies.start(), this.copies.start() + this.length);
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
		boolean good = this.problem == null;
		if (steps.length > 0 && state != State.ABSENT) {
			state = walk(slot, state, steps);
		}
		this.looked[slot.number()] |= good;
		this.found[slot.number()] |= state != State.ABSENT || (good && this.problem != null);
		return state;
	}

	/** Goes from the value that was found last into its members and elements. */
	private State walk(Slot slot, State from, byte[][] steps) {
		State state = from;
		boolean entered = false;
		for (int i = 0; i < steps.length; i++) {
			if (state == State.TEXT && !entered) {
				entered = true;
				if (begin(this.elements)) {
					state = State.COMPOSITE;
					this.source = this.copies.bytes();
					this.offset = firstBracket(this.copies.start());
				}
			}
			if (state != State.COMPOSITE) {
				return (state == State.NULL) ? state
						: refuseStep(slot, i, "is " + describe(slot, state) + " and no object or array of JSON");
			}
			boolean object = this.source[this.offset] == '{';
			int last = (object) ? steps.length - 1 : i;
			int at = JsonWalk.ABSENT;
			// A member may have dots in its name, so the longest rest counts.
			while (at == JsonWalk.ABSENT && last >= i) {
				byte[] name = (last == i) ? steps[i] : text(steps, i, last).getBytes(StandardCharsets.UTF_8);
				at = (object) ? JsonWalk.member(this.source, this.offset, name)
						: JsonWalk.element(this.source, this.offset, name);
				last--;
			}
			String step = text(steps, i, last + 1);
			i = last + 1;
			if (at == JsonWalk.TWICE) {
				return refuseStep(slot, i, "has the member '" + step + "' twice");
			}
			if (at < 0) {
				boolean number = object || step.matches("[0-9]+");
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

	/** The bracket of the array or object that was found last. */
	final byte firstBracket() {
		return this.source[firstBracket(this.offset)];
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
		String name = slot.nameText(this.reading);
		return Excerpt.of((steps > 0) ? name + "." + text(slot.steps(this.reading), 0, steps - 1) : name);
	}

	private static String text(byte[][] steps, int from, int to) {
		StringBuilder text = new StringBuilder();
		for (int i = from; i <= to; i++) {
			text.append((i > from) ? "." : "").append(new String(steps[i], StandardCharsets.UTF_8));
		}
		return text.toString();
	}

	/** Names the value that was found last. */
	final String describe(Slot slot, State state) {
		return switch (state) {
			case ABSENT -> "missing";
			case NULL -> (slot.steps(this.reading).length > 0) ? "null" : emptiness();
			case TEXT -> (this.length == 0) ? "an empty text"
					: "the text '" + Excerpt.of(this.source, this.offset, this.length) + "'";
			case SCALAR -> Excerpt.of(this.source, this.offset, this.length);
			case COMPOSITE -> (firstBracket() == '{') ? "an object" : "an array";
			case BYTES -> "bytes";
		};
	}

	/**
	 * The texts of the values that were looked for, and that no row had.
	 * @param steps only those of which a part is a step
	 */
	final List<String> neverFound(boolean steps) {
		return this.slots.stream()
			.filter((slot) -> !steps || slot.steps(slot.readings() - 1).length > 0)
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
