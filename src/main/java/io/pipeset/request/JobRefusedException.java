package io.pipeset.request;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;

/** The service refused to begin a job: no record was read or run. */
public final class JobRefusedException extends RuntimeException {

	private final Reason reason;

	/**
	 * Creates a refusal.
	 * @param message the reason and what to do, for the caller
	 */
	public JobRefusedException(Reason reason, String message) {
		// No stack trace, because it may be thrown a thousand times a second.
		super(message, null, false, false);
		this.reason = reason;
	}

	public Reason reason() {
		return this.reason;
	}

	/** The end of the job, for clients that query it. */
	public Ending ending() {
		return new Ending((this.reason == Reason.SHUTTING_DOWN) ? Cause.SHUTTING_DOWN : Cause.LIMIT,
				String.valueOf(getMessage()));
	}

	/** The reasons not to begin a job. */
	public enum Reason {

		/** The limit on running and waiting jobs is reached. */
		TOO_MANY,
		/** The client may not run the job. */
		FORBIDDEN,

		/** What the job names is not there. */
		NOT_FOUND,

		/** The spool is full, or its disk fails. */
		NO_SPACE,

		/** The service is shutting down. */
		SHUTTING_DOWN

	}

}
