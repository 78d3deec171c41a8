package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The state of a job. */
public enum JobState {

	/** The job waits for other jobs to end before it begins. */
	QUEUED,

	/** The job runs. The report of an ended job never has this state. */
	RUNNING,

	/** The input was read to its end, and each record has an outcome. */
	COMPLETED,

	/** The job ended itself before the end of its input. */
	STOPPED,

	/** The input was invalid, or Redis or the service failed. */
	FAILED,

	/** A request cancelled it, or its caller disconnected during the upload. */
	CANCELLED,

	/** The process that ran it has ended or has suspended it. It can be resumed. */
	INTERRUPTED;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** Its name in reports and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

	/**
	 * Whether a job in this state waits or runs.
	 */
	public boolean isActive() {
		return this == QUEUED || this == RUNNING;
	}

}
