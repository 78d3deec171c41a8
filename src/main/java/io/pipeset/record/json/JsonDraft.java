package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.RowItem;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonKind;
import org.jspecify.annotations.Nullable;

/**
 * Collects the parts of one record. Members may be in any order. So only at the end of
 * the record, the draft can check them against the operation, and bring them into the
 * order of the command.
 */
final class JsonDraft {

	/** The members that may differ between records of one shape. */
	private static final int VARYING = JsonMember.KEY.bit() | JsonMember.VALUE.bit();

	/** The slot of the first field. Slots of fields and arguments alternate. */
	private static final int FIRST_SPAN = JsonMember.values().length;

	private final RecordLimit limit;

	/**
	 * Each field's name and value, in order. If a name is repeated, Redis keeps the last
	 * value.
	 */
	private final Spans fields;

	/**
	 * The arguments. The length of an argument that is not a string is stored as its
	 * complement.
	 */
	private final Spans args;

	private final int[] offsets = new int[JsonMember.values().length];

	private final int[] lengths = new int[JsonMember.values().length];

	private byte[] source = {};

	private int seen;

	private int valid;

	/** The valid members that are strings, to which the record's encoding applies. */
	private int strings;

	private boolean isCommand;

	/** Whether the value is null, and makes a SET a DEL of its key. */
	private boolean deletes;

	private @Nullable Operation operation;

	private @Nullable String code;

	private String problem = "";

	JsonDraft(RecordLimit limit) {
		this.limit = limit;
		this.fields = new Spans(limit.memory());
		this.args = new Spans(limit.memory());
	}

	/** Begins a record, and clears the previous one. */
	void begin(byte[] source) {
		this.source = source;
		this.seen = 0;
		this.valid = 0;
		this.strings = 0;
		this.isCommand = false;
		this.deletes = false;
		this.operation = null;
		this.code = null;
		this.args.clear();
		this.fields.clear();
	}

	/** Begins a record that differs from the previous one only in its strings. */
	void beginLike(byte[] source) {
		this.source = source;
	}

	/**
	 * Adds to a shape the strings that may differ in other records of this shape.
	 * @return {@code false} if other parts of the record may differ, too
	 */
	boolean describe(JsonShape shape) {
		int others = this.valid & ~JsonMember.OP.bit();
		for (int slot = 0; slot < FIRST_SPAN; slot++) {
			if ((others & this.strings & VARYING & 1 << slot) != 0) {
				shape.addString(slot, this.offsets[slot], this.lengths[slot]);
				others ^= 1 << slot;
			}
		}
		return others == 0 && !isRefused() && describe(shape, this.fields, FIRST_SPAN)
				&& describe(shape, this.args, FIRST_SPAN + 1);
	}

	private static boolean describe(JsonShape shape, Spans spans, int first) {
		for (int i = 0; i < spans.count(); i++) {
			if (spans.length(i) < 0) {
				return false;
			}
			shape.addString(first + 2 * i, spans.offset(i), spans.length(i));
		}
		return true;
	}

	/** Replaces a string of the previous record with the one of this record. */
	void moveString(int slot, int offset, int length) {
		if (slot < FIRST_SPAN) {
			this.offsets[slot] = offset;
			this.lengths[slot] = length;
		}
		else {
			Spans spans = ((slot - FIRST_SPAN) % 2 == 0) ? this.fields : this.args;
			spans.set((slot - FIRST_SPAN) / 2, offset, length);
		}
	}

	/**
	 * Marks the record as an array. It has no members, and always names its own
	 * operation.
	 */
	void beginCommand() {
		this.isCommand = true;
		this.seen = JsonMember.OP.bit();
	}

	/**
	 * Marks a member as present.
	 * @return {@code false} if the member is repeated
	 */
	boolean markSeen(JsonMember member) {
		boolean first = !has(this.seen, member);
		this.seen |= member.bit();
		if (!first && !isRefused()) {
			refuse("record member '" + member.label() + "' is repeated");
		}
		return first;
	}

	/** Marks a member as absent. */
	void unmarkSeen(JsonMember member) {
		this.seen ^= member.bit();
	}

	/** Takes note that the value is null, which makes a SET a DEL of its key. */
	void delete() {
		this.deletes = true;
	}

	/** Sets a member, whose value has to be allowed. */
	void set(JsonMember member, JsonKind kind, int offset, int length) {
		this.valid |= member.bit();
		this.strings |= (kind == JsonKind.STRING) ? member.bit() : 0;
		this.offsets[member.index()] = offset;
		this.lengths[member.index()] = length;
		if (member == JsonMember.OP) {
			this.operation = this.limit.operations().find(this.source, offset, length);
			if (this.operation == null) {
				refuse(Rejection.UNKNOWN_OPERATION,
						FormatHints.unknownOperation(Excerpt.of(this.source, offset, length), this.limit.operations()));
			}
		}
	}

	void addArgument(JsonKind kind, int offset, int length) {
		if (mayAdd(1)) {
			this.args.add(offset, (kind == JsonKind.STRING) ? length : ~length);
		}
	}

	void putField(int name, int nameLength, JsonKind kind, int value, int valueLength) {
		if (mayAdd(2)) {
			this.fields.add(name, nameLength);
			this.fields.add(value, (kind == JsonKind.STRING) ? valueLength : ~valueLength);
		}
	}

	boolean hasFields() {
		return this.fields.count() > 0;
	}

	/** Whether the record is already refused. Then it need not be checked further. */
	boolean isRefused() {
		return this.code != null;
	}

