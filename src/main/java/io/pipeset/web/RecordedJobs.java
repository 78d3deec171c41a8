package io.pipeset.web;

import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.job.Client;
import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.JobRecord;
import io.pipeset.job.control.JobRecords;
import io.pipeset.job.control.JobRecords.Found;
import io.pipeset.job.directory.JobRecorder;
import io.pipeset.job.directory.JobRegistry;
import io.pipeset.job.directory.KnownJob;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.report.Counts;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
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
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** The jobs of other instances, and of former processes, by their records. */
@Component
class RecordedJobs {

	private static final Logger logger = LoggerFactory.getLogger(RecordedJobs.class);

	private static final int MOST_LOOKS = 16;

	private final CallPlaces looks = new CallPlaces(MOST_LOOKS, "looks at jobs of other instances");

	private final JobRegistry jobs;

	private final JobRecorder recorder;

	private final JobRecords records;

	RecordedJobs(JobRegistry jobs, JobRecorder recorder, JobRecords records) {
		this.jobs = jobs;
		this.recorder = recorder;
		this.records = records;
	}

	/**
	 * Lists the jobs of a client, the newest first: those of this instance, and those of
	 * others that are recorded.
	 * @param state their state; {@code null} for any
	 * @param kind their kind; {@code null} for any
	 * @param after the id behind which the page begins; {@code null} for the newest job
	 */
	JobList page(Client client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after, int limit) {
		// This instance knows best how its own jobs stand.
		NavigableMap<String, JobStatus> page = new TreeMap<>(Comparator.reverseOrder());
		String next = null;
		List<Warning> warnings = List.of();
		try {
			// One more tells whether there is another page.
			Found found = this.looks.take(client,
					() -> this.records.list(client.name(), state, kind, after, limit + 1));
			next = found.next();
			for (JobRecord job : found.jobs()) {
				if (this.jobs.find(job.status().jobId(), client).isEmpty()) {
					page.put(job.status().jobId(), job.status());
				}
			}
			warnings = this.recorder.bestEffort();
		}
		catch (ControlRedisException ex) {
			warnings = List.of(new Warning("NOT_RECORDED", null,
					ex.getMessage() + ". Only the jobs that this instance knows by itself are listed", null));
		}
		this.jobs.list(client, state, kind, after, limit + 1).forEach((job) -> page.put(job.id(), job.status()));
		String end = next;
		if (end != null) {
			// Others may stand between those behind it.
			page.tailMap(end, false).clear();
		}
		List<JobStatus> listed = page.values().stream().limit(limit).toList();
		return new JobList(listed, (page.size() > limit) ? listed.get(limit - 1).jobId() : end, warnings);
	}

	/**
	 * Finds a job of a client that this instance does not know.
	 * @throws ErrorResponseException if nobody knows it, or nobody can say
	 */
	JobRecord find(String id, Client client) {
		return Optional.of(id)
			.filter(JobIds::matches)
			.flatMap((known) -> reading(() -> this.looks.take(client, () -> this.records.find(known))))
			.filter((job) -> job.client().equals(client.name()))
			.orElseThrow(() -> Problems.exception(Problem.NOT_FOUND,
					"There is no job '" + Excerpt.of(id) + "' here, or no longer: an instance knows the jobs that run"
							+ " on it and, for an hour, the last thousand that ran; asynchronous jobs are known to all"
							+ " instances, for pipeset.jobs.retention"));
	}

	private static <T> T reading(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (ControlRedisException ex) {
			throw Problems.exception(Problem.CONTROL_UNREACHABLE,
					"This instance does not know the job, and cannot ask for the jobs of others. " + ex.getMessage());
		}
	}

	/**
	 * Hears whether an interrupted job was cancelled while no process had it.
	 * @throws ErrorResponseException if the control Redis cannot be asked
	 */
	void hearOf(KnownJob job) {
		try {
			this.recorder.hearOf(job);
		}
		catch (ControlRedisException ex) {
			throw Problems.exception(Problem.CONTROL_UNREACHABLE,
					"Another instance may have cancelled the job, and cannot be asked. " + ex.getMessage()
							+ ". Resume the job once it can be reached");
		}
	}

