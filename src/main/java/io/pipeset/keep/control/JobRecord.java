package io.pipeset.keep.control;

import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * The record of a job in the control Redis.
 *
 * @param client the name of the client that owns the job
 * @param status the status that its instance last wrote; {@code interrupted} if the job
 * had not ended and its process is dead
 * @param instance the name of the instance that has the job
 * @param alive whether the process that has the job is alive
 * @param cancelled when a caller cancelled the job at another instance, in milliseconds
 * since 1970; {@code null} if it was not
 * @param request the digest of its request, if it has an idempotency key; {@code null} if
 * it has none, or before the digest is known
 * @param unsent whether the job has an idempotency key, and cannot have written to the
 * data Redis
 * @param resumable whether it has files from which another process can resume it
 * @param report the last report; {@code null} if there is none, or the query left it out
 * @param callback the state of its callback; {@code null} if it has none or has not
 * ended, or the query left it out
 */
public record JobRecord(String client, JobStatus status, String instance, boolean alive, @Nullable String cancelled,
		@Nullable String request, boolean unsent, boolean resumable, @Nullable StoredReport report,
		@Nullable CallbackState callback) {

	/** The same record with another status. */
	JobRecord with(JobStatus status) {
		return new JobRecord(this.client, status, this.instance, this.alive, this.cancelled, this.request, this.unsent,
				this.resumable, this.report, this.callback);
	}

}
