package io.pipeset.report;

import java.util.Locale;

/**
 * The reason for the end of a job, and its text.
 *
 * @param detail the event and its remedy, for the caller to read; empty for a completed
 * job
 */
public record Ending(Cause cause, String detail) {

	/** Every record ran. */
	public static final Ending COMPLETED = new Ending(Cause.COMPLETED, "");

	/**
	 * The kinds of end that the contract knows, each with the state it leaves the job in.
	 */
	public enum Cause {

		/** Every record ran. */
		COMPLETED(JobState.COMPLETED),

		/**
		 * More records were rejected than {@code maxErrors} allows, or a pop limit was
		 * met.
		 */
		STOPPED(JobState.STOPPED),

		/** The body has another number of records than the path declares. */
		COUNT_MISMATCH(JobState.FAILED),

		/** The body's framing broke: no further record can be told from its bytes. */
		MALFORMED_BODY(JobState.FAILED),

		/** The body is larger than a limit. */
		LIMIT(JobState.FAILED),

		/** The body stopped coming. */
		STALLED(JobState.FAILED),

		/** Redis refused a whole batch for one reason. */
		REDIS_REFUSES(JobState.STOPPED),

		/** Redis was lost after something had been written. */
		REDIS_LOST(JobState.FAILED),

		/** Nothing could be written. */
		REDIS_UNREACHABLE(JobState.FAILED),

		/** The control Redis does not answer, without which nothing may be written. */
		CONTROL_UNREACHABLE(JobState.FAILED),

		/** The service was told to stop before the job was through. */
		SHUTTING_DOWN(JobState.STOPPED),

		/**
		 * Another request cancelled it, or its caller went away before it had all
		 * records.
		 */
		CANCELLED(JobState.CANCELLED),

		/** A defect of the service, or a want of threads or memory, ended the job. */
		INTERNAL_SERVER_ERROR(JobState.FAILED);

		private final JobState state;

		private final String problemType = name().toLowerCase(Locale.ROOT).replace('_', '-');

		Cause(JobState state) {
			this.state = state;
		}

		/** The state it leaves the job in. */
		public JobState state() {
			return this.state;
		}

		/**
		 * The last part of the problem's type, a promise to callers.
		 * @return for instance {@code redis-lost}
		 */
		public String problemType() {
			return this.problemType;
		}

	}

}
