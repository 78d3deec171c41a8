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
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Finds jobs, wherever they are: those of this instance first, because it knows best how
 * they stand, and then those of other instances and of former processes, by their
 * records.
 */
@Component
class JobDirectory {

	private static final int MOST_LOOKS = 16;

	private final CallPermits places = new CallPermits(MOST_LOOKS, "looks at jobs of other instances");

	private final JobRegistry jobs;

	private final JobRecorder recorder;

	private final JobRecords records;

	private final JobViews looks;

	JobDirectory(JobRegistry jobs, JobRecorder recorder, JobRecords records, JobViews looks) {
		this.looks = looks;
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
			Found found = this.places.take(client,
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
	 * Finds a job of a client.
	 * @throws ErrorResponseException if no instance knows it, or the control Redis does
	 * not answer
	 */
	JobHandle find(String id, Client client) {
		return this.jobs.find(id, client)
			.<JobHandle>map((job) -> new LocalJob(job, this.jobs, this.recorder, this.looks))
			.orElseGet(() -> new RemoteJob(record(id, client), this.records, this.looks));
	}

	private JobRecord record(String id, Client client) {
		return Optional.of(id)
			.filter(JobIds::matches)
			.flatMap((known) -> reading(() -> this.places.take(client, () -> this.records.find(known))))
			.filter((job) -> job.client().equals(client.name()))
			.orElseThrow(() -> Problems.exception(Problem.NOT_FOUND,
					"There is no job '" + Excerpt.of(id) + "' here, or no longer: an instance knows the jobs that run"
							+ " on it and, for an hour, the last thousand that ran; asynchronous jobs are known to all"
							+ " instances, for pipeset.jobs.retention"));
	}

	/**
	 * Asks the control Redis.
	 * @throws ErrorResponseException if it does not answer
	 */
	static <T> T reading(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (ControlRedisException ex) {
			throw Problems.exception(Problem.CONTROL_UNREACHABLE,
					"This instance does not know the job, and cannot ask for the jobs of others. " + ex.getMessage());
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
