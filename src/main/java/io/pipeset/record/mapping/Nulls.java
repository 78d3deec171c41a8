package io.pipeset.record.mapping;

import java.util.Locale;

/** The meaning of a null where a record needs a value. */
public enum Nulls {

	/** The record is refused. */
	REFUSE,

	/** The field, or the expiry, is left out. */
	SKIP,

	/** It is the empty string. */
	EMPTY,

	/** For SET: the record is a DEL of its key. */
	DELETE;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it in settings and reports. */
	public String label() {
		return this.label;
	}

}
