package io.pipeset.web;

import java.util.function.Supplier;

import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.JobItems;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;

/**
 * A job that a caller names by its id. It is a job of this instance, or a job of another
 * instance or an earlier process, which has a record in the control Redis. Each method
 * throws an {@link ErrorResponseException} if the job does not allow the request.
 */
sealed interface JobHandle permits LocalJob, RemoteJob {

	/** The status of the job with its report, as the response to the caller. */
	ResponseEntity<?> view();

	/** Reads the current status of the job each time. */
	Supplier<JobStatus> follow();

	/**
	 * The records of the job that did not run as requested.
	 * @return {@code null} if another instance had the job, and all its records ran
	 */
	@Nullable JobItems items();

	/** Cancels the job, or asks its instance to cancel it. */
	ResponseEntity<JobStatus> cancel();

	/** The interrupted job, to be resumed. */
	InterruptedJob interrupted();

	JobKind kind();

	/**
	 * Changes the rate limit of the job, or asks its instance to change it.
	 * @param perSecond records or keys per second; 0 for no limit
	 */
	ResponseEntity<?> changeRateLimit(long perSecond);

}
