package io.pipeset.job.control;

import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * The record of a job in the control Redis.
 *
 * @param client the name of the client that owns the job
 * @param status the status that its instance last wrote; {@code interrupted} if the job
 * had not ended and its instance is dead
 * @param instance the name of the instance that has the job
 * @param lease the lease of that instance's process
 * @param cancelledMillis when a caller cancelled the job at another instance, in
 * milliseconds since 1970; {@code null} if it was not
 * @param report the last report; {@code null} if there is none, or the query left it out
 * @param callback the state of its callback; {@code null} if it has none or has not
 * ended, or the query left it out
 */
public record JobRecord(String client, JobStatus status, String instance, String lease, @Nullable Long cancelledMillis,
		@Nullable StoredReport report, @Nullable CallbackState callback) {

}
