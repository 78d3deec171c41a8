package io.pipeset.record.mapping;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.RecordTemplate.Part;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row, and the text that a template makes of them. A value that is an
 * argument by itself is not copied; one that is a part of an argument is copied once.
 */
abstract class RowValues {

	/** The length of a value that is null. */
	protected static final int NULL = -1;

	/** The length of a value that the row does not have. */
	protected static final int ABSENT = -2;

	private final Templates templates;

	private final RecordLimit limit;

	/** The arguments that are put together of several parts. */
	private final ArgumentBytes made;

	/** The bytes of the arguments so far. */
	private long size;

	private @Nullable Rejection problem;

	/** The value that was found last. */
	private byte[] source = {};

	private int offset;

	private int length;

	/** Whether it is a single string, which is still to be decoded. */
	private boolean string;

	RowValues(Templates templates, RecordLimit limit) {
		this.templates = templates;
		this.limit = limit;
		this.made = new ArgumentBytes(limit.memory());
	}

	/** Forgets the last row. */
	final void clear() {
		this.made.clear();
		this.problem = null;
		this.size = 0;
	}

	/** Begins a record of the row. */
	final void beginRecord(@Nullable Rejection problem) {
		this.problem = problem;
		this.size = 0;
	}

	/** Why the record is refused; {@code null} as long as it is good. */
	final @Nullable Rejection problem() {
		return this.problem;
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

	/**
	 * The length of a value.
	 * @param name the number of its name
	 * @return its length in bytes, {@link #NULL} or {@link #ABSENT}
	 */
	protected abstract int length(int name);

	/**
	 * The array that holds a value that is there. It must not change before the next row.
	 */
	protected abstract byte[] source(int name);

	/** The index in that array of the value's first byte. */
	protected abstract int offset(int name);

	/** Whether the value is a string, to which the record's encoding applies. */
	protected abstract boolean isString(int name);

	/**
	 * Finds the value of a template.
	 * @return {@code false} if it is left out, or the row is refused
	 */
	final boolean find(Part part, Nulls nulls, Encoding encoding) {
		int name = part.onlyName();
		int length = (name >= 0) ? length(name) : NULL;
		if (length < 0) {
			return compose(part, nulls, encoding);
		}
		byte[] prepared = part.prepared();
		int before = part.literals()[0].length;
		this.string = encoding != Encoding.UTF8 && isString(name);
		if (before == 0) {
			this.source = source(name);
			this.offset = offset(name);
		}
		else if (this.string || before + length > prepared.length) {
			return compose(part, nulls, encoding);
		}
		else {
			System.arraycopy(source(name), offset(name), prepared, before, length);
			this.source = prepared;
			this.offset = 0;
		}
		this.length = before + length;
		return true;
	}

	/** Puts the value together of several parts. */
	private boolean compose(Part part, Nulls nulls, Encoding encoding) {
		ArgumentBytes bytes = this.made;
		int[] slots = part.slots();
		byte[][] literals = part.literals();
		bytes.begin();
		bytes.append(literals[0], 0, literals[0].length);
		for (int i = 0; i < slots.length; i++) {
			int slot = slot(part, i);
			int length = length(slot);
			if (length < 0 && (length == ABSENT || nulls != Nulls.EMPTY)) {
				if (length == ABSENT || nulls == Nulls.REFUSE) {
					refuseLack(slot, part.setting());
				}
				return false;
			}
			Form form = (slot == slots[i]) ? part.form(i) : null;
			if ((length > 0 || (length == 0 && form != null)) && !append(slot, length, form, encoding)) {
				return false;
			}
			byte[] literal = literals[i + 1];
			if (literal.length > 0) {
				bytes.append(literal, 0, literal.length);
			}
		}
		this.source = bytes.bytes();
		this.offset = bytes.start();
		this.length = bytes.length();
		this.string = false;
		return true;
	}

	/** The number of the value for a name: the whole name wins over one with a form. */
	final int slot(Part part, int name) {
		int slot = part.slots()[name];
		return (part.form(name) != null && length(part.whole(name)) != ABSENT) ? part.whole(name) : slot;
	}

	private boolean append(int name, int length, @Nullable Form form, Encoding encoding) {
		if (!fits((long) this.made.length() + length)) {
			return false;
		}
		if (form != null) {
			String problem = form.append(this.made, source(name), offset(name), length);
			if (problem != null) {
				refuse(Rejection.MALFORMED,
						noun() + " '" + name(name) + "' is not of the form " + form + ": " + problem);
			}
			return problem == null;
		}
		if (encoding == Encoding.UTF8 || !isString(name)) {
			this.made.append(source(name), offset(name), length);
			return true;
		}
		boolean decoded = this.made.appendBase64(source(name), offset(name), length);
		if (!decoded) {
			refuse(Rejection.MALFORMED, Record.base64Problem(source(name), offset(name), length));
		}
		return decoded;
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

	final void refuseLack(int slot, String setting) {
		boolean absent = length(slot) == ABSENT;
		refuse(Rejection.MALFORMED, noun() + " '" + name(slot) + "' is " + ((absent) ? "missing" : emptiness())
				+ ", and '" + setting + "' names it" + ((absent) ? "" : remedy(setting)));
	}

	/** The advice for a value that is null, which a setting names. */
	final String remedy(String setting) {
		return switch (setting) {
			case "key" -> "";
			case "args" -> Row.NULL_IN_ARGUMENTS;
			case "command" -> Row.NULL_IN_RECORD + ": put them into a group, as in SET {id} {name} [ EX {secs} ]";
			case "ttl", "expireAt", "id" -> "; nulls=skip leaves it out";
			case "value" -> "; nulls=empty takes it for an empty string, nulls=delete deletes the key";
			default -> "; nulls=skip leaves it out, nulls=empty takes it for an empty string";
		};
	}

	final String name(int slot) {
		return Excerpt.of(this.templates.names().get(slot));
	}

	/** The word for what has a name: a column, or a member. */
	protected abstract String noun();

	/** The adjective for a value that is null. */
	protected abstract String emptiness();

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
		return this.made;
	}

}
