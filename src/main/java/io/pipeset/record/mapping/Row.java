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
 * The values of one row or object, which templates make a record of. A format knows the
 * values by the numbers of their names. A job has all its rows in one object. A value
 * that is an argument by itself is not copied; one that is a part of an argument is
 * copied once.
 */
public abstract class Row {

	/** The length of a value that is null. */
	protected static final int NULL = -1;

	/** The length of a value that the row does not have. */
	protected static final int ABSENT = -2;

	/** Why a null among arguments is refused whatever nulls mean elsewhere. */
	public static final String NULL_IN_ARGUMENTS = "; 'nulls' is not for arguments, as those behind a null would move";

	private static final int MOST_ID_BYTES = 256;

	private final Templates templates;

	private final Operation operation;

	private final Nulls nulls;

	/**
	 * The meaning of a null in SET's value, which it has to have, and in arguments, where
	 * it would move those behind it.
	 */
	private final Nulls nullsInArguments;

	/** The meaning of a null in an expiry or an id, which are no empty texts. */
	private final Nulls nullsInTexts;

	private final RecordLimit limit;

	/** The arguments that are put together of several parts. */
	private final ArgumentBytes made;

	/** Whether the templates make more arguments than a record may have. */
	private final boolean tooMany;

	private final byte[][] fieldNames;

	/** The bytes of the arguments so far. */
	private long size;

	private @Nullable Rejection problem;

	/** The value that was found last. */
	private byte[] source = {};

	private int offset;

	private int length;

	/** Whether it is a single string, which is still to be decoded. */
	private boolean string;

	/**
	 * Has no values yet.
	 * @param templates the templates, whose names number the values
	 */
	protected Row(Templates templates, Nulls nulls, RecordLimit limit) {
		this.templates = templates;
		this.operation = templates.operation();
		this.nulls = nulls;
		this.nullsInArguments = (this.operation == Operation.SET && nulls == Nulls.EMPTY) ? Nulls.EMPTY : Nulls.REFUSE;
		this.nullsInTexts = (nulls == Nulls.EMPTY) ? Nulls.SKIP : nulls;
		this.limit = limit;
		this.made = new ArgumentBytes(limit.room());
		this.tooMany = templates.mostArguments() > limit.arguments();
		int[] fields = templates.fields();
		this.fieldNames = (fields != null) ? Arrays.stream(fields)
			.mapToObj((slot) -> templates.names().get(slot).getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new) : new byte[0][];
	}

	/** Forgets the last row. */
	protected final void begin() {
		this.made.clear();
		this.size = 0;
		this.problem = null;
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
	 * The bytes of this row that stand nowhere as they are needed. They are forgotten
	 * when the next row begins.
	 * @return the same object for all rows
	 */
	protected final ArgumentBytes made() {
		return this.made;
	}

	/**
	 * Makes a record of the row, good or refused.
	 * @param record the record to fill, which has just begun
	 * @param fault why the row can only be refused; {@code null} for a good one
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
	 * Adds a field for each value of the row, by {@link #addField} and
	 * {@link #addNullField}.
	 */
	protected abstract void addFields(Record record);

	/** The kind of value that has a name: a column, or a member. */
	protected abstract String noun();

	/** The adjective for a value that is null. */
	protected abstract String emptiness();

	/**
	 * Sets the id and the key, by which a report names good and refused records.
	 */
	private void identify(Record record) {
		Templates.Part id = this.templates.id();
		if (id != null && find(id, this.nullsInTexts, Encoding.UTF8)) {
			if (this.length > MOST_ID_BYTES) {
				refuse(Rejection.MALFORMED, "'id' takes at most " + MOST_ID_BYTES + " bytes, not " + this.length);
			}
			else {
				record.id(new String(this.source, this.offset, this.length, StandardCharsets.UTF_8));
			}
		}
		Templates.Part key = this.templates.key();
		if (key != null && find(key, Nulls.REFUSE, record.encoding())) {
			addFound(record);
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
				addFound(record);
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
				refuseLack(slot, "fields");
			}
			else if (this.nulls == Nulls.EMPTY) {
				addField(record, name, 0, name.length, name, 0, 0, false);
			}
		}
	}

	/**
	 * Adds a field.
	 * @param string whether it is a string, to which the record's encoding applies
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

	/** Deals with a field whose value is null. */
	protected final void addNullField(Record record, byte[] name, int nameOffset, int nameLength) {
		if (this.nulls == Nulls.EMPTY) {
			addField(record, name, nameOffset, nameLength, name, nameOffset, 0, false);
		}
		else if (this.nulls == Nulls.REFUSE) {
			refuse(Rejection.MALFORMED, noun() + " '" + Excerpt.of(name, nameOffset, nameLength) + "' is " + emptiness()
					+ remedy("fields"));
		}
	}

	/** Adds the value that was found last to the arguments. */
	private void addFound(Record record) {
		if (this.tooMany) {
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
	 * Finds the value that a template stands for.
	 * @return {@code false} if it is left out, or the row is refused
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

	/** Puts the value together of several parts. */
	private boolean compose(Templates.Part part, Nulls nulls, Encoding encoding) {
		ArgumentBytes bytes = this.made;
		int[] slots = part.slots();
		byte[][] literals = part.literals();
		bytes.begin();
		bytes.append(literals[0], 0, literals[0].length);
		for (int i = 0; i < slots.length; i++) {
			int length = length(slots[i]);
			if (length < 0 && (length == ABSENT || nulls != Nulls.EMPTY)) {
				if (length == ABSENT || nulls == Nulls.REFUSE) {
					refuseLack(slots[i], part.setting());
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
		if (!fits((long) this.made.length() + length)) {
			return false;
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

	private void refuseLack(int slot, String setting) {
		boolean absent = length(slot) == ABSENT;
		refuse(Rejection.MALFORMED,
				noun() + " '" + Excerpt.of(this.templates.names().get(slot)) + "' is "
						+ ((absent) ? "missing" : emptiness()) + ", and '" + setting + "' names it"
						+ ((absent) ? "" : remedy(setting)));
	}

	/** The advice for a value that is null, which a setting names. */
	private static String remedy(String setting) {
		return switch (setting) {
			case "key" -> "";
			case "args" -> NULL_IN_ARGUMENTS;
			case "ttl", "expireAt", "id" -> "; nulls=skip leaves it out";
			case "value" -> "; nulls=empty takes it for an empty string";
			default -> "; nulls=skip leaves it out, nulls=empty takes it for an empty string";
		};
	}

	/** Refuses the row, unless it is refused already. */
	protected final void refuse(String code, String message) {
		if (this.problem == null) {
			this.problem = new Rejection(code, message);
		}
	}

}
