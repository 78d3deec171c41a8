package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The kinds of jobs. */
public enum JobKind {

	/** A stream of records. */
	RECORDS("job"),

	/** A look at all keys. */
	ANALYSIS("analysis"),

	/** A search for the best settings. */
	TUNING("tuning");

	private final String reportName;

	private final String label = name().toLowerCase(Locale.ROOT);

	JobKind(String reportName) {
		this.reportName = reportName;
	}

	/** The member of problem details that carries the report of such a job. */
	public String reportName() {
		return this.reportName;
	}

	/** The word for it in answers and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

}
