package io.pipeset.web;

import java.util.function.Supplier;

import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.Job;
import io.pipeset.keep.JobItems;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.JobRegistry;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobStatus;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;

import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;

/** A job that this instance knows, because the job runs here, or its files are here. */
record LocalJob(Job job, JobRegistry jobs, JobRecorder recorder, JobViews views) implements JobHandle {

	@Override
	public ResponseEntity<?> view() {
		return this.views.answer(this.views.of(this.job));
	}

	@Override
	public Supplier<JobStatus> follow() {
		return this.job::status;
	}

	@Override
	public JobItems items() {
		JobItems items = this.job.items();
		if (items != null) {
			return items;
		}
		if (this.job.state().isActive()) {
			throw Problems.exception(Problem.NOT_ENDED,
					"The job has not ended. Its items can be listed when it has ended");
		}
		throw Problems.exception(Problem.NO_ITEMS,
				"The job has no items. Only an upload with Prefer: respond-async keeps its records, and only if some did"
						+ " not run. The report of any other job lists its first items, up to pipeset.limits.max-items");
	}

	@Override
	public ResponseEntity<JobStatus> cancel() {
		boolean interrupted = this.job.interrupted() != null;
		if (!this.jobs.cancel(this.job)) {
			throw (interrupted) ? JobViews.claimed() : JobViews.ended(this.job.state());
		}
		if (interrupted) {
			// The control Redis still has the record of the earlier process.
			this.recorder.keep(this.job.id());
		}
		this.recorder.cancelled(this.job.id());
		return JobViews.json(ResponseEntity.accepted())
			.header(HttpHeaders.LOCATION, JobIds.location(this.job.id()))
			.body(this.job.status());
	}

	@Override
	public InterruptedJob interrupted() {
		if (this.job.interrupted() != null) {
			applyRemoteCancellation();
		}
		InterruptedJob interrupted = this.job.interrupted();
		if (interrupted == null) {
			throw JobViews.notInterrupted(this.job.state());
		}
		return interrupted;
	}

	/** Applies a cancellation from the time when no process had the job. */
	private void applyRemoteCancellation() {
		try {
			this.recorder.hearOf(this.job);
		}
		catch (ControlRedisException ex) {
			throw Problems.exception(Problem.CONTROL_UNREACHABLE,
					"Another instance may have cancelled the job, and this instance cannot check that. "
							+ ex.getMessage() + ". Resume the job when the control Redis can be reached");
		}
	}

	@Override
	public JobKind kind() {
		return this.job.kind();
	}

	@Override
	public ResponseEntity<?> changeRateLimit(long perSecond) {
		if (!this.job.changeRateLimit((perSecond > 0) ? perSecond : null)) {
			throw JobViews.ended(this.job.state());
		}
		return view();
	}

}
