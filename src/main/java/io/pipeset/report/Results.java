package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** Which records a report lists. */
public enum Results {

	/** The failed records. */
	ERRORS,

	/** All records, each with Redis's reply. */
	ALL,

	/** No records. */
	NONE;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** Its name in settings and reports. */
	@JsonValue
	public String label() {
		return this.label;
	}

	boolean lists(Outcome outcome) {
		return this == ALL || (this == ERRORS && outcome.isError());
	}

}
