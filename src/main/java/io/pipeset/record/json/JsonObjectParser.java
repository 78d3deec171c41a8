package io.pipeset.record.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.mapping.Elements;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.Spreading;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/** Reads data objects, from which templates build records. */
final class JsonObjectParser extends JsonParser {

	private final Members members;

	JsonObjectParser(Templates templates, Nulls nulls, RecordLimit limit, boolean binary) {
		this.members = new Members(templates, nulls, limit, binary);
	}

	@Override
	@Nullable JsonFault read(byte[] bytes, int from, int to) {
		try {
			return this.members.read(bytes, from, to);
		}
		catch (JsonFault fault) {
			this.members.fail();
			return fault;
		}
	}

	@Override
	@Nullable JsonFault readEntry(byte[] bytes, int from, int to) {
		try {
			return this.members.readEntry(bytes, from, to);
		}
		catch (JsonFault fault) {
			this.members.fail();
			return fault;
		}
	}

	@Override
	void deliver(Record record, @Nullable Rejection fault) {
		this.members.fillFrom(record, fault);
	}

	@Override
	boolean makesRecord() {
		return hasNext();
	}

	@Override
	boolean hasNext() {
		return this.members.hasNext();
	}

	@Override
	void skip() {
		this.members.skip();
	}

	/** The members of an object that templates use. */
	private static final class Members extends Row {

		private final JsonNames names;

		private final boolean binary;

		private final List<JsonCursor> cursors = new ArrayList<>();

		private final RecordLimit limit;

		private final int whole;

		private final int index;

		private final int entryKey;

		private final int entryValue;

		private final JsonSpread elements = new JsonSpread();

		private final boolean mapsAllValues;

		private final byte[][] sources;

		private final int[] offsets;

		private final int[] lengths;

		private final boolean[] strings;

		/**
		 * Whether each name was found as a member with exactly this name, not as a path.
		 */
		private final boolean[] exact;

		/**
		 * Each name and value if all members become fields. The length of a value that is
		 * not a string is stored as its complement. It differs from a null's length,
		 * because the value has at least one byte.
		 */
		private final Spans fields;

		private byte[] bytes = {};

		Members(Templates templates, Nulls nulls, RecordLimit limit, boolean binary) {
			super(templates, nulls, limit);
			this.binary = binary;
			this.cursors.add(new JsonCursor(binary));
			this.names = JsonNames.of(templates.names());
			this.whole = templates.names().indexOf(Template.WHOLE);
			this.index = templates.names().indexOf(Template.INDEX);
			this.entryKey = templates.names().indexOf(Template.ENTRY_KEY);
			this.entryValue = templates.names().indexOf(Template.ENTRY_VALUE);
			this.mapsAllValues = templates.mapsAllValues();
			int count = templates.names().size();
			this.sources = new byte[count][];
			this.offsets = new int[count];
			this.lengths = new int[count];
			this.strings = new boolean[count];
			this.exact = new boolean[count];
			this.limit = limit;
			this.fields = new Spans(limit.memory());
		}

		@Nullable JsonFault read(byte[] bytes, int from, int to) throws JsonFault {
			beginRow(bytes);
			JsonCursor cursor = this.cursors.get(0);
			cursor.begin(bytes, from, to);
			JsonFault contentFault = null;
			if (!cursor.isNext('{')) {
				JsonKind kind = cursor.readValue(0);
				refuse(Rejection.MALFORMED,
						"a template makes records of objects, not of " + kind.describe(cursor.excerpt()));
			}
			else {
				if (this.whole >= 0) {
					contentFault = readWhole(cursor, this.whole);
				}
				readObject(0, this.names);
			}
			cursor.expectEnd();
			contentFault = (contentFault != null) ? contentFault : cursor.contentFault();
			if (contentFault != null) {
				setUnreadable();
			}
			return contentFault;
		}

