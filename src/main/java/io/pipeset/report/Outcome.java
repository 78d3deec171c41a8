package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The outcome of one record. The five outcomes of a job always add up to its records. */
public enum Outcome {

	/** Redis ran it. */
	APPLIED,

	/** Redis ran it and there was nothing to do. */
	NOOP,

	/** Redis answered with an error, or the service refused it unsent. */
	REJECTED,

	/** It may have run: it was written, and no reply was read. */
	UNKNOWN,

	/** It certainly did not run. */
	UNPROCESSED;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it in reports and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

	/** Whether a caller has to look at such a record. */
	public boolean isError() {
		return this == REJECTED || this == UNKNOWN || this == UNPROCESSED;
	}

}
