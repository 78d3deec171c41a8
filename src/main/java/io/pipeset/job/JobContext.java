package io.pipeset.job;

import java.util.concurrent.Executor;

import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.Pipelines;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of one job share.
 *
 * @param settings how to run it
 * @param account what became of its records
 * @param clock where its time goes
 * @param stop whether it is to write nothing more
 * @param retries the losses it may survive
 * @param capacity the connections of all jobs
 * @param pipelines where batches run
 * @param pipeline how much a lane may have on its way
 * @param meters where batches are metered
 * @param executor where lanes run
 * @param receipt for a job that pops reliably; {@code null} for others
 * @param memory what it holds of the service's memory
 */
record JobContext(JobSettings settings, Account account, JobClock clock, JobStop stop, Retries retries,
		LaneCapacity capacity, Pipelines pipelines, PipelineProperties pipeline, JobMeters meters, Executor executor,
		@Nullable PopReceipt receipt, MemoryShare memory) {

	/**
	 * Stops the job where more records were rejected than it allows, or its transactions.
	 */
	void checkErrors() {
		String refusal = this.account.transactionRefusal();
		if (refusal != null) {
			this.stop.because(Cause.REDIS_REFUSES, refusal + ". " + Transactions.REMEDY);
		}
		Long maxErrors = this.settings.maxErrors();
		if (maxErrors != null && this.account.total(Outcome.REJECTED) > maxErrors) {
			this.stop.because(Cause.STOPPED, "More records were rejected than maxErrors=" + maxErrors + " allows");
		}
	}

}