	/** Tells how a job stands, again and again. */
	Supplier<JobStatus> follow(String id, Client client) {
		return new RecordedStatus(find(id, client));
	}

	/**
	 * Cancels a job of another instance, which takes its requests twice a second. If that
	 * instance has ended, so has the job.
	 * @throws ErrorResponseException if the job has ended, or as many requests wait as
	 * may
	 */
	ResponseEntity<JobStatus> cancel(JobRecord job) {
		JobState state = job.status().state();
		if (!state.isActive() && state != JobState.INTERRUPTED) {
			throw JobLooks.ended(state);
		}
		ask(job, () -> this.records.cancel(job));
		return accepted(reading(() -> this.records.status(job.status().jobId())).orElse(job.status()));
	}

	/**
	 * Asks the instance that holds a job for another pace.
	 * @param perSecond records a second; 0 for no limit
	 * @throws ErrorResponseException if the job does not run, or as many requests wait as
	 * may
	 */
	ResponseEntity<JobStatus> pace(JobRecord job, long perSecond) {
		if (!job.status().state().isActive()) {
			throw JobLooks.ended(job.status().state());
		}
		ask(job, () -> this.records.pace(job, perSecond));
		return accepted(job.status());
	}

	private void ask(JobRecord job, Supplier<Boolean> request) {
		if (!reading(request)) {
			throw Problems.exception(Problem.TOO_MANY,
					"There are " + JobRecords.MOST_REQUESTS + " requests that the job's instance, " + job.instance()
							+ ", has not taken yet, as many as may wait for it: send the request again later");
		}
	}

	private static ResponseEntity<JobStatus> accepted(JobStatus status) {
		return JobLooks.json(ResponseEntity.accepted())
			.header(HttpHeaders.LOCATION, JobIds.location(status.jobId()))
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(status);
	}

	/**
	 * Whether all records of a job ran, of which this instance knows nothing else: none
	 * of them is kept anywhere.
	 */
	boolean ranWhole(String id, Client client) {
		JobStatus job = find(id, client).status();
		Counts counts = job.counts();
		return job.state() == JobState.COMPLETED && counts != null
				&& counts.applied() + counts.noop() == counts.received();
	}

	/** A job that this instance does not know cannot be resumed here. */
	ErrorResponseException notResumable(String id, Client client) {
		JobStatus job = find(id, client).status();
		return (job.state() == JobState.COMPLETED || job.state() == JobState.CANCELLED)
				? JobLooks.notInterrupted(job.state()) : elsewhere(id, client);
	}

	/** The records of a job that this instance does not know are not to be had here. */
	ErrorResponseException elsewhere(String id, Client client) {
		JobRecord job = find(id, client);
		EndReason reason = job.status().ending();
		if (reason != null && reason.type().equals(Problem.GONE.type())) {
			return Problems.exception(Problem.GONE, reason.detail());
		}
		// A former process of this instance does not live, whatever its lease says.
		boolean dead = job.instance().equals(this.records.instance())
				|| reading(() -> !this.records.isAlive(job.lease()));
		ErrorResponseException problem = Problems.exception(Problem.HELD_ELSEWHERE,
				"The job's records are on the disk of the instance that ran it, " + job.instance() + ((dead)
						? ", which has ended. Start a process with the same pipeset.spool.directory there, which finds"
								+ " the job; or post the file again, and end this job by DELETE /v1/jobs/"
								+ job.status().jobId()
						: ": ask that instance"));
		problem.getBody().setProperty("heldBy", job.instance());
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
					look(RecordedJobs.this.records.status(this.status.jobId()));
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
			else if (System.nanoTime() - this.there > RecordedJobs.this.records.leaseTime().toNanos()) {
				this.status = this.status.interrupted("The job was " + this.status.state().label()
						+ ", and is not recorded any more: it was not taken after all, or its record is lost");
			}
		}

	}

	/**
	 * A page of the list of jobs.
	 *
	 * @param jobs the jobs, the newest first
	 * @param next the id behind which the next page begins; {@code null} for the last one
	 * @param warnings the reasons for which the list may not be complete
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record JobList(@JsonInclude(JsonInclude.Include.ALWAYS) List<JobStatus> jobs, @Nullable String next,
			List<Warning> warnings) {

	}

}
