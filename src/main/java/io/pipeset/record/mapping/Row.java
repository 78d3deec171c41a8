package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.Timestamps;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row or object, from which templates build a record. Values are
 * numbered by their names in {@link Templates}. One object serves all rows of a job. A
 * value that is a complete argument is not copied. A value that is part of an argument is
 * copied once.
 */
public abstract class Row {

	/** Stands for the length of a null. */
	protected static final int NULL = -1;

	/** Stands for the length of a value that the row does not have. */
	protected static final int ABSENT = -2;

	/** Explains why a null argument is always refused. */
	public static final String NULL_IN_ARGUMENTS = "; 'nulls' does not apply to arguments, because the arguments after a null would move";

	private static final int MAX_ID_BYTES = 256;

	private final Templates templates;

	private final Operation operation;

	private final Nulls nulls;

	/**
	 * What to do with a null in SET's value, which is required, and in arguments, where
	 * leaving it out would move later arguments.
	 */
	private final Nulls nullsInArguments;

	/** What to do with a null in an expiry or an id, which cannot be an empty string. */
	private final Nulls nullsInTexts;

	private final RecordLimit limit;

	/**
	 * The bytes of values that had to be copied, such as arguments joined from several
	 * parts.
	 */
	private final ArgumentBytes composed;

	/** Whether the templates build more arguments than a record may have. */
	private final boolean tooManyArguments;

	private final byte[][] fieldNames;

	/** The size of the arguments so far, in bytes. */
	private long size;

	private @Nullable Rejection problem;

	/** The array of the current value, found last. */
	private byte[] source = {};

	private int offset;

	private int length;

	/** Whether the current value is a single string that still has to be decoded. */
	private boolean string;

	/**
	 * Creates a row without values.
	 * @param templates the templates, which number the values
	 */
	protected Row(Templates templates, Nulls nulls, RecordLimit limit) {
		this.templates = templates;
		this.operation = templates.operation();
		this.nulls = nulls;
		this.nullsInArguments = (this.operation == Operation.SET && nulls == Nulls.EMPTY) ? Nulls.EMPTY : Nulls.REFUSE;
		this.nullsInTexts = (nulls == Nulls.EMPTY) ? Nulls.SKIP : nulls;
		this.limit = limit;
		this.composed = new ArgumentBytes(limit.memory());
		this.tooManyArguments = templates.maxArguments() > limit.arguments();
		int[] fields = templates.fields();
		this.fieldNames = (fields != null) ? Arrays.stream(fields)
			.mapToObj((slot) -> templates.names().get(slot).getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new) : new byte[0][];
	}

	/** Clears the previous row. */
	protected final void begin() {
		this.composed.clear();
		this.size = 0;
		this.problem = null;
	}

	/**
	 * The length of a value.
	 * @param name the number of its name
	 * @return its length in bytes, {@link #NULL} or {@link #ABSENT}
	 */
	protected abstract int length(int name);

	/** The array that holds an existing value. It must not change before the next row. */
	protected abstract byte[] source(int name);

	/** The index of an existing value's first byte in its array. */
	protected abstract int offset(int name);

	/** Whether an existing value is a string, to which the record's encoding applies. */
	protected abstract boolean isString(int name);

	/**
	 * Takes the bytes of this row that the body does not hold in the needed form. They
	 * are cleared when the next row begins.
	 * @return the same object for all rows
	 */
	protected final ArgumentBytes composed() {
		return this.composed;
	}

	/**
	 * Builds a record from the row; it may be refused.
	 * @param record the record to fill, which has just begun
	 * @param fault the reason to refuse the row; {@code null} for a valid one
	 */
	protected final void fill(Record record, @Nullable Rejection fault) {
		record.operation(this.operation);
		Rejection refused = fault;
		identify(record);
		if (refused == null && this.problem == null) {
			complete(record);
		}
		refused = (refused != null) ? refused : this.problem;
		if (refused != null && record.rejection() == null) {
			record.reject(refused.code(), refused.message());
		}
		else {
			record.check();
		}
	}

	/**
	 * Adds a field for each value of the row, with {@link #addField} and
	 * {@link #addNullField}.
	 */
	protected abstract void addFields(Record record);

	/** The word for a named value in messages: column or member. */
	protected abstract String noun();

	/** The word for a null in messages: empty or null. */
	protected abstract String emptiness();

	/** Sets the id and the key. A report needs them for valid and for refused records. */
	private void identify(Record record) {
		Templates.Part id = this.templates.id();
		if (id != null && find(id, this.nullsInTexts, Encoding.UTF8)) {
			if (this.length > MAX_ID_BYTES) {
				refuse(Rejection.MALFORMED, "'id' takes at most " + MAX_ID_BYTES + " bytes, not " + this.length);
			}
			else {
				record.id(new String(this.source, this.offset, this.length, StandardCharsets.UTF_8));
			}
		}
		Templates.Part key = this.templates.key();
		if (key != null && find(key, Nulls.REFUSE, record.encoding())) {
			addCurrent(record);
		}
	}

	private void complete(Record record) {
		Templates.Part ttl = this.templates.ttl();
		if (ttl != null && find(ttl, this.nullsInTexts, Encoding.UTF8)
				&& !record.ttl(this.source, this.offset, this.length)) {
			refuseExpiry(ttl, Expiry.ALLOWED);
		}
		Templates.Part expireAt = this.templates.expireAt();
		if (expireAt != null && find(expireAt, this.nullsInTexts, Encoding.UTF8)
				&& !record.expireAt(this.source, this.offset, this.length)) {
			refuseExpiry(expireAt, Timestamps.ALLOWED);
		}
		for (Templates.Part argument : this.templates.arguments()) {
			if (find(argument, this.nullsInArguments, record.encoding())) {
				addCurrent(record);
			}
		}
		if (this.operation == Operation.HSET) {
			int[] fields = this.templates.fields();
			if (fields != null) {
				addFields(record, fields);
			}
			else {
				addFields(record);
			}
			if (record.argumentCount() == 1 && record.rejection() == null) {
				refuse(Rejection.MALFORMED, "the row has no field: no " + noun() + " of it has a value");
			}
		}
	}

