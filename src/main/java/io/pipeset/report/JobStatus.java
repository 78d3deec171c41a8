package io.pipeset.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The state of a job in a few words, of a size that does not depend on the job's.
 *
 * @param op the operation of its records, or {@code mixed}; {@code null} for jobs without
 * records
 * @param dryRun {@code true} for a job that only checks its records; {@code null} for all
 * others
 * @param createdMillis when it was asked for, in milliseconds since 1970
 * @param endedMillis when it ended; {@code null} while it has not
 * @param counts its records by outcome; {@code null} for jobs without records
 * @param ending the reason for its end; {@code null} while it has not ended, and for a
 * job that completed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JobStatus(String jobId, JobKind kind, @Nullable String op, @Nullable Boolean dryRun, JobState state,
		long createdMillis, @Nullable Long endedMillis, @Nullable Counts counts, Progress progress,
		@Nullable EndReason ending) {

	/**
	 * A job of records that is asked for now, and waits.
	 * @param op the operation of its records, or {@code mixed}
	 */
	public static JobStatus queued(String jobId, String op, @Nullable Boolean dryRun) {
		return new JobStatus(jobId, JobKind.RECORDS, op, dryRun, JobState.QUEUED, System.currentTimeMillis(), null,
				new Counts(0, 0, 0, 0, 0, 0), new Progress(0, 0, null, null, 0, 0, 0, null), null);
	}

	/**
	 * The same job, of whose process nothing is heard any more. What it had read and not
	 * sent by then may have been sent since.
	 */
	public JobStatus interrupted(String detail) {
		return ended(JobState.INTERRUPTED, null, new EndReason(JobState.INTERRUPTED.label(), detail));
	}

	/**
	 * The same job, whose process ended before the job did.
	 * @param state what has become of it
	 * @param endedMillis when that was; {@code null} if it may go on
	 */
	public JobStatus ended(JobState state, @Nullable Long endedMillis, EndReason reason) {
		Counts known = (this.counts != null && this.dryRun == null) ? this.counts.nothingIsUnsent() : this.counts;
		return new JobStatus(this.jobId, this.kind, this.op, this.dryRun, state, this.createdMillis, endedMillis, known,
				this.progress, reason);
	}

	/**
	 * The reason for the end of a job that did not complete.
	 *
	 * @param type the last part of the problem's type, such as {@code redis-lost}
	 * @param detail the event and its remedy
	 */
	public record EndReason(String type, String detail) {

		/**
		 * The reason that a job gives.
		 * @return {@code null} for a completed job
		 */
		public static @Nullable EndReason of(Ending ending) {
			return (ending.cause() != Ending.Cause.COMPLETED)
					? new EndReason(ending.cause().problemType(), ending.detail()) : null;
		}

	}

}
