package io.pipeset.record.mapping;

import java.util.Locale;

/** What to do with a null if a record needs a value. */
public enum Nulls {

	/** Refuse the record. */
	REFUSE,

	/** Leave out the field or the expiry. */
	SKIP,

	/** Use the empty string. */
	EMPTY;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The name in settings and reports. */
	public String label() {
		return this.label;
	}

}
