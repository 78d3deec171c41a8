package io.pipeset.web;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.pipeset.input.Caller;
import io.pipeset.report.JobStatus;

/**
 * The caller of an asynchronous job. It gets its response when the job is accepted, and
 * the job does not depend on it afterwards.
 */
final class AsyncCaller implements Caller {

	private final CompletableFuture<JobStatus> job = new CompletableFuture<>();

	@Override
	public boolean waits() {
		return false;
	}

	@Override
	public void taken(JobStatus job) {
		this.job.complete(job);
	}

	@Override
	public void endInputIfPaused(Duration idle) {
		// The input is on disk already.
	}

	@Override
	public Watch watch(Runnable gone) {
		return SERVICE.watch(gone);
	}

	/** Whether the waiting request has its response. */
	boolean isAccepted() {
		return this.job.isDone();
	}

	/** Reports to the waiting request that the job was not accepted, if it was not. */
	void refuse(Throwable reason) {
		this.job.completeExceptionally(reason);
	}

	/**
	 * Waits until the job is accepted, and returns its status. The wait is short, because
	 * a job is accepted before it waits in the queue.
	 * @throws RuntimeException the reason if the job is refused
	 */
	JobStatus awaitJob() {
		try {
			return this.job.join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof RuntimeException refused) {
				throw refused;
			}
			throw ex;
		}
	}

}
