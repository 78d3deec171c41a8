package io.pipeset.record.json;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.mapping.Elements;
import io.pipeset.record.mapping.Spreading;

/** Takes the elements of a value that is a JSON array, or the members of an object. */
public final class JsonSpread {

	private final JsonCursor cursor = new JsonCursor();

	private byte[] bytes = {};

	private int from;

	private int to;

	/**
	 * Reads a text as JSON, and makes it compact in its place.
	 * @param text the argument that was begun last
	 * @return whether it is an array or an object, and nothing else
	 */
	public boolean isArrayOrObject(ArgumentBytes text) {
		byte[] bytes = text.bytes();
		int from = text.start();
		int to = from + text.length();
		boolean begins = from < to && (bytes[from] == '[' || bytes[from] == '{');
		if (!begins) {
			return false;
		}
		try {
			this.cursor.begin(bytes, from, to);
			this.cursor.readValue(0);
			begin(bytes, this.cursor.offset(), this.cursor.length());
			this.cursor.expectEnd();
			return this.cursor.contentFault() == null;
		}
		catch (JsonFault fault) {
			return false;
		}
	}

	/** Begins with a compact array or object, which is decoded in place. */
	void begin(byte[] bytes, int offset, int length) {
		this.bytes = bytes;
		this.from = offset;
		this.to = offset + length;
	}

	/** Gives each element, or each name and value in turn. */
	public Spreading spread(Elements elements) {
		try {
			this.cursor.begin(this.bytes, this.from, this.to);
			boolean object = this.cursor.isNext('{');
			char close = (object) ? '}' : ']';
			if (this.cursor.enter(close)) {
				do {
					if (object) {
						this.cursor.readName();
						add(JsonKind.STRING, elements);
					}
					add(this.cursor.readValue(1), elements);
				}
				while (this.cursor.next(close));
			}
			return (object) ? Spreading.OBJECT : Spreading.ARRAY;
		}
		catch (JsonFault fault) {
			throw new IllegalStateException("JSON that was read before is not JSON now", fault);
		}
	}

	private void add(JsonKind kind, Elements elements) {
		if (kind == JsonKind.NULL) {
			elements.refuseNull();
		}
		else {
			elements.add(this.cursor.source(), this.cursor.offset(), this.cursor.length(), kind == JsonKind.STRING);
		}
	}

}
