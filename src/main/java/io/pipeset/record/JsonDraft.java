package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * What has been read of one record. Its members come in any order, so that only at its
 * end can it be said whether they fit its operation and in which order they are sent.
 */
final class JsonDraft {

	private final RecordLimit limit;

	/**
	 * Each name and its value, in their order; of a name's values Redis keeps the last.
	 */
	private final Spans fields;

	/** The arguments; one that is no string has the complement of its length. */
	private final Spans args;

	private final int[] offsets = new int[JsonMember.values().length];

	private final int[] lengths = new int[JsonMember.values().length];

	private byte[] source = {};

	private int seen;

	private int known;

	/** The known members that are strings, which the record's encoding is for. */
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

	/**
	 * Begins a record that is an array, which has no members, and always its own
	 * operation.
	 */
	void beginCommand() {
		this.command = true;
		this.seen = JsonMember.OP.bit();
	}

	/**
	 * Takes note of a member.
	 * @return {@code false} where the record had it already
	 */
	boolean see(JsonMember member) {
		boolean first = !has(this.seen, member);
		this.seen |= member.bit();
		if (!first && !isRefused()) {
			refuse("record member '" + member.label() + "' is repeated");
		}
		return first;
	}

	/** Sets a member whose value may be what it is. */
	void set(JsonMember member, JsonKind kind, int offset, int length) {
		this.known |= member.bit();
		this.strings |= (kind == JsonKind.STRING) ? member.bit() : 0;
		this.offsets[member.index()] = offset;
		this.lengths[member.index()] = length;
		if (member == JsonMember.OP) {
			this.operation = Operation.find(this.source, offset, length);
			if (this.operation == null) {
				refuse(Rejection.UNKNOWN_OPERATION, Command.unknown(Excerpt.of(this.source, offset, length)));
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
	 * Whether the record is refused already, so that no more needs to be said of it.
	 */
	boolean isRefused() {
		return this.code != null;
	}

	/** Refuses the record, unless that has been done. */
	void refuse(String message) {
		refuse(Rejection.MALFORMED, message);
	}

	/**
	 * Ends a record that was read to its end, where alone it is certain to have no
	 * operation of its own.
	 */
	void end(@Nullable Operation defaultOperation) {
		if (!has(this.seen, JsonMember.OP)) {
			this.operation = defaultOperation;
		}
	}

	/** Sets what tells a record from others, whether or not it is a good one. */
	void identify(Record record) {
		if (has(this.known, JsonMember.ID)) {
			record.id(text(JsonMember.ID));
		}
		if (this.operation != null) {
			record.operation(this.operation);
		}
		if (has(this.known, JsonMember.ENCODING)) {
			Encoding encoding = Encoding.find(this.source, this.offsets[JsonMember.ENCODING.index()],
					this.lengths[JsonMember.ENCODING.index()]);
			if (encoding != null) {
				record.encoding(encoding);
			}
		}
		// The first word of a command that is not known may be anything, not a key.
		if (has(this.known, JsonMember.KEY) && (!this.command || this.operation != null)) {
			addTo(record, JsonMember.KEY);
		}
	}

	/** Sets the rest, or the reason why the record is refused. */
	void complete(Record record) {
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

	private String text(JsonMember member) {
		return new String(this.source, this.offsets[member.index()], this.lengths[member.index()],
				StandardCharsets.UTF_8);
	}

	private static boolean has(int members, JsonMember member) {
		return (members & member.bit()) != 0;
	}

}