	private void refuseExpiry(Templates.Part part, String allowed) {
		refuse(Rejection.MALFORMED, "'" + part.setting() + "' takes " + allowed + ", not '"
				+ Excerpt.of(this.source, this.offset, this.length) + "'");
	}

	private void addFields(Record record, int[] fields) {
		for (int i = 0; i < fields.length; i++) {
			int slot = fields[i];
			byte[] name = this.fieldNames[i];
			int length = length(slot);
			if (length >= 0) {
				addField(record, name, 0, name.length, source(slot), offset(slot), length, isString(slot));
			}
			else if (length == ABSENT || this.nulls == Nulls.REFUSE) {
				refuseMissing(slot, "fields");
			}
			else if (this.nulls == Nulls.EMPTY) {
				addField(record, name, 0, name.length, name, 0, 0, false);
			}
		}
	}

	/**
	 * Adds a field.
	 * @param string whether the value is a string, to which the record's encoding applies
	 */
	protected final void addField(Record record, byte[] name, int nameOffset, int nameLength, byte[] value, int offset,
			int length, boolean string) {
		if (record.argumentCount() + 2 > this.limit.arguments()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		else if (fits((long) nameLength + length)) {
			this.size += (long) nameLength + length;
			record.argument(name, nameOffset, nameLength);
			if (string) {
				record.string(value, offset, length);
			}
			else {
				record.argument(value, offset, length);
			}
		}
	}

	/** Adds, leaves out or refuses a field whose value is null. */
	protected final void addNullField(Record record, byte[] name, int nameOffset, int nameLength) {
		if (this.nulls == Nulls.EMPTY) {
			addField(record, name, nameOffset, nameLength, name, nameOffset, 0, false);
		}
		else if (this.nulls == Nulls.REFUSE) {
			refuse(Rejection.MALFORMED, noun() + " '" + Excerpt.of(name, nameOffset, nameLength) + "' is " + emptiness()
					+ advice("fields"));
		}
	}

	/** Adds the current value to the arguments. */
	private void addCurrent(Record record) {
		if (this.tooManyArguments) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		else if (fits(this.length)) {
			this.size += this.length;
			if (this.string) {
				record.string(this.source, this.offset, this.length);
			}
			else {
				record.argument(this.source, this.offset, this.length);
			}
		}
	}

	/**
	 * Makes a template's value the current value.
	 * @return {@code false} if the value is left out, or the row is refused
	 */
	private boolean find(Templates.Part part, Nulls nulls, Encoding encoding) {
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

	/** Joins the current value from several parts. */
	private boolean compose(Templates.Part part, Nulls nulls, Encoding encoding) {
		ArgumentBytes bytes = this.composed;
		int[] slots = part.slots();
		byte[][] literals = part.literals();
		bytes.begin();
		bytes.append(literals[0], 0, literals[0].length);
		for (int i = 0; i < slots.length; i++) {
			int length = length(slots[i]);
			if (length < 0 && (length == ABSENT || nulls != Nulls.EMPTY)) {
				if (length == ABSENT || nulls == Nulls.REFUSE) {
					refuseMissing(slots[i], part.setting());
				}
				return false;
			}
			if (length > 0 && !append(slots[i], length, encoding)) {
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

	private boolean append(int name, int length, Encoding encoding) {
		if (!fits((long) this.composed.length() + length)) {
			return false;
		}
		if (encoding == Encoding.UTF8 || !isString(name)) {
			this.composed.append(source(name), offset(name), length);
			return true;
		}
		boolean decoded = this.composed.appendBase64(source(name), offset(name), length);
		if (!decoded) {
			refuse(Rejection.MALFORMED, Record.base64Problem(source(name), offset(name), length));
		}
		return decoded;
	}

	/** Whether the record may have further bytes. If not, it is refused. */
	protected final boolean fits(long more) {
		boolean fits = this.size + more <= this.limit.bytes();
		if (!fits) {
			refuse(Rejection.TOO_LARGE, "the record built by the templates is larger than " + this.limit.bytes()
					+ " bytes (pipeset.limits.max-record-bytes)");
		}
		return fits;
	}

	private void refuseMissing(int slot, String setting) {
		boolean absent = length(slot) == ABSENT;
		refuse(Rejection.MALFORMED,
				noun() + " '" + Excerpt.of(this.templates.names().get(slot)) + "' is "
						+ ((absent) ? "missing" : emptiness()) + ", and '" + setting + "' names it"
						+ ((absent) ? "" : advice(setting)));
	}

	/** The advice for a null in a value that a setting names. */
	private static String advice(String setting) {
		return switch (setting) {
			case "key" -> "";
			case "args" -> NULL_IN_ARGUMENTS;
			case "ttl", "expireAt", "id" -> "; nulls=skip leaves it out";
			case "value" -> "; nulls=empty takes it for an empty string";
			default -> "; nulls=skip leaves it out, nulls=empty takes it for an empty string";
		};
	}

	/** Refuses the row, unless it is already refused. */
	protected final void refuse(String code, String message) {
		if (this.problem == null) {
			this.problem = new Rejection(code, message);
		}
	}

}
