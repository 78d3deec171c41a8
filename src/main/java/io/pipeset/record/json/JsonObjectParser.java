package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Notice;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonKind;
import io.pipeset.record.grammar.JsonText;
import io.pipeset.record.grammar.JsonWalk;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Reads data of JSON, from which templates build records: each value is a row, or has an
 * array whose elements are.
 */
final class JsonObjectParser extends JsonParser {

	private final JsonRow row;

	private final Rows rows;

	private final byte[][] path;

	private final JsonCursor cursor = new JsonCursor();

	/** The array of rows of the value that was read last. */
	private final ArgumentBytes items;

	/** The index of the next element in it; -1 if there is none. */
	private int nextItem = -1;

	/** An element as it can be posted again: in an object with what names it. */
	private final ArgumentBytes raw;

	/** The part of {@link #raw} before an element. */
	private final ArgumentBytes before;

	/** The part of {@link #raw} after an element. */
	private final ArgumentBytes after;

	private boolean rawIsNew;

	private @Nullable Rejection noArray;

	private long objects;

	private boolean pathFound;

	JsonObjectParser(Templates templates, Nulls nulls, Rows rows, RecordLimit limit) {
		this.row = new JsonRow(templates, nulls, rows, limit);
		this.rows = rows;
		this.path = rows.path().stream().map((step) -> step.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
		this.items = new ArgumentBytes(limit.memory());
		this.raw = new ArgumentBytes(limit.memory());
		this.before = new ArgumentBytes(limit.memory());
		this.after = new ArgumentBytes(limit.memory());
	}

	@Override
	@Nullable JsonFault read(byte[] bytes, int from, int to) {
		this.noArray = null;
		this.rawIsNew = false;
		this.nextItem = -1;
		try {
			return (this.rows.areItems()) ? readItems(bytes, from, to) : this.row.read(bytes, from, to);
		}
		catch (JsonFault fault) {
			this.row.fail();
			return fault;
		}
	}

	@Override
	@Nullable JsonFault readEntry(byte[] bytes, int from, int to) {
		try {
			return this.row.readEntry(bytes, from, to);
		}
		catch (JsonFault fault) {
			this.row.fail();
			return fault;
		}
	}

	@Override
	@Nullable JsonFault readItem(byte[] bytes, int from, int to) {
		this.noArray = null;
		this.row.forgetOuter();
		writeAround(bytes, JsonWalk.ABSENT, 0, 0);
		try {
			wrap(bytes, from, to);
			return this.row.read(bytes, from, to);
		}
		catch (JsonFault fault) {
			this.row.fail();
			return fault;
		}
	}

	/** Reads an object, and finds the array in it whose elements are rows. */
	private @Nullable JsonFault readItems(byte[] bytes, int from, int to) throws JsonFault {
		this.objects++;
		this.cursor.begin(bytes, from, to);
		if (!this.cursor.isNext('{')) {
			JsonKind kind = this.cursor.readValue(0);
			this.cursor.expectEnd();
			refuseItems("rows=" + this.rows.text() + " takes objects, not " + kind.describe(this.cursor.excerpt()));
			return this.cursor.contentFault();
		}
		int head = this.row.readOuter(this.cursor, this.path[0]);
		this.noArray = this.row.outerProblem();
		int at = head;
		this.cursor.expectEnd();
		JsonFault fault = this.cursor.contentFault();
		if (fault != null) {
			this.row.beginRow();
			this.row.fail();
			return fault;
		}
		for (int i = 1; i < this.path.length && at >= 0 && bytes[at] != 'n'; i++) {
			at = (bytes[at] == '{') ? JsonWalk.member(bytes, at, this.path[i]) : JsonRow.NO_ARRAY;
		}
		begin(bytes, head, at);
		return null;
	}

	/** Begins with the first element of an array. */
	private void begin(byte[] bytes, int head, int at) {
		this.pathFound |= at != JsonWalk.ABSENT;
		if (at == JsonWalk.TWICE) {
			refuseItems("the member '" + this.rows.pathText() + "' is there twice");
		}
		else if (at == JsonRow.NO_ARRAY || (at >= 0 && bytes[at] != '[' && bytes[at] != 'n')) {
			refuseItems(
					"member '" + this.rows.pathText() + "' is no array, and rows=" + this.rows.text() + " needs one");
		}
		if (at < 0 || bytes[at] != '[') {
			return;
		}
		this.items.clear();
		this.items.begin();
		int end = JsonWalk.skip(bytes, at);
		this.items.append(bytes, at, end - at);
		this.nextItem = this.items.start() + 1;
		writeAround(bytes, head, at, end);
		readNext();
	}

	private void refuseItems(String problem) {
		this.noArray = new Rejection(Rejection.MALFORMED, problem);
		this.row.beginRow();
		this.row.fail();
	}

	/** Reads the next element; without one, no row is left. */
	private void readNext() {
		byte[] array = this.items.bytes();
		if (this.nextItem < 0 || array[this.nextItem] == ']') {
			this.nextItem = -1;
			return;
		}
		int from = this.nextItem;
		int to = JsonWalk.skip(array, from);
		this.nextItem = (array[to] == ',') ? to + 1 : to;
		wrap(array, from, to);
		try {
			this.row.read(array, from, to);
		}
		catch (JsonFault fault) {
			throw new IllegalStateException("JSON that was read before is not JSON now", fault);
		}
	}

	/**
	 * Writes what is around an element that can be posted again by itself: the members of
	 * the outer object that templates name, and the array in its place.
	 * @param head the index of the member that has the array; {@link JsonWalk#ABSENT} if
	 * no template names it
	 * @param from the index of the array
	 * @param to the index after it
	 */
	private void writeAround(byte[] bytes, int head, int from, int to) {
		this.before.clear();
		this.before.begin();
		this.before.append('{');
		this.row.writeOuter(this.before, this.path[0]);
		JsonText.appendString(this.before, this.path[0], 0, this.path[0].length);
		this.before.append(':');
		this.after.clear();
		this.after.begin();
		this.after.append(']');
		if (head >= 0 && this.row.namesOuter(this.path[0])) {
			this.before.append(bytes, head, from - head);
			this.after.append(bytes, to, JsonWalk.skip(bytes, head) - to);
		}
		else {
			for (int i = 1; i < this.path.length; i++) {
				this.before.append('{');
				JsonText.appendString(this.before, this.path[i], 0, this.path[i].length);
				this.before.append(':');
			}
			this.after.append("}".repeat(this.path.length - 1));
		}
		this.before.append('[');
		this.after.append('}');
	}

	private void wrap(byte[] bytes, int from, int to) {
		this.raw.clear();
		this.raw.begin();
		this.raw.append(this.before.bytes(), this.before.start(), this.before.length());
		this.raw.append(bytes, from, to - from);
		this.raw.append(this.after.bytes(), this.after.start(), this.after.length());
		this.rawIsNew = true;
	}

	@Override
	void deliver(Record record, @Nullable Rejection fault) {
		if (this.rawIsNew) {
			this.rawIsNew = false;
			record.copyRaw(this.raw.bytes(), this.raw.start(), this.raw.start() + this.raw.length());
			record.row(this.row.number() + 1);
		}
		this.row.deliver(record, (fault != null) ? fault : this.noArray);
	}

	@Override
	boolean makesRecord() {
		return hasNext();
	}

	@Override
	boolean hasNext() {
		while (!this.row.hasNext() && this.nextItem >= 0) {
			readNext();
		}
		return this.row.hasNext();
	}

	@Override
	void skip() {
		this.row.skip();
	}

	@Override
	List<Notice> notices() {
		return this.row.notices();
	}

	@Override
	long leftOut() {
		return this.row.allLeftOut();
	}

	@Override
	@Nullable String problemAtEnd() {
		return (this.objects > 0 && !this.pathFound) ? missing(this.rows) : null;
	}

	/** The message for a body in which no object has the array of rows. */
	static String missing(Rows rows) {
		return "no object has the member '" + rows.pathText() + "', whose elements are the rows by rows=" + rows.text();
	}

}
