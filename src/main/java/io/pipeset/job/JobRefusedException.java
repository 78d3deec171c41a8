package io.pipeset.job;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;

/** A job was not begun: none of its records was read or run. */
public final class JobRefusedException extends RuntimeException {

	private final Reason reason;

	/**
	 * Refuses a job.
	 * @param message the same in words, and the remedy
	 */
	public JobRefusedException(Reason reason, String message) {
		// Without a stack trace: it may be thrown a thousand times a second.
		super(message, null, false, false);
		this.reason = reason;
	}

	/** Why it was not begun. */
	public Reason reason() {
		return this.reason;
	}

	/** The same, for whoever looks at the job. */
	public Ending ending() {
		return new Ending((this.reason == Reason.SHUTTING_DOWN) ? Cause.SHUTTING_DOWN : Cause.LIMIT,
				String.valueOf(getMessage()));
	}

	/** The reasons not to begin a job. */
	public enum Reason {

		/** As many jobs run and wait as may. */
		TOO_MANY,
		/** Its client may not run it. */
		FORBIDDEN,

		/** The spool has no room for it, or its disk fails. */
		NO_SPACE,

		/** The service is about to end. */
		SHUTTING_DOWN

	}

}
