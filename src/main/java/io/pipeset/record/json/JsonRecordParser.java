package io.pipeset.record.json;

import java.util.Set;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonKind;
import io.pipeset.record.mapping.Nulls;
import org.jspecify.annotations.Nullable;

/** Reads objects and arrays that are already records. */
final class JsonRecordParser extends JsonParser {

	private static final String WRAP_COMMAND = "in application/json, even a single command has to be in an array of"
			+ " records: [[\"SET\",\"key\",\"value\"]]";

	/** The members that only the items of a report have. */
	private static final Set<String> REPORT_MEMBERS = Set.of("index", "line", "status", "reply");

	private static final String NULLS = "; nulls=skip leaves it out, nulls=empty takes it for an empty string";

	private final JsonCursor cursor = new JsonCursor();

	private final JsonDraft draft;

	private final JsonShape shape = new JsonShape();

	private final @Nullable Operation defaultOperation;

	private final Nulls nulls;

	/** Whether the body began with an object, and not with an array of records. */
	private boolean single;

	JsonRecordParser(@Nullable Operation defaultOperation, Nulls nulls, RecordLimit limit) {
		this.defaultOperation = defaultOperation;
		this.nulls = nulls;
		this.draft = new JsonDraft(limit);
	}

	@Override
	void expectSingle() {
		this.single = true;
	}

	@Override
	@Nullable JsonFault read(byte[] bytes, int from, int to) {
		if (this.shape.matches(bytes, from, to)) {
			this.draft.beginLike(bytes);
			this.shape.moveStrings(this.draft);
			return null;
		}
		boolean mayLearn = this.shape.clear();
		this.draft.begin(bytes);
		this.cursor.begin(bytes, from, to);
		try {
			readRecord();
			this.cursor.expectEnd();
			this.draft.end(this.defaultOperation);
			if (mayLearn && this.cursor.hasPlainStrings() && this.draft.describe(this.shape)) {
				this.shape.learn(bytes, from, to);
			}
			return this.cursor.contentFault();
		}
		catch (JsonFault fault) {
			return fault;
		}
	}

	@Override
	void deliver(Record record, @Nullable Rejection fault) {
		this.draft.identify(record);
		if (fault != null) {
			record.reject(fault.code(), fault.message());
		}
		else {
			this.draft.complete(record);
		}
	}

	private void readRecord() throws JsonFault {
		if (this.cursor.isNext('{')) {
			readObject();
		}
		else if (this.cursor.isNext('[')) {
			readCommand();
		}
		else {
			JsonKind kind = this.cursor.readValue(0);
			this.draft.refuse(
					"a record is an object or an array, not " + kind.describe(this.cursor.excerpt())
							+ ((kind == JsonKind.STRING) ? "; " + WRAP_COMMAND
									+ "; where each text is a row, templates name it" + " {@value}: key={@value}"
									: ""));
		}
	}

	private void readObject() throws JsonFault {
		if (!this.cursor.enter('}')) {
			return;
		}
		do {
			this.cursor.readName();
			JsonMember member = JsonMember.find(this.cursor.source(), this.cursor.offset(), this.cursor.length());
			if (member == null) {
				refuseMember();
			}
			else if (!this.draft.markSeen(member)) {
				this.cursor.readValue(1);
			}
			else if (member == JsonMember.FIELDS && this.cursor.isNext('{')) {
				readFields();
			}
			else if (member == JsonMember.ARGS && this.cursor.isNext('[')) {
				readArgs();
			}
			else {
				readMember(member);
			}
		}
		while (this.cursor.next('}'));
	}

	private void refuseMember() throws JsonFault {
		if (!this.draft.isRefused()) {
			String name = this.cursor.excerpt();
			this.draft
				.refuse("record member '" + name + "' is not known; allowed are " + JsonMember.names() + advice(name));
		}
		this.cursor.readValue(1);
	}

	private String advice(String name) {
		if (this.single) {
			return "; an object whose members are rows is loaded with rows=entries, as in"
					+ " op=SET&key={@key}&value={@value}&rows=entries";
		}
		return (REPORT_MEMBERS.contains(name))
				? "; an item of a report is not the whole record: post the record of that index or line again,"
						+ " as it was sent"
				: "";
	}

