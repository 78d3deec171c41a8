package io.pipeset.job.control;

import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * A job as the control Redis knows it.
 *
 * @param client the name of the client whose job it is
 * @param status how it stood when its instance last wrote it; {@code interrupted} if it
 * had not ended and its instance is gone
 * @param instance the name of the instance that holds it
 * @param lease the lease of that instance's process
 * @param cancelledMillis when it was cancelled at another instance, in milliseconds since
 * 1970; {@code null} if it was not
 * @param report its last report; {@code null} if there is none, or it was not asked for
 */
public record JobRecord(String client, JobStatus status, String instance, String lease, @Nullable Long cancelledMillis,
		@Nullable StoredReport report) {

}
