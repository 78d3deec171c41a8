package io.pipeset.web;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.pipeset.job.input.Caller;
import io.pipeset.report.JobStatus;

/** A caller that is answered once its job is taken, and is nobody from then on. */
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
		// Its input is on disk.
	}

	@Override
	public Watch watch(Runnable gone) {
		return SERVICE.watch(gone);
	}

	/** The job was not taken; {@code false} if it was. */
	boolean refuse(Throwable reason) {
		return this.job.completeExceptionally(reason);
	}

	/** Waits until the job is taken or refused, for neither of which it waits. */
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
