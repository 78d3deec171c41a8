package io.pipeset.record.mapping;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.pipeset.record.Expiry;
import io.pipeset.record.Notice;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.Rejection;
import io.pipeset.record.Timestamps;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Place.Verdict;
import io.pipeset.record.mapping.RecordTemplate.Element;
import io.pipeset.record.mapping.RecordTemplate.Field;
import io.pipeset.record.mapping.RecordTemplate.Fields;
import io.pipeset.record.mapping.RecordTemplate.Group;
import io.pipeset.record.mapping.RecordTemplate.Part;
import io.pipeset.record.mapping.RecordTemplate.Spread;
import org.jspecify.annotations.Nullable;

/**
 * The values of one row or object, of which templates make a record, or several. A format
 * finds the values by the numbers of their names; all else about templates is here and in
 * {@link RowValues}. One object serves all rows of a job.
 */
public abstract class Row extends RowValues {

	private static final int MAX_ID_BYTES = 256;

	private final Templates templates;

	private final RecordTemplate[] records;

	private final RecordLimit limit;

	private final boolean table;

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

	/** How many commands all rows so far have left out. */
	private long allLeftOut;

	private boolean isPrepared;

	/** Why all records of the row are refused. */
	private @Nullable Rejection fault;

	/** The record whose fields are values of the row. */
	private Record target;

	/** The names of values that are none of its fields. */
	private Set<ByteBuffer> excluded = Set.of();

	/** Whether the values of the row are only looked at, and whether one is wanted. */
	private boolean looking;

	private boolean seen;

	/** Names that fields leave out, and that no row had. */
	private final Set<ByteBuffer> neverOmitted = new HashSet<>();

	/** The names that spreads have made fields of the record. */
	private final Set<ByteBuffer> spreadNames = new HashSet<>();

	/**
	 * Has no values yet.
	 * @param templates the templates, whose names number the values
	 * @param table whether its values are cells or columns, and no members
	 */
	protected Row(Templates templates, Nulls nulls, boolean table, RecordLimit limit) {
		super(templates, nulls, table, limit);
		this.templates = templates;
		this.records = templates.records();
		this.limit = limit;
		this.table = table;
		this.prepared = new Record[(this.records.length > 1) ? this.records.length : 0];
		Arrays.setAll(this.prepared, (i) -> new Record(RecordDefaults.NONE, limit.memory()));
		this.target = new Record(RecordDefaults.NONE, limit.memory());
		this.next = this.records.length;
		this.number = templates.firstRow() - 1;
		if (!table) {
			templates.omitted()
				.forEach((name) -> this.neverOmitted.add(ByteBuffer.wrap(name.getBytes(StandardCharsets.UTF_8))));
		}
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
			this.allLeftOut += Long.bitCount(this.leftOut);
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
		beginRecord(null);
		return leftOut;
	}

	/** How many commands all rows so far have left out. */
	public final long allLeftOut() {
		return this.allLeftOut;
	}

	/** The values of the row cannot be read, so that all of its records are refused. */
	protected final void setUnreadable() {
		this.unreadable = true;
	}

	/** The number of the row, from 0. */
	public final long number() {
		return this.number;
	}

	/** The setting that names a value, for messages. */
	protected final String settingOf(String name) {
		return this.templates.settingOf(name);
	}

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
		setZone(record.zone());
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
		record.operation(template.operation());
		Part id = template.id();
		if (id != null && find(id, id.place(), Encoding.UTF8)) {
			setId(record);
		}
		// The key names refused records too.
		Part key = template.key();
		if (key != null && find(key, Place.KEY, record.encoding())) {
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
		Part ttl = template.ttl();
		if (ttl != null && find(ttl, ttl.place(), Encoding.UTF8)
				&& !record.ttl(foundSource(), foundOffset(), foundLength())) {
			refuseExpiry(ttl, Expiry.ALLOWED);
		}
		Part expireAt = template.expireAt();
		if (expireAt != null && find(expireAt, expireAt.place(), Encoding.UTF8)
				&& !record.expireAt(foundSource(), foundOffset(), foundLength())) {
			refuseExpiry(expireAt, Timestamps.ALLOWED);
		}
		List<Element> elements = template.elements();
		for (int i = 0; i < elements.size() && !deletes(); i++) {
			add(record, elements.get(i));
		}
		if (deletes()) {
			record.operation(Operation.DEL);
		}
		else if (template.operation() == Operation.HSET && record.argumentCount() == 1 && problem() == null
				&& record.rejection() == null) {
			refuse(Rejection.MALFORMED, "the row has no field: no " + noun() + " of it has a value");
		}
	}

	private void refuseExpiry(Part part, String allowed) {
		refuse(Rejection.MALFORMED, "'" + part.setting() + "' takes " + allowed + ", not '"
				+ Excerpt.of(foundSource(), foundOffset(), foundLength()) + "'");
	}

