package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one record that have been read. Members come in any order, so that only at
 * the end of the record the draft can check them against the operation and bring them
 * into the order of the command.
 */
final class JsonDraft {

	/** The members that may differ in records of one shape. */
	private static final int VARYING = JsonMember.KEY.bit() | JsonMember.VALUE.bit();

	/** The first slot of fields, which alternate with arguments. */
	private static final int FIRST_SPAN = JsonMember.values().length;

	private final RecordLimit limit;

	/**
	 * Each name and its value, in their order. Redis keeps the last value of a repeated
	 * name.
	 */
	private final Spans fields;

	/**
	 * The arguments. An argument that is not a string has the complement of its length.
	 */
	private final Spans args;

	private final int[] offsets = new int[JsonMember.values().length];

	private final int[] lengths = new int[JsonMember.values().length];

	private byte[] source = {};

	private int seen;

	private int known;

	/** The known members that are strings, to which the record's encoding applies. */
	private int strings;

	private boolean command;

	private @Nullable Operation operation;

	private @Nullable String code;

	private String problem = "";

	JsonDraft(RecordLimit limit) {
		this.limit = limit;
		this.fields = new Spans(limit.room());
		this.args = new Spans(limit.room());
	}

	/** Forgets the last record. */
	void begin(byte[] source) {
		this.source = source;
		this.seen = 0;
		this.known = 0;
		this.strings = 0;
		this.command = false;
		this.operation = null;
		this.code = null;
		this.args.clear();
		this.fields.clear();
	}

	/** Begins a record that differs from the last one in its strings only. */
	void beginLike(byte[] source) {
		this.source = source;
	}

	/**
	 * Tells a shape the strings that may differ in another record of this shape.
	 * @return {@code false} if the record has anything else that may differ
	 */
	boolean describe(JsonShape shape) {
		int others = this.known & ~JsonMember.OP.bit();
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

	/** Moves a string of the last record to its place in this one. */
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
	 * Begins a record that is an array. It has no members, and always names its own
	 * operation.
	 */
	void beginCommand() {
		this.command = true;
		this.seen = JsonMember.OP.bit();
	}

	/**
	 * Takes note of a member.
	 * @return {@code false} if the record had that member already
	 */
	boolean see(JsonMember member) {
		boolean first = !has(this.seen, member);
		this.seen |= member.bit();
		if (!first && !isRefused()) {
			refuse("record member '" + member.label() + "' is repeated");
		}
		return first;
	}

	/** Takes a member for one that the record does not have. */
	void unsee(JsonMember member) {
		this.seen ^= member.bit();
	}

	/** Sets a member, whose value is an allowed one. */
	void set(JsonMember member, JsonKind kind, int offset, int length) {
		this.known |= member.bit();
		this.strings |= (kind == JsonKind.STRING) ? member.bit() : 0;
		this.offsets[member.index()] = offset;
		this.lengths[member.index()] = length;
		if (member == JsonMember.OP) {
			this.operation = Operation.find(this.source, offset, length);
			if (this.operation == null) {
				refuse(Rejection.UNKNOWN_OPERATION,
						FormatHints.unknownOperation(Excerpt.of(this.source, offset, length)));
			}
		}
	}

	void addArgument(JsonKind kind, int offset, int length) {
		if (hasRoomFor(1)) {
			this.args.add(offset, (kind == JsonKind.STRING) ? length : ~length);
		}
	}

	void putField(int name, int nameLength, JsonKind kind, int value, int valueLength) {
		if (hasRoomFor(2)) {
			this.fields.add(name, nameLength);
			this.fields.add(value, (kind == JsonKind.STRING) ? valueLength : ~valueLength);
		}
	}

	boolean hasFields() {
		return this.fields.count() > 0;
	}

	/**
	 * Whether the record is refused already. Nobody then needs to look for further
	 * problems.
	 */
	boolean isRefused() {
		return this.code != null;
	}

	/** Refuses the record, unless it is refused already. */
	void refuse(String message) {
		refuse(Rejection.MALFORMED, message);
	}

	/**
	 * Ends the record. Only now it is certain whether the record names no operation, and
	 * gets the default one.
	 */
	void end(@Nullable Operation defaultOperation) {
		if (!has(this.seen, JsonMember.OP)) {
			this.operation = defaultOperation;
		}
	}

	/**
	 * Sets the id, operation, encoding and key, by which a report names good and refused
	 * records.
	 */
	void identify(Record record) {
		if (has(this.known, JsonMember.ID)) {
			record.id(new String(this.source, this.offsets[JsonMember.ID.index()], this.lengths[JsonMember.ID.index()],
					StandardCharsets.UTF_8));
		}
		if (this.operation != null) {
			record.operation(this.operation);
		}
		else if (has(this.known, JsonMember.OP)) {
			FormatHints.leaveDatabase(record,
					Excerpt.of(this.source, this.offsets[JsonMember.OP.index()], this.lengths[JsonMember.OP.index()]));
		}
		if (has(this.known, JsonMember.ENCODING)) {
			Encoding encoding = Encoding.find(this.source, this.offsets[JsonMember.ENCODING.index()],
					this.lengths[JsonMember.ENCODING.index()]);
			if (encoding != null) {
				record.encoding(encoding);
			}
		}
		// The first argument of an unknown command may be anything, and is not shown as a
		// key.
		if (has(this.known, JsonMember.KEY) && (!this.command || this.operation != null)) {
			addTo(record, JsonMember.KEY);
		}
	}

	/** Sets the rest, or the reason why the record is refused. */
	void complete(Record record) {
		int own = this.seen & ~(JsonMember.ID.bit() | JsonMember.ERROR.bit());
		if (own == JsonMember.RAW.bit()) {
			refuse("this is the item of a row or line that could not become a record, and has only its 'raw': correct"
					+ " that, and post it in the format and with the query that it came with");
		}
		if (this.operation == null) {
			refuse("no 'op', and the request names none");
		}
		else if (!this.command) {
			String conflict = JsonSpelling.of(this.operation).check(this.operation, this.seen);
			if (conflict != null) {
				refuse(conflict);
			}
		}
		if (this.code != null) {
			record.reject(this.code, this.problem);
			return;
		}
		if (has(this.known, JsonMember.VALUE)) {
			addTo(record, JsonMember.VALUE);
		}
		addAll(record, this.fields);
		if (has(this.known, JsonMember.TTL)) {
			record.ttl(this.source, this.offsets[JsonMember.TTL.index()], this.lengths[JsonMember.TTL.index()]);
		}
		if (has(this.known, JsonMember.EXPIRE_AT)) {
			record.expireAt(this.source, this.offsets[JsonMember.EXPIRE_AT.index()],
					this.lengths[JsonMember.EXPIRE_AT.index()]);
		}
		if (has(this.known, JsonMember.COUNT)) {
			addTo(record, JsonMember.COUNT);
		}
		addAll(record, this.args);
		record.check();
	}

	/** Whether there is room for arguments, and for a key beside them. */
	private boolean hasRoomFor(int more) {
		boolean room = this.args.count() + this.fields.count() + more < this.limit.arguments();
		if (!room && !isRefused()) {
			refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
		}
		return room;
	}

	private void refuse(String code, String message) {
		if (this.code == null) {
			this.code = code;
			this.problem = message;
		}
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
