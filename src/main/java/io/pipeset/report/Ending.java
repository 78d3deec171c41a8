package io.pipeset.report;

import java.util.Locale;

/**
 * Why a job ended.
 *
 * @param cause the kind of end
 * @param detail what happened and what the caller can do; empty for a completed job
 */
public record Ending(Cause cause, String detail) {

	/** The input was read to its end, and each record has an outcome. */
	public static final Ending COMPLETED = new Ending(Cause.COMPLETED, "");

	/**
	 * The kinds of end that the API has, each with the resulting state of the job.
	 */
	public enum Cause {

		/** The input was read to its end, and each record has an outcome. */
		COMPLETED(JobState.COMPLETED),

		/**
		 * More records were rejected than {@code maxErrors} allows, or a limit of a pop
		 * was reached.
		 */
		STOPPED(JobState.STOPPED),

		/** The number of records in the body differs from the number in the path. */
		COUNT_MISMATCH(JobState.FAILED),

		/** The repeat of a request has other records than those that have run. */
		IDEMPOTENCY_KEY_REUSED(JobState.FAILED),

		/** The body's framing is broken, so no further record can be read from it. */
		MALFORMED_BODY(JobState.FAILED),

		/** The body is larger than a limit. */
		LIMIT(JobState.FAILED),

		/** No more of the body arrived in time. */
		STALLED(JobState.FAILED),

		/** The source from which the service fetches the records has failed. */
		SOURCE_FAILED(JobState.FAILED),

		/** Redis refused a whole batch for one reason. */
		REDIS_REFUSES(JobState.STOPPED),

		/** The connection to Redis was lost after a command had been written. */
		REDIS_LOST(JobState.FAILED),

		/** Redis could not be reached, and no command was written. */
		REDIS_UNREACHABLE(JobState.FAILED),

		/**
		 * The control Redis does not answer, and no command may be written without it.
		 */
		CONTROL_UNREACHABLE(JobState.FAILED),

		/** The service was shut down before the job was done. */
		SHUTTING_DOWN(JobState.STOPPED),

		/**
		 * Another request cancelled it, or its caller disconnected before it had sent all
		 * records.
		 */
		CANCELLED(JobState.CANCELLED),

		/** A defect of the service, or a lack of threads or memory. */
		INTERNAL_SERVER_ERROR(JobState.FAILED);

		private final JobState state;

		private final String problemType = name().toLowerCase(Locale.ROOT).replace('_', '-');

		Cause(JobState state) {
			this.state = state;
		}

		/** The resulting state of the job. */
		public JobState state() {
			return this.state;
		}

		/**
		 * The last part of the problem type, which is part of the API.
		 * @return for instance {@code redis-lost}
		 */
		public String problemType() {
			return this.problemType;
		}

	}

}