		/**
		 * Reads a name and its value, and the members of the value if it is an object.
		 */
		@Nullable JsonFault readEntry(byte[] bytes, int from, int to) throws JsonFault {
			beginRow(bytes);
			JsonCursor cursor = this.cursors.get(0);
			cursor.begin(bytes, from, to);
			cursor.readName();
			if (this.entryKey >= 0) {
				set(this.entryKey, bytes, cursor.offset(), cursor.length(), true);
			}
			boolean object = cursor.isNext('{');
			JsonFault contentFault = cursor.contentFault();
			if (object && (this.entryValue >= 0 || this.whole >= 0)) {
				JsonFault inside = readWhole(cursor, Math.max(this.entryValue, this.whole));
				contentFault = (contentFault != null) ? contentFault : inside;
				if (this.entryValue >= 0 && this.whole >= 0) {
					share(this.entryValue, this.whole);
				}
			}
			if (object) {
				readObject(0, this.names);
			}
			else {
				JsonKind kind = cursor.readValue(1);
				setEntryValue(kind, cursor);
			}
			cursor.expectEnd();
			contentFault = (contentFault != null) ? contentFault : cursor.contentFault();
			if (contentFault != null) {
				setUnreadable();
			}
			return contentFault;
		}

		private void setEntryValue(JsonKind kind, JsonCursor cursor) {
			for (int slot : new int[] { this.entryValue, this.whole }) {
				if (slot >= 0 && kind == JsonKind.NULL) {
					this.lengths[slot] = NULL;
				}
				else if (slot >= 0) {
					set(slot, cursor.source(), cursor.offset(), cursor.length(), kind == JsonKind.STRING);
				}
			}
			if (this.mapsAllValues) {
				refuse(Rejection.MALFORMED, "the entry's value is " + kind.describe(cursor.excerpt())
						+ ", and without 'fields' its members are the fields: name one, as in fields=value={@value}");
			}
		}

		/** Gives one value to two names. */
		private void share(int first, int second) {
			int from = (this.lengths[first] >= 0) ? first : second;
			int to = (from == first) ? second : first;
			set(to, this.sources[from], this.offsets[from], this.lengths[from], this.strings[from]);
		}

		private void beginRow(byte[] bytes) {
			begin();
			Arrays.fill(this.lengths, ABSENT);
			this.bytes = bytes;
			this.fields.clear();
			Arrays.fill(this.exact, false);
			if (this.index >= 0) {
				byte[] digits = digits();
				set(this.index, digits, 0, digits.length, false);
			}
		}

		private void set(int name, byte[] source, int offset, int length, boolean string) {
			this.sources[name] = source;
			this.offsets[name] = offset;
			this.lengths[name] = length;
			this.strings[name] = string;
		}

		@Override
		protected int length(int name) {
			return this.lengths[name];
		}

		@Override
		protected byte[] source(int name) {
			return this.sources[name];
		}

		@Override
		protected int offset(int name) {
			return this.offsets[name];
		}

		@Override
		protected boolean isString(int name) {
			return this.strings[name];
		}

		/** The object cannot be read. */
		void fail() {
			setUnreadable();
		}

		void fillFrom(Record record, @Nullable Rejection fault) {
			fill(record, fault);
		}

		/**
		 * Removes white space from the object, and keeps a copy, because its strings are
		 * decoded in place.
		 */
		private @Nullable JsonFault readWhole(JsonCursor cursor, int slot) throws JsonFault {
			cursor.readValue(0);
			int offset = cursor.offset();
			int length = cursor.length();
			cursor.expectEnd();
			JsonFault contentFault = cursor.contentFault();
			ArgumentBytes copy = composed();
			copy.begin();
			copy.append(this.bytes, offset, length);
			set(slot, copy.bytes(), copy.start(), length, false);
			cursor.begin(this.bytes, offset, offset + length);
			return contentFault;
		}

		/** Reads the next object. Its members may be used by templates. */
		private void readObject(int depth, JsonNames names) throws JsonFault {
			JsonCursor cursor = this.cursors.get(depth);
			if (!cursor.isNext('{') || !cursor.enter('}')) {
				return;
			}
			boolean all = depth == 0 && this.mapsAllValues;
			do {
				cursor.readName();
				int name = cursor.offset();
				int nameLength = cursor.length();
				int index = names.find(cursor.source(), name, nameLength);
				JsonKind kind = cursor.readValue(depth + 1);
				if (all) {
					addField(name, nameLength, kind, cursor);
				}
				if (index != JsonNames.NONE) {
					store(depth, names, index, kind);
				}
			}
			while (cursor.next('}'));
		}

