package io.pipeset.web;

import java.util.Optional;
import java.util.function.Supplier;

import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.JobItems;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecord;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.report.Counts;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;

/**
 * A job of another instance or of an earlier process, which this instance knows only by
 * its record in the control Redis.
 */
final class RemoteJob implements JobHandle {

	private static final Logger logger = LoggerFactory.getLogger(RemoteJob.class);

	private final JobRecord job;

	private final JobRecords records;

	private final JobViews views;

	RemoteJob(JobRecord job, JobRecords records, JobViews views) {
		this.job = job;
		this.records = records;
		this.views = views;
	}

	@Override
	public ResponseEntity<?> view() {
		return this.views.answer(this.views.of(this.job));
	}

	@Override
	public Supplier<JobStatus> follow() {
		return new RecordedStatus(this.job);
	}

	@Override
	public @Nullable JobItems items() {
		if (allRecordsRan()) {
			return null;
		}
		throw heldElsewhere();
	}

	private boolean allRecordsRan() {
		Counts counts = this.job.status().counts();
		return this.job.status().state() == JobState.COMPLETED && counts != null
				&& counts.applied() + counts.noop() == counts.received();
	}

	@Override
	public InterruptedJob interrupted() {
		JobState state = this.job.status().state();
		throw (state == JobState.COMPLETED || state == JobState.CANCELLED) ? JobViews.notInterrupted(state)
				: heldElsewhere();
	}

	@Override
	public JobKind kind() {
		return this.job.status().kind();
	}

	/**
	 * Requests that the job's instance cancels it, which it reads twice a second. If the
	 * instance has ended, the job counts as cancelled.
	 * @throws ErrorResponseException if the job has ended
	 */
	@Override
	public ResponseEntity<JobStatus> cancel() {
		JobState state = this.job.status().state();
		if (!state.isActive() && state != JobState.INTERRUPTED) {
			throw JobViews.ended(state);
		}
		JobDirectory.query(() -> {
			this.records.cancel(this.job.status().jobId());
			return true;
		});
		return accepted(
				JobDirectory.query(() -> this.records.status(this.job.status().jobId())).orElse(this.job.status()));
	}

	/**
	 * Requests another rate limit from the job's instance.
	 * @param perSecond records or keys per second; 0 for no limit
	 * @throws ErrorResponseException if the job does not run
	 */
	@Override
	public ResponseEntity<JobStatus> changeRateLimit(long perSecond) {
		if (!this.job.status().state().isActive()) {
			throw JobViews.ended(this.job.status().state());
		}
		JobDirectory.query(() -> {
			this.records.requestRateLimit(this.job.status().jobId(), perSecond);
			return true;
		});
		return accepted(this.job.status());
	}

	private static ResponseEntity<JobStatus> accepted(JobStatus status) {
		return JobViews.json(ResponseEntity.accepted())
			.header(HttpHeaders.LOCATION, JobIds.location(status.jobId()))
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(status);
	}

	/** The problem of a request for files that only the job's instance has. */
	private ErrorResponseException heldElsewhere() {
		EndReason reason = this.job.status().ending();
		if (reason != null && reason.type().equals(Problem.GONE.type())) {
			return Problems.exception(Problem.GONE, reason.detail());
		}
		ErrorResponseException problem = Problems.exception(Problem.HELD_ELSEWHERE,
				"The job's records are on the disk of the instance that ran it, " + this.job.instance()
						+ ": send the request to that instance. If it has ended, start a process there with the same"
						+ " pipeset.spool.directory: it finds the job, unless its records were generated or rows of a"
						+ " query, which are not kept. Or send the request again, and cancel this job with DELETE"
						+ " /v1/jobs/" + this.job.status().jobId());
		problem.getBody().setProperty("heldBy", this.job.instance());
		return problem;
	}

	/** Reads the status of the job from its record, at most twice a second. */
	private final class RecordedStatus implements Supplier<JobStatus> {

		private static final long PAUSE_NANOS = 500_000_000;

		private JobStatus status;

		/** When the record was last read, by {@link System#nanoTime}. */
		private long readNanos = System.nanoTime();

		/** When the record was last found, by {@link System#nanoTime}. */
		private long foundNanos = this.readNanos;

		private RecordedStatus(JobRecord job) {
			this.status = job.status();
		}

		@Override
		public synchronized JobStatus get() {
			if (System.nanoTime() - this.readNanos > PAUSE_NANOS) {
				try {
					update(RemoteJob.this.records.status(this.status.jobId()));
				}
				catch (ControlRedisException ex) {
					logger.debug("The status of a job could not be read: a subscriber gets the last one again", ex);
				}
				this.readNanos = System.nanoTime();
			}
			return this.status;
		}

		/**
		 * Updates the status. If the record is missing, this waits for one lease time,
		 * because a live instance writes a lost record again.
		 */
		private void update(Optional<JobStatus> found) {
			if (found.isPresent()) {
				this.status = found.get();
				this.foundNanos = System.nanoTime();
			}
			else if (System.nanoTime() - this.foundNanos > RemoteJob.this.records.lease().toNanos()) {
				this.status = this.status.interrupted("The job was " + this.status.state().label()
						+ ", and is not recorded any more: it was not accepted after all, or its record is lost");
			}
		}

	}

}
