package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.Rejection;
import io.pipeset.record.Timestamps;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.RecordTemplate.Element;
import io.pipeset.record.mapping.RecordTemplate.Field;
import io.pipeset.record.mapping.RecordTemplate.Fields;
import io.pipeset.record.mapping.RecordTemplate.Group;
import io.pipeset.record.mapping.RecordTemplate.Part;
import io.pipeset.record.mapping.RecordTemplate.Spread;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row or object, of which templates make a record, or several. A format
 * finds the values by the numbers of their names; all else about templates is here. One
 * object serves all rows of a job. A value that is an argument by itself is not copied;
 * one that is a part of an argument is copied once.
 */
public abstract class Row extends RowValues {

	/** Why a null among arguments is refused whatever nulls mean elsewhere. */
	public static final String NULL_IN_ARGUMENTS = "; 'nulls' is not for arguments, because those after a null would"
			+ " move: put them into a group, as in args=[&args=EX&args={secs}&args=]";

	/** The same without an example. */
	static final String NULL_IN_RECORD = "; 'nulls' is not for arguments, because those after a null would move";

	private static final int MAX_ID_BYTES = 256;

	private final RecordTemplate[] records;

	private final Nulls nulls;

	/** What a null means in an expiry or an id, which cannot be empty texts. */
	private final Nulls nullsInTexts;

	private final RecordLimit limit;

	/** The records of one row, if there are several; one may refuse them all. */
	private final Record[] prepared;

	/** The record of the row that comes next. */
	private int next;

	/** The number of the row, from 0. */
	private long number;

	private byte[] digits = {};

	/** Whether a record of the row was asked for. */
	private boolean begun;

	private boolean unreadable;

	/** The commands that the row leaves out, a bit for each. */
	private long leftOut;

	private boolean isPrepared;

	/** Why all records of the row are refused. */
	private @Nullable Rejection fault;

	/** A value without elements that was spread; -1 for none. */
	private int emptySpread;

	/**
	 * Has no values yet.
	 * @param templates the templates, whose names number the values
	 */
	protected Row(Templates templates, Nulls nulls, RecordLimit limit) {
		super(templates, limit);
		this.records = templates.records();
		this.nulls = nulls;
		this.nullsInTexts = (nulls == Nulls.REFUSE) ? Nulls.REFUSE : Nulls.SKIP;
		this.limit = limit;
		this.prepared = new Record[(this.records.length > 1) ? this.records.length : 0];
		Arrays.setAll(this.prepared, (i) -> new Record(RecordDefaults.NONE, limit.memory()));
		this.next = this.records.length;
		this.number = templates.firstRow() - 1;
	}

	/** Forgets the last row, and counts this one. */
	protected final void begin() {
		this.number++;
		clear();
		this.fault = null;
		this.begun = false;
		this.isPrepared = false;
		this.unreadable = false;
		this.next = 0;
	}

	/**
	 * Begins a row that is too large to be read. The reader refuses its first record, and
	 * the row refuses the others.
	 */
	public final void skip() {
		begin();
		this.begun = true;
		this.leftOut = 0;
		this.isPrepared = true;
		this.fault = this.limit.tooLarge();
		for (int i = 0; i < this.prepared.length; i++) {
			this.prepared[i].begin(0);
			this.prepared[i].operation(this.records[i].operation());
		}
		this.next = 1;
	}

	/** Whether the row that was read last makes another record. */
	public final boolean hasNext() {
		if (this.next == 0 && !this.begun) {
			this.begun = true;
			this.leftOut = (this.unreadable || problem() != null) ? 0 : leftOut();
		}
		while (this.next < this.records.length && (this.leftOut >>> this.next & 1) != 0) {
			this.next++;
		}
		return this.next < this.records.length;
	}

	/** Finds the commands that are a group each, and lack a value: a bit for each. */
	private long leftOut() {
		long leftOut = 0;
		for (int i = 0; i < this.records.length; i++) {
			Group group = this.records[i].group();
			leftOut |= (group != null && !isWhole(group)) ? 1L << i : 0;
		}
		return leftOut;
	}

	/** The values of the row cannot be read, so that all of its records are refused. */
	protected final void setUnreadable() {
		this.unreadable = true;
	}

	/**
	 * Takes the elements of a value that is there, in their order.
	 * @param name the number of its name
	 * @param elements gets each element, or each name and value of an object
	 * @return whether the value is an array or an object, and not one value
	 */
	protected abstract Spreading spread(int name, Elements elements);

	/** The number of the row in decimal, to be read before the next row begins. */
	protected final byte[] digits() {
		this.digits = Long.toString(this.number).getBytes(StandardCharsets.US_ASCII);
		return this.digits;
	}

