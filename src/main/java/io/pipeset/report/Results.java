package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The records that a report lists. */
public enum Results {

	/** Those that did not run as asked. */
	ERRORS,

	/** All, each with Redis's reply. */
	ALL,

	/** None. */
	NONE;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it in settings and reports. */
	@JsonValue
	public String label() {
		return this.label;
	}

	boolean lists(Outcome outcome) {
		return this == ALL || (this == ERRORS && outcome.isError());
	}

}