	/** Refuses the record, unless it is already refused. */
	void refuse(String message) {
		refuse(Rejection.MALFORMED, message);
	}

	/** Ends the record. If no member names an operation, it gets the default one. */
	void end(@Nullable Operation defaultOperation) {
		if (!has(this.seen, JsonMember.OP)) {
			this.operation = defaultOperation;
		}
	}

	/**
	 * Sets the id, operation, encoding and key. A report needs them for valid and for
	 * refused records.
	 */
	void identify(Record record) {
		if (has(this.valid, JsonMember.ID)) {
			record.id(text(JsonMember.ID));
		}
		if (this.operation != null) {
			record.operation(this.operation);
		}
		else if (has(this.valid, JsonMember.OP)) {
			FormatHints.rejectAfterDatabaseChange(record,
					Excerpt.of(this.source, this.offsets[JsonMember.OP.index()], this.lengths[JsonMember.OP.index()]));
		}
		if (has(this.valid, JsonMember.ENCODING)) {
			Encoding encoding = Encoding.find(this.source, this.offsets[JsonMember.ENCODING.index()],
					this.lengths[JsonMember.ENCODING.index()]);
			if (encoding != null) {
				record.encoding(encoding);
			}
		}
		// The first argument of an unknown command may not be a key, so the report does
		// not show it as one.
		if (has(this.valid, JsonMember.KEY) && (!this.isCommand || this.operation != null)) {
			addTo(record, JsonMember.KEY);
		}
	}

	/** Sets the other arguments, or the reason why the record is refused. */
	void complete(Record record) {
		int own = this.seen & ~(JsonMember.ID.bit() | JsonMember.ERROR.bit() | JsonMember.FOUND.bit());
		int ofRow = JsonMember.RAW.bit() | JsonMember.SETTINGS.bit();
		if (own == ofRow && (this.valid & this.strings & JsonMember.RAW.bit()) != 0 && !isRefused()
				&& this.lengths[JsonMember.SETTINGS.index()] <= RowItem.MAX_SETTINGS) {
			record.item(new RowItem(text(JsonMember.RAW), text(JsonMember.SETTINGS)));
		}
		if (own == ofRow && this.lengths[JsonMember.SETTINGS.index()] > RowItem.MAX_SETTINGS) {
			refuse("record member 'settings' has at most " + RowItem.MAX_SETTINGS + " bytes");
		}
		if ((own | ofRow) == ofRow && own != 0) {
			refuse("this is the item of a row or line that could not become a record, and it has only 'raw': correct"
					+ " its text, and post it in its original format with the original query");
		}
		if (this.operation == null) {
			refuse("no 'op', and the request names none");
		}
		else if (!this.isCommand) {
			String conflict = JsonSpelling.of(this.operation).check(this.operation, this.seen);
			if (conflict != null) {
				refuse(conflict);
			}
		}
		if (this.code != null) {
			record.reject(this.code, this.problem);
			return;
		}
		if (this.deletes && this.operation == Operation.SET) {
			record.operation(Operation.DEL);
			record.check();
			return;
		}
		if (has(this.valid, JsonMember.VALUE)) {
			addTo(record, JsonMember.VALUE);
		}
		addAll(record, this.fields);
		if (has(this.valid, JsonMember.TTL) && !record.ttl(this.source, this.offsets[JsonMember.TTL.index()],
				this.lengths[JsonMember.TTL.index()])) {
			refuseExpiry(record, JsonMember.TTL);
			return;
		}
		if (has(this.valid, JsonMember.EXPIRE_AT) && !record.expireAt(this.source,
				this.offsets[JsonMember.EXPIRE_AT.index()], this.lengths[JsonMember.EXPIRE_AT.index()])) {
			refuseExpiry(record, JsonMember.EXPIRE_AT);
			return;
		}
		if (has(this.valid, JsonMember.COUNT)) {
			addTo(record, JsonMember.COUNT);
		}
		addAll(record, this.args);
		record.check();
	}

	private void refuseExpiry(Record record, JsonMember member) {
		record.reject(Rejection.MALFORMED,
				"record member '" + member.label() + "' takes " + member.takes() + ", not "
						+ ((has(this.strings, member)) ? JsonKind.STRING : JsonKind.NUMBER).describe(
								Excerpt.of(this.source, this.offsets[member.index()], this.lengths[member.index()])));
	}

	/**
	 * Whether the record may have further arguments in addition to a key. If not, it is
	 * refused.
	 */
	private boolean mayAdd(int more) {
		boolean allowed = this.args.count() + this.fields.count() + more < this.limit.arguments();
		if (!allowed && !isRefused()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		return allowed;
	}

	private void refuse(String code, String message) {
		if (this.code == null) {
			this.code = code;
			this.problem = message;
		}
	}

	private String text(JsonMember member) {
		return new String(this.source, this.offsets[member.index()], this.lengths[member.index()],
				StandardCharsets.UTF_8);
	}

	private void addAll(Record record, Spans spans) {
		for (int i = 0; i < spans.count(); i++) {
			int length = spans.length(i);
			if (length >= 0) {
				record.string(this.source, spans.offset(i), length);
			}
			else {
				record.argument(this.source, spans.offset(i), ~length);
			}
		}
	}

	private void addTo(Record record, JsonMember member) {
		int offset = this.offsets[member.index()];
		int length = this.lengths[member.index()];
		if (has(this.strings, member)) {
			record.string(this.source, offset, length);
		}
		else {
			record.argument(this.source, offset, length);
		}
	}

	private static boolean has(int members, JsonMember member) {
		return (members & member.bit()) != 0;
	}

}
