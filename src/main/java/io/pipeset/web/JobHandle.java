package io.pipeset.web;

import java.util.function.Supplier;

import io.pipeset.job.directory.InterruptedJob;
import io.pipeset.job.journal.JobItems;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;

/**
 * A job as callers ask for it: one of this instance, or one of another instance or a
 * former process, which is known by its record in the control Redis. Each method throws
 * an {@link ErrorResponseException} if the job does not allow it.
 */
sealed interface JobHandle permits LocalJob, RemoteJob {

	/** Answers with its state and its report. */
	ResponseEntity<?> look();

	/** Reads its state, again and again. */
	Supplier<JobStatus> follow();

	/**
	 * Its records that did not run as asked.
	 * @return {@code null} if all of them ran, and no record is kept
	 */
	@Nullable JobItems items();

	/** Cancels it. */
	ResponseEntity<JobStatus> cancel();

	/** The job to go on with, which is interrupted. */
	InterruptedJob interrupted();

	JobKind kind();

	/**
	 * Changes its pace.
	 * @param perSecond records or keys a second; 0 for no limit
	 */
	ResponseEntity<?> pace(long perSecond);

}