		private void addField(int name, int nameLength, JsonKind kind, JsonCursor cursor) {
			if (this.fields.count() + 2 > this.limit.arguments()) {
				refuse(Rejection.TOO_LARGE, this.limit.tooManyArguments());
				return;
			}
			this.fields.add(name, nameLength);
			this.fields.add(cursor.offset(),
					(kind == JsonKind.NULL) ? NULL : (kind == JsonKind.STRING) ? cursor.length() : ~cursor.length());
		}

		/**
		 * Stores a value and the values in it. They replace earlier values of the same
		 * name.
		 */
		private void store(int depth, JsonNames names, int index, JsonKind kind) throws JsonFault {
			JsonCursor cursor = this.cursors.get(depth);
			int offset = cursor.offset();
			int length = cursor.length();
			int slot = names.slot(index);
			boolean wanted = slot != JsonNames.NONE && (depth == 0 || !this.exact[slot]);
			if (wanted) {
				this.exact[slot] = depth == 0;
				if (kind == JsonKind.NULL) {
					this.lengths[slot] = NULL;
				}
				else {
					set(slot, cursor.source(), offset, length, kind == JsonKind.STRING);
				}
			}
			JsonNames child = names.child(index);
			if (child != null) {
				markMissing(names.descendants(index), kind == JsonKind.NULL);
				if (kind == JsonKind.OBJECT) {
					descend(depth + 1, child, offset, length, wanted || (depth == 0 && this.mapsAllValues));
				}
			}
		}

		/** Marks the values in an object as absent, or as null if the object is null. */
		private void markMissing(int[] slots, boolean isNull) {
			for (int slot : slots) {
				if (!this.exact[slot]) {
					this.lengths[slot] = (isNull) ? NULL : ABSENT;
				}
			}
		}

		/**
		 * Reads an object inside another one. Its white space is already removed.
		 * @param isValue whether the object's bytes are a value themselves, so that its
		 * strings cannot be decoded in place
		 */
		private void descend(int depth, JsonNames names, int offset, int length, boolean isValue) throws JsonFault {
			if (this.cursors.size() == depth) {
				this.cursors.add(new JsonCursor(this.binary));
			}
			byte[] source = this.cursors.get(depth - 1).source();
			int from = offset;
			if (isValue) {
				ArgumentBytes copy = composed();
				copy.begin();
				copy.append(source, offset, length);
				source = copy.bytes();
				from = copy.start();
			}
			this.cursors.get(depth).begin(source, from, from + length);
			readObject(depth, names);
		}

		@Override
		protected Spreading spread(int name, Elements elements) {
			byte first = (this.lengths[name] > 0) ? this.sources[name][this.offsets[name]] : 0;
			if (this.strings[name] || (first != '[' && first != '{')) {
				elements.add(this.sources[name], this.offsets[name], this.lengths[name], this.strings[name]);
				return Spreading.SINGLE;
			}
			// Elements are decoded in place, and the value may be an argument as well.
			ArgumentBytes copy = composed();
			copy.begin();
			copy.append(this.sources[name], this.offsets[name], this.lengths[name]);
			this.elements.begin(copy.bytes(), copy.start(), copy.length());
			return this.elements.spread(elements);
		}

		@Override
		protected void addFields(Record record) {
			for (int i = 0; i < this.fields.count(); i += 2) {
				int name = this.fields.offset(i);
				int nameLength = this.fields.length(i);
				int length = this.fields.length(i + 1);
				if (length == NULL) {
					addNullField(record, this.bytes, name, nameLength);
				}
				else {
					addField(record, this.bytes, name, nameLength, this.bytes, this.fields.offset(i + 1),
							(length < 0) ? ~length : length, length >= 0);
				}
			}
		}

		@Override
		protected String noun() {
			return "member";
		}

		@Override
		protected String emptiness() {
			return "null";
		}

	}

}
