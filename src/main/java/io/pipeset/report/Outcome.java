package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The outcome of a record. The counts of the five outcomes always add up to the job's
 * records.
 */
public enum Outcome {

	/** Redis ran it. */
	APPLIED,

	/** Redis ran it without effect. */
	NOOP,

	/** Redis replied with an error, or the service refused to send it. */
	REJECTED,

	/** It was written and no reply was read, so it may have run. */
	UNKNOWN,

	/** It certainly did not run. */
	UNPROCESSED;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** Its name in reports and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

	/** Whether the caller must check such a record. */
	public boolean isError() {
		return this == REJECTED || this == UNKNOWN || this == UNPROCESSED;
	}

}