	private void add(Record record, Element element) {
		if (element instanceof Part part) {
			Place place = (record.hasKeyAt(record.argumentCount())) ? Place.KEY : part.place();
			if (find(part, place, record.encoding())) {
				addFound(record);
			}
		}
		else if (element instanceof Fields fields) {
			addFields(record, fields);
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

	/** Whether the row has a value for each name of a group, outside of inner ones. */
	private boolean isWhole(Group group) {
		for (Element element : group.elements()) {
			if (element instanceof Spread spread && !yields(spread)) {
				return false;
			}
			if (element instanceof Part part && lacksValue(part)) {
				return false;
			}
		}
		return true;
	}

	private void addFields(Record record, Fields fields) {
		if (fields.areAll()) {
			addMembers(record, fields.omitted());
			return;
		}
		this.spreadNames.clear();
		for (int i = 0; i < fields.fields().size(); i++) {
			Field field = fields.fields().get(i);
			Part part = field.part();
			Spread spread = field.spread();
			byte[] name = field.name();
			if (spread != null) {
				addSpread(record, spread);
			}
			else if (part != null && find(part, part.place(), record.encoding())) {
				addPair(record, name, 0, name.length, foundString());
			}
		}
	}

	/** Adds a field for each value of the row, but for those of some names. */
	private void addMembers(Record record, Set<ByteBuffer> excluded) {
		this.target = record;
		this.excluded = excluded;
		members();
	}

	/** Gives each value of the row, with its name, to {@link #member}. */
	protected abstract void members();

	/**
	 * Takes a value of the row.
	 * @param name an array that does not change before the next row, as {@code source}
	 */
	protected final void member(byte[] name, int nameOffset, int nameLength, State state, byte[] source, int offset,
			int length) {
		boolean wanted = true;
		if (!this.excluded.isEmpty()) {
			ByteBuffer key = ByteBuffer.wrap(name, nameOffset, nameLength);
			wanted = !this.excluded.contains(key);
			this.neverOmitted.remove(key);
		}
		if (this.looking) {
			boolean empty = state == State.TEXT && length == 0;
			this.seen |= Place.PAIR.decide(state, empty, nulls(), this.table) != Verdict.LEAVE_OUT;
		}
		else if (wanted && problem() == null) {
			addMember(this.target, name, nameOffset, nameLength, state, source, offset, length, null);
		}
	}

	@Override
	protected final boolean hasMembers() {
		this.looking = true;
		this.seen = false;
		this.excluded = Set.of();
		members();
		this.looking = false;
		return this.seen;
	}

	/**
	 * Adds a name and its value.
	 * @param spread the object that has it; {@code null} for the row
	 */
	private void addMember(Record record, byte[] name, int nameOffset, int nameLength, State state, byte[] source,
			int offset, int length, @Nullable Slot spread) {
		boolean empty = state == State.TEXT && length == 0;
		switch (Place.PAIR.decide(state, empty, nulls(), this.table && spread == null)) {
			case TAKE -> {
				setFound(state, source, offset, length, record.encoding());
				Form form = (spread != null) ? spread.form(reading()) : null;
				if (spread == null || form == null || apply(form, spread, state)) {
					addPair(record, name, nameOffset, nameLength, foundString());
				}
			}
			case EMPTY -> {
				setFound(State.SCALAR, name, nameOffset, 0, record.encoding());
				addPair(record, name, nameOffset, nameLength, false);
			}
			case LEAVE_OUT -> {
			}
			default -> refuse(Rejection.MALFORMED,
					((spread != null) ? "member" : noun()) + " '" + Excerpt.of(name, nameOffset, nameLength) + "' is "
							+ ((spread != null) ? "null" : emptiness())
							+ "; nulls=skip leaves it out, nulls=empty takes it for an empty string");
		}
	}

	/** Adds a name, which is never decoded, and the value that was found last. */
	private void addPair(Record record, byte[] name, int nameOffset, int nameLength, boolean string) {
		if (record.argumentCount() + 2 > this.limit.arguments()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		else if (fits((long) nameLength + foundLength())) {
			addSize((long) nameLength + foundLength());
			record.argument(name, nameOffset, nameLength);
			addValue(record, string);
		}
	}

	private void addSpread(Record record, Spread spread) {
		int before = record.argumentCount();
		if (spread.isOfRow() && isObject()) {
			if (!spread.pairs()) {
				refuse(Rejection.MALFORMED, "{" + spread.slot().text()
						+ "} has names and values: only HSET, MSET and XADD take them in turn");
				return;
			}
			addMembers(record, spread.written());
		}
		else {
			State state = look(spread.slot());
			boolean empty = state == State.TEXT && foundLength() == 0;
			Verdict verdict = (problem() != null) ? Verdict.LEAVE_OUT
					: spread.place().decide(state, empty, nulls(), this.table);
			if (verdict == Verdict.REFUSE) {
				refuseValue(spread.slot(), spread.place(), state);
			}
			if (verdict != Verdict.TAKE) {
				return;
			}
			if (!empty) {
				addElements(record, spread, state);
			}
		}
		if (spread.place() == Place.SPREAD && record.argumentCount() == before && problem() == null
				&& record.rejection() == null) {
			String what = (spread.isOfRow()) ? "the row" : noun() + " '" + spread.slot().pathText(reading()) + "'";
			refuse(Rejection.MALFORMED, what + " has no elements, and '" + spread.slot().setting()
					+ "' spreads it; in a group it is left out, as in " + ((spread.slot().setting().equals("args"))
							? "args=[&args={tags...}&args=]" : "[ SADD {id} {tags...} ]"));
		}
	}

	private void addElements(Record record, Spread spread, State state) {
		Elements elements = elements(spread, state);
		if (elements == null) {
			return;
		}
		if (elements.areMembers() != spread.pairs()) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + spread.slot().pathText(reading()) + "' is "
							+ ((spread.pairs())
									? "an array, and '" + spread.slot().setting() + "' spreads it: "
											+ record.operation() + " takes the names and values of an object"
									: "an object, and '" + spread.slot().setting()
											+ "' spreads it: only HSET, MSET and XADD take names and values in turn"));
			return;
		}
		Form form = spread.slot().form(reading());
		while (problem() == null && elements.next()) {
			if (elements.areMembers()) {
				addMemberOf(record, spread, elements);
			}
			else {
				addElement(record, spread, elements, form);
			}
		}
	}

	private void addMemberOf(Record record, Spread spread, Elements elements) {
		ByteBuffer name = ByteBuffer.wrap(elements.source(), elements.nameOffset(), elements.nameLength());
		boolean twice = spread.place() == Place.SPREAD_FIELDS
				&& (spread.written().contains(name) || !this.spreadNames.add(name));
		if (twice) {
			refuse(Rejection.MALFORMED,
					"the field '" + Excerpt.of(name.array(), name.arrayOffset() + name.position(), name.remaining())
							+ "' is written, and {" + spread.slot().text()
							+ "} has it too: one of two values would be lost");
			return;
		}
		boolean noKey = elements.nameLength() == 0
				|| isComposite(elements.source(), elements.nameOffset(), elements.nameLength());
		if (noKey && record.hasKeyAt(record.argumentCount())) {
			refuse(Rejection.MALFORMED,
					"{" + spread.slot().text() + "} has a member of the name '"
							+ Excerpt.of(elements.source(), elements.nameOffset(), elements.nameLength())
							+ "', which is no key");
			return;
		}
		addMember(record, elements.source(), elements.nameOffset(), elements.nameLength(), elements.state(),
				elements.source(), elements.offset(), elements.length(), spread.slot());
	}

	private void addElement(Record record, Spread spread, Elements elements, @Nullable Form form) {
		State state = elements.state();
		boolean empty = state == State.TEXT && elements.length() == 0;
		Verdict verdict = Place.ELEMENT.decide(state, empty, nulls(), false);
		if (verdict == Verdict.LEAVE_OUT) {
			return;
		}
		boolean noKey = record.hasKeyAt(record.argumentCount()) && (empty || verdict == Verdict.EMPTY
				|| state == State.COMPOSITE
				|| (state == State.TEXT && isComposite(elements.source(), elements.offset(), elements.length())));
		if (verdict == Verdict.REFUSE || noKey) {
			refuse(Rejection.MALFORMED,
					noun() + " '" + spread.slot().pathText(reading()) + "' has "
							+ ((state == State.NULL) ? "a null" : (empty) ? "an empty text" : "an array or object")
							+ " among its elements" + ((noKey) ? ", which is no key"
									: "; nulls=skip leaves it out, nulls=empty takes it for an empty string"));
			return;
		}
		setFound((verdict == Verdict.EMPTY) ? State.SCALAR : state, elements.source(), elements.offset(),
				(verdict == Verdict.EMPTY) ? 0 : elements.length(), record.encoding());
		if (form == null || verdict == Verdict.EMPTY || apply(form, spread.slot(), state)) {
			addFound(record);
		}
	}

	private void addValue(Record record, boolean string) {
		if (string) {
			record.string(foundSource(), foundOffset(), foundLength());
		}
		else {
			record.argument(foundSource(), foundOffset(), foundLength());
		}
	}

	/** Adds the value that was found last to the arguments. */
	private void addFound(Record record) {
		if (record.argumentCount() == this.limit.arguments()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		else if (fits(foundLength())) {
			addSize(foundLength());
			addValue(record, foundString());
		}
	}

	/** What the rows so far give reason to say to the caller. */
	public List<Notice> notices() {
		List<Notice> notices = new ArrayList<>();
		neverFound(this.table).forEach((text) -> notices.add(new Notice("NEVER_FOUND",
				"The name {" + text + "} was in no object that was looked at: check its spelling.", 0, 0)));
		this.neverOmitted
			.forEach(
					(name) -> notices.add(
							new Notice("NEVER_FOUND",
									"The name " + Excerpt.of(StandardCharsets.UTF_8.decode(name.duplicate()).toString())
											+ ", which 'fields' leaves out, was in no object: check its spelling.",
									0, 0)));
		return notices;
	}

}
