package io.pipeset.report;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/** The state of a job. */
public enum JobState {

	/** The job waits for others to end before it begins. */
	QUEUED,

	/** The job has not ended. The report of an ended job never says so. */
	RUNNING,

	/** Every record ran. */
	COMPLETED,

	/** The job ended itself before its input did. */
	STOPPED,

	/** The input or Redis broke. */
	FAILED,

	/** Somebody took it back, or its caller went away during the upload. */
	CANCELLED,

	/** The process that held it is gone. */
	INTERRUPTED;

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it in reports and tags. */
	@JsonValue
	public String label() {
		return this.label;
	}

	/**
	 * Whether a job in this state goes on by itself.
	 * @return {@code true} while it waits or runs
	 */
	public boolean isActive() {
		return this == QUEUED || this == RUNNING;
	}

}
