package io.pipeset.report;

import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * A short status of a job. Its size does not depend on the number of records.
 *
 * @param op the operation of its records, or {@code mixed}; {@code null} for jobs without
 * records
 * @param dryRun {@code true} for a job that only checks its records; {@code null} for all
 * others
 * @param label the caller's name for it; {@code null} if the caller gave none
 * @param createdMillis when it was requested, in milliseconds since 1970
 * @param endedMillis when it ended, in milliseconds since 1970; {@code null} if it has
 * not ended
 * @param counts its records by outcome; {@code null} for jobs without records
 * @param verified how its records compare with what Redis has; {@code null} if they are
 * not compared
 * @param ending why it ended; {@code null} if it has not ended or has completed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JobStatus(String jobId, JobKind kind, @Nullable String op, @Nullable Boolean dryRun,
		@Nullable String label, JobState state, long createdMillis, @Nullable Long endedMillis, @Nullable Counts counts,
		@Nullable Verified verified, Progress progress, @Nullable EndReason ending) {

	/** The status of a job that does not compare its records. */
	public JobStatus(String jobId, JobKind kind, @Nullable String op, @Nullable Boolean dryRun, @Nullable String label,
			JobState state, long createdMillis, @Nullable Long endedMillis, @Nullable Counts counts, Progress progress,
			@Nullable EndReason ending) {
		this(jobId, kind, op, dryRun, label, state, createdMillis, endedMillis, counts, null, progress, ending);
	}

	/**
	 * The status of a job with records that is requested now and waits.
	 * @param op the operation of its records, or {@code mixed}
	 */
	public static JobStatus queued(String jobId, String op, @Nullable Boolean dryRun, @Nullable String label) {
		return new JobStatus(jobId, JobKind.RECORDS, op, dryRun, label, JobState.QUEUED, System.currentTimeMillis(),
				null, new Counts(0, 0, 0, 0, 0, 0), new Progress(0, 0, null, null, 0, 0, 0, null), null);
	}

	/**
	 * The status after the job's process stopped sending heartbeats. Records that were
	 * read and not sent may have been sent since.
	 */
	public JobStatus interrupted(String detail) {
		return ended(JobState.INTERRUPTED, null, new EndReason(JobState.INTERRUPTED.label(), detail));
	}

	/**
	 * The status after the job's process ended before the job.
	 * @param state its state now
	 * @param endedMillis when the job ended, in milliseconds since 1970; {@code null} if
	 * it may be resumed
	 */
	public JobStatus ended(JobState state, @Nullable Long endedMillis, EndReason reason) {
		Counts known = (this.counts != null && this.dryRun == null && this.verified == null)
				? this.counts.withUnprocessedAsUnknown() : this.counts;
		return new JobStatus(this.jobId, this.kind, this.op, this.dryRun, this.label, state, this.createdMillis,
				endedMillis, known, this.verified, this.progress, reason);
	}

	/**
	 * Why a job did not complete.
	 *
	 * @param type the last part of the problem type, such as {@code redis-lost}
	 * @param detail what happened and what the caller can do
	 */
	public record EndReason(String type, String detail) {

		/**
		 * The reason in a job's ending.
		 * @return {@code null} for a completed job
		 */
		public static @Nullable EndReason of(Ending ending) {
			return (ending.cause() != Cause.COMPLETED) ? new EndReason(ending.cause().problemType(), ending.detail())
					: null;
		}

		/**
		 * The kind of end.
		 * @return {@code null} if the job did not end by itself
		 */
		public @Nullable Cause cause() {
			return Stream.of(Cause.values())
				.filter((cause) -> cause.problemType().equals(this.type))
				.findFirst()
				.orElse(null);
		}

	}

}