	/**
	 * Makes the next record of the row, good or refused.
	 * @param record the record to fill, which has just begun
	 * @param fault why the row can only be refused; {@code null} for a good one
	 */
	protected final void fill(Record record, @Nullable Rejection fault) {
		int at = this.next++;
		if (this.prepared.length == 0) {
			make(record, this.records[at], (fault != null) ? fault : problem());
			return;
		}
		if (!this.isPrepared) {
			this.isPrepared = true;
			this.fault = (fault != null) ? fault : problem();
			prepare(record.encoding());
		}
		Record made = this.prepared[at];
		record.copy(made);
		if (this.fault != null) {
			record.reject(this.fault.code(), this.fault.message());
		}
		else {
			record.check();
		}
	}

	/** Makes all records of the row, and finds out whether one of them is refused. */
	private void prepare(Encoding encoding) {
		for (int i = 0; i < this.prepared.length; i++) {
			if ((this.leftOut >>> i & 1) != 0) {
				continue;
			}
			Record record = this.prepared[i];
			record.begin(0);
			record.encoding(encoding);
			make(record, this.records[i], this.fault);
			Rejection rejection = record.rejection();
			if (rejection != null && this.fault == null) {
				this.fault = new Rejection(rejection.code(),
						rejection.message() + " (command " + (i + 1) + " of the row, none of whose commands is sent)");
			}
		}
	}

	/**
	 * Makes a record.
	 * @param fault why it can only be refused; {@code null} for a good one
	 */
	private void make(Record record, RecordTemplate template, @Nullable Rejection fault) {
		beginRecord(fault);
		this.emptySpread = -1;
		record.operation(template.operation());
		Part id = template.id();
		if (id != null && find(id, this.nullsInTexts, Encoding.UTF8)) {
			setId(record);
		}
		// The key names refused records too.
		Part key = template.key();
		if (key != null && find(key, Nulls.REFUSE, record.encoding())) {
			addFound(record);
		}
		if (problem() == null) {
			complete(record, template);
		}
		Rejection refused = problem();
		if (refused != null && record.rejection() == null) {
			record.reject(refused.code(), refused.message());
		}
		else {
			record.check();
			explainEmptySpread(record);
		}
	}

	private void setId(Record record) {
		if (foundLength() > MAX_ID_BYTES) {
			refuse(Rejection.MALFORMED, "'id' takes at most " + MAX_ID_BYTES + " bytes, not " + foundLength());
		}
		else {
			record.id(new String(foundSource(), foundOffset(), foundLength(), StandardCharsets.UTF_8));
		}
	}

	private void complete(Record record, RecordTemplate template) {
		if (this.nulls == Nulls.DELETE && isDeletion(record, template)) {
			return;
		}
		Part ttl = template.ttl();
		if (ttl != null && find(ttl, this.nullsInTexts, Encoding.UTF8)
				&& !record.ttl(foundSource(), foundOffset(), foundLength())) {
			refuseExpiry(ttl, Expiry.ALLOWED);
		}
		Part expireAt = template.expireAt();
		if (expireAt != null && find(expireAt, this.nullsInTexts, Encoding.UTF8)
				&& !record.expireAt(foundSource(), foundOffset(), foundLength())) {
			refuseExpiry(expireAt, Timestamps.ALLOWED);
		}
		List<Element> elements = template.elements();
		for (int i = 0; i < elements.size(); i++) {
			add(record, elements.get(i));
		}
		if (template.operation() == Operation.HSET && record.argumentCount() == 1 && this.emptySpread < 0
				&& record.rejection() == null) {
			refuse(Rejection.MALFORMED, "the row has no field: no " + noun() + " of it has a value");
		}
	}

	/** Makes a SET without a value a DEL of its key. */
	private boolean isDeletion(Record record, RecordTemplate template) {
		boolean deletes = template.elements().get(0) instanceof Part value && value.slots().length > 0
				&& hasNull(value);
		if (deletes) {
			record.operation(Operation.DEL);
		}
		return deletes;
	}

	private boolean hasNull(Part part) {
		for (int i = 0; i < part.slots().length; i++) {
			if (length(slot(part, i)) == NULL) {
				return true;
			}
		}
		return false;
	}

	private void refuseExpiry(Part part, String allowed) {
		refuse(Rejection.MALFORMED, "'" + part.setting() + "' takes " + allowed + ", not '"
				+ Excerpt.of(foundSource(), foundOffset(), foundLength()) + "'");
	}

	private void add(Record record, Element element) {
		if (element instanceof Part part) {
			boolean empty = this.nulls == Nulls.EMPTY && part.setting().equals("value");
			if (find(part, (empty) ? Nulls.EMPTY : Nulls.REFUSE, record.encoding())) {
				addFound(record);
			}
		}
		else if (element instanceof Fields fields) {
			addFields(record, fields.fields());
		}
		else if (element instanceof Spread spread) {
			addSpread(record, spread);
		}
		else if (element instanceof Group group && isWhole(group)) {
			for (Element inner : group.elements()) {
				add(record, inner);
			}
		}
	}