	private void readMember(JsonMember member) throws JsonFault {
		JsonKind kind = this.cursor.readValue(1);
		if (kind == JsonKind.NULL
				&& (this.nulls == Nulls.SKIP || (this.nulls != Nulls.REFUSE && member.mayBeLeftOut()))) {
			this.draft.unmarkSeen(member);
		}
		else if (kind == JsonKind.NULL && this.nulls == Nulls.DELETE && member == JsonMember.VALUE) {
			this.draft.delete();
		}
		else if (kind == JsonKind.NULL && this.nulls == Nulls.EMPTY && member.mayBeEmpty()) {
			this.draft.set(member, kind, this.cursor.offset(), 0);
		}
		else if (member.accepts(kind, this.cursor.source(), this.cursor.offset(), this.cursor.length())) {
			this.draft.set(member, kind, this.cursor.offset(), this.cursor.length());
		}
		else if (!this.draft.isRefused()) {
			boolean optional = kind == JsonKind.NULL && member.mayBeLeftOut();
			this.draft.refuse("record member '" + member.label() + "' takes " + member.takes() + ", not "
					+ kind.describe(this.cursor.excerpt()) + ((optional) ? "; nulls=skip leaves it out" : ""));
		}
	}

	private void readFields() throws JsonFault {
		if (this.cursor.enter('}')) {
			do {
				this.cursor.readName();
				int name = this.cursor.offset();
				int nameLength = this.cursor.length();
				JsonKind kind = this.cursor.readValue(2);
				if (kind != JsonKind.NULL || this.nulls == Nulls.EMPTY) {
					this.draft.putField(name, nameLength, kind, this.cursor.offset(), length(kind));
				}
				else if (this.nulls == Nulls.REFUSE && !this.draft.isRefused()) {
					this.draft.refuse("record member 'fields' takes no null, and its '"
							+ this.cursor.excerpt(name, nameLength) + "' is null" + NULLS);
				}
			}
			while (this.cursor.next('}'));
		}
		if (!this.draft.hasFields()) {
			this.draft.refuse("record member 'fields' takes a field or more, not "
					+ ((this.nulls == Nulls.SKIP) ? "nulls alone" : "an empty object"));
		}
	}

	private void readArgs() throws JsonFault {
		if (this.cursor.enter(']')) {
			do {
				JsonKind kind = this.cursor.readValue(2);
				if (kind.isArgument()) {
					this.draft.addArgument(kind, this.cursor.offset(), this.cursor.length());
				}
				else if (!this.draft.isRefused()) {
					this.draft.refuse("record member 'args' takes strings, numbers and booleans, not "
							+ kind.describe(this.cursor.excerpt()) + nullAdvice(kind));
				}
			}
			while (this.cursor.next(']'));
		}
	}

	private void readCommand() throws JsonFault {
		this.draft.beginCommand();
		if (!this.cursor.enter(']')) {
			this.draft.refuse("a record that is an array begins with its operation's name, and this one is empty");
			return;
		}
		int position = 0;
		do {
			readWord(position++, this.cursor.readValue(1));
		}
		while (this.cursor.next(']'));
	}

	private void readWord(int position, JsonKind kind) {
		if (this.draft.isRefused()) {
			return;
		}
		if (position == 0 && kind != JsonKind.STRING) {
			this.draft.refuse("a record that is an array begins with its operation's name, a string, not with "
					+ kind.describe(this.cursor.excerpt()));
		}
		else if (!kind.isArgument()) {
			this.draft.refuse(
					"argument " + position + " of a record that is an array is " + kind.describe(this.cursor.excerpt())
							+ "; allowed are strings, numbers and booleans" + nullAdvice(kind));
		}
		else if (position > 1) {
			this.draft.addArgument(kind, this.cursor.offset(), this.cursor.length());
		}
		else {
			this.draft.set((position == 0) ? JsonMember.OP : JsonMember.KEY, kind, this.cursor.offset(),
					this.cursor.length());
		}
	}

	/** Explains why 'nulls' does not apply to arguments. */
	private String nullAdvice(JsonKind kind) {
		return (kind == JsonKind.NULL && this.nulls != Nulls.REFUSE)
				? Nulls.IN_ARGUMENTS + ", as in args=[&args=EX&args={secs}&args=]" : "";
	}

	/** The length of the last value. A null counts as an empty string here. */
	private int length(JsonKind kind) {
		return (kind == JsonKind.NULL) ? 0 : this.cursor.length();
	}

}
