package io.pipeset.web;

import java.util.Optional;
import java.util.function.Supplier;

import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.JobRecord;
import io.pipeset.job.control.JobRecords;
import io.pipeset.job.directory.InterruptedJob;
import io.pipeset.job.journal.JobItems;
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
 * A job that this instance does not know: one of another instance, or of a former
 * process, by its record in the control Redis.
 */
final class RemoteJob implements JobHandle {

	private static final Logger logger = LoggerFactory.getLogger(RemoteJob.class);

	private final JobRecord job;

	private final JobRecords records;

	private final JobViews looks;

	RemoteJob(JobRecord job, JobRecords records, JobViews looks) {
		this.job = job;
		this.records = records;
		this.looks = looks;
	}

	@Override
	public ResponseEntity<?> look() {
		return this.looks.answer(this.job);
	}

	@Override
	public Supplier<JobStatus> follow() {
		return new RecordedStatus(this.job);
	}

	@Override
	public @Nullable JobItems items() {
		if (ranWhole()) {
			return null;
		}
		throw elsewhere();
	}

	private boolean ranWhole() {
		Counts counts = this.job.status().counts();
		return this.job.status().state() == JobState.COMPLETED && counts != null
				&& counts.applied() + counts.noop() == counts.received();
	}

	@Override
	public InterruptedJob interrupted() {
		JobState state = this.job.status().state();
		throw (state == JobState.COMPLETED || state == JobState.CANCELLED) ? JobViews.notInterrupted(state)
				: elsewhere();
	}

	@Override
	public JobKind kind() {
		return this.job.status().kind();
	}

	/**
	 * Cancels a job of another instance, which takes its requests twice a second. If that
	 * instance has ended, so has the job.
	 * @throws ErrorResponseException if the job has ended, or as many requests wait as
	 * may
	 */
	@Override
	public ResponseEntity<JobStatus> cancel() {
		JobState state = this.job.status().state();
		if (!state.isActive() && state != JobState.INTERRUPTED) {
			throw JobViews.ended(state);
		}
		ask(() -> this.records.cancel(this.job));
		return accepted(
				JobDirectory.reading(() -> this.records.status(this.job.status().jobId())).orElse(this.job.status()));
	}

	/**
	 * Asks the instance that holds a job for another pace.
	 * @param perSecond records a second; 0 for no limit
	 * @throws ErrorResponseException if the job does not run, or as many requests wait as
	 * may
	 */
	@Override
	public ResponseEntity<JobStatus> pace(long perSecond) {
		if (!this.job.status().state().isActive()) {
			throw JobViews.ended(this.job.status().state());
		}
		ask(() -> this.records.pace(this.job, perSecond));
		return accepted(this.job.status());
	}

	private void ask(Supplier<Boolean> request) {
		if (!JobDirectory.reading(request)) {
			throw Problems.exception(Problem.TOO_MANY,
					"There are " + JobRecords.MOST_REQUESTS + " requests that the job's instance, "
							+ this.job.instance()
							+ ", has not taken yet, as many as may wait for it: send the request again later");
		}
	}

	private static ResponseEntity<JobStatus> accepted(JobStatus status) {
		return JobViews.json(ResponseEntity.accepted())
			.header(HttpHeaders.LOCATION, JobIds.location(status.jobId()))
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(status);
	}

	/** The records of a job that this instance does not know are not to be had here. */
	private ErrorResponseException elsewhere() {
		EndReason reason = this.job.status().ending();
		if (reason != null && reason.type().equals(Problem.GONE.type())) {
			return Problems.exception(Problem.GONE, reason.detail());
		}
		// A former process of this instance does not live, whatever its lease says.
		boolean dead = this.job.instance().equals(this.records.instance())
				|| JobDirectory.reading(() -> !this.records.isAlive(this.job.lease()));
		ErrorResponseException problem = Problems.exception(Problem.HELD_ELSEWHERE,
				"The job's records are on the disk of the instance that ran it, " + this.job.instance() + ((dead)
						? ", which has ended. Start a process with the same pipeset.spool.directory there, which finds"
								+ " the job; or post the file again, and end this job by DELETE /v1/jobs/"
								+ this.job.status().jobId()
						: ": ask that instance"));
		problem.getBody().setProperty("heldBy", this.job.instance());
		return problem;
	}

	/** How a job of another instance stands, asked for twice a second at most. */
	private final class RecordedStatus implements Supplier<JobStatus> {

		private static final long PAUSE_NANOS = 500_000_000;

		private JobStatus status;

		private long nanos = System.nanoTime();

		/** When its record was there. */
		private long there = this.nanos;

		private RecordedStatus(JobRecord job) {
			this.status = job.status();
		}

		@Override
		public synchronized JobStatus get() {
			if (System.nanoTime() - this.nanos > PAUSE_NANOS) {
				try {
					look(RemoteJob.this.records.status(this.status.jobId()));
				}
				catch (ControlRedisException ex) {
					logger.debug("A subscriber hears the last state once more", ex);
				}
				this.nanos = System.nanoTime();
			}
			return this.status;
		}

		/** A record that was lost is written anew as long as the job's instance lives. */
		private void look(Optional<JobStatus> found) {
			if (found.isPresent()) {
				this.status = found.get();
				this.there = System.nanoTime();
			}
			else if (System.nanoTime() - this.there > RemoteJob.this.records.leaseTime().toNanos()) {
				this.status = this.status.interrupted("The job was " + this.status.state().label()
						+ ", and is not recorded any more: it was not taken after all, or its record is lost");
			}
		}

	}

}