	/** Whether the row has a value for each name in a group. */
	private boolean isWhole(Group group) {
		for (Element element : group.elements()) {
			if (element instanceof Spread spread && (length(spread.slot()) < 0 || hasNoElements(spread.slot()))) {
				return false;
			}
			if (element instanceof Part part) {
				for (int i = 0; i < part.slots().length; i++) {
					if (length(slot(part, i)) < 0) {
						return false;
					}
				}
			}
		}
		return true;
	}

	/** Whether a value that is there is an array or an object without elements. */
	protected boolean hasNoElements(int slot) {
		if (isString(slot) || length(slot) != 2) {
			return false;
		}
		byte[] source = source(slot);
		int offset = offset(slot);
		return (source[offset] == '[' && source[offset + 1] == ']')
				|| (source[offset] == '{' && source[offset + 1] == '}');
	}

	private void addFields(Record record, @Nullable List<Field> fields) {
		if (fields == null) {
			addFields(record);
			return;
		}
		for (int i = 0; i < fields.size(); i++) {
			Field field = fields.get(i);
			Part part = field.part();
			Spread spread = field.spread();
			byte[] name = field.name();
			if (spread != null) {
				addSpread(record, spread);
			}
			else if (part != null && find(part, this.nulls, record.encoding())) {
				addField(record, name, 0, name.length, foundSource(), foundOffset(), foundLength(), foundString());
			}
		}
	}

	/**
	 * Adds a field for each value of the row, by {@link #addField} and
	 * {@link #addNullField}.
	 */
	protected abstract void addFields(Record record);

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
			addSize((long) nameLength + length);
			record.argument(name, nameOffset, nameLength);
			addValue(record, value, offset, length, string);
		}
	}

	/** Handles a field whose value is null. */
	protected final void addNullField(Record record, byte[] name, int nameOffset, int nameLength) {
		if (this.nulls == Nulls.EMPTY) {
			addField(record, name, nameOffset, nameLength, name, nameOffset, 0, false);
		}
		else if (this.nulls == Nulls.REFUSE) {
			refuse(Rejection.MALFORMED, noun() + " '" + Excerpt.of(name, nameOffset, nameLength) + "' is " + emptiness()
					+ remedy("fields"));
		}
	}

	private void addSpread(Record record, Spread spread) {
		int slot = spread.slot();
		if (length(slot) < 0) {
			boolean skipped = spread.setting().equals("fields") && this.nulls != Nulls.REFUSE && length(slot) == NULL;
			if (!skipped) {
				refuseLack(slot, spread.setting());
			}
			return;
		}
		int before = record.argumentCount();
		Spreading found = spread(slot, new Elements() {

			@Override
			public void add(byte[] source, int offset, int length, boolean string) {
				addElement(record, source, offset, length, string);
			}

			@Override
			public void refuseNull() {
				refuse(Rejection.MALFORMED,
						noun() + " '" + name(slot) + "' has a null among its elements" + NULL_IN_RECORD);
			}

		});
		if (found == Spreading.OBJECT && !spread.pairs()) {
			refuse(Rejection.MALFORMED, noun() + " '" + name(slot) + "' is an object, and '" + spread.setting()
					+ "' spreads it: only HSET, MSET and XADD take names and values in turn");
		}
		else if (found != Spreading.OBJECT && spread.setting().equals("fields")) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + name(slot) + "' is no object, and 'fields' spreads it into names and values");
		}
		else if (record.argumentCount() == before && record.rejection() == null && problem() == null) {
			this.emptySpread = slot;
		}
	}

	private void addElement(Record record, byte[] source, int offset, int length, boolean string) {
		if (record.argumentCount() == this.limit.arguments()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		else if (fits(length)) {
			addSize(length);
			addValue(record, source, offset, length, string);
		}
	}

	/** Says that a record lacks arguments because an array or object is empty. */
	private void explainEmptySpread(Record record) {
		Rejection rejection = record.rejection();
		if (rejection != null && this.emptySpread >= 0 && rejection.code().equals(Rejection.MALFORMED)) {
			record.reject(Rejection.MALFORMED,
					noun() + " '" + name(this.emptySpread) + "' has no elements: " + rejection.message());
		}
	}

	private static void addValue(Record record, byte[] source, int offset, int length, boolean string) {
		if (string) {
			record.string(source, offset, length);
		}
		else {
			record.argument(source, offset, length);
		}
	}

	/** Adds the value that was found last to the arguments. */
	private void addFound(Record record) {
		addElement(record, foundSource(), foundOffset(), foundLength(), foundString());
	}

}
