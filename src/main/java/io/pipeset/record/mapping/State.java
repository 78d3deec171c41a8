package io.pipeset.record.mapping;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.grammar.JsonKind;
import io.pipeset.record.grammar.JsonText;

/** What a row has under a name. */
public enum State {

	/** The row does not have the name. */
	ABSENT,

	/** JSON's null, SQL's NULL, or a cell that stands for null. */
	NULL,

	/** A string or a cell, which may be empty. */
	TEXT,

	/** A number or a boolean, as its JSON text. */
	SCALAR,

	/** An array or an object, as compact JSON. */
	COMPOSITE,

	/** Bytes of a database. */
	BYTES;

	/** The state of a value of JSON. */
	public static State of(JsonKind kind) {
		return switch (kind) {
			case STRING -> TEXT;
			case NUMBER, BOOLEAN -> SCALAR;
			case NULL -> NULL;
			case OBJECT, ARRAY -> COMPOSITE;
		};
	}

	/** Appends a value of this state as JSON, in which bytes are Base64. */
	public void append(ArgumentBytes json, byte[] source, int offset, int length) {
		switch (this) {
			case ABSENT, NULL -> json.append("null");
			case TEXT -> JsonText.appendString(json, source, offset, length);
			case SCALAR, COMPOSITE -> json.append(source, offset, length);
			case BYTES -> JsonText.appendBase64(json, source, offset, length);
		}
	}

	/** Whether there is a value. */
	public boolean isValue() {
		return this != ABSENT && this != NULL;
	}

}
