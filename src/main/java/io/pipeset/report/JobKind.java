package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The kinds of jobs. */
public enum JobKind {

	/** A stream of records. */
	RECORDS("job"),

	/** Totals of all keys. */
	ANALYSIS("analysis"),

	/** A measurement of several settings. */
	TUNING("tuning");

	private final String reportName;

	private final String label = name().toLowerCase(Locale.ROOT);

	JobKind(String reportName) {
		this.reportName = reportName;
	}

	/** The member of problem details that has the report of such a job. */
	public String reportName() {
		return this.reportName;
	}

	/** Its name in responses and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

}
