package io.pipeset.web;

import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.JobRegistry;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecord;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.JobRecords.Found;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.request.Client;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Finds the jobs of all instances. The jobs of this instance come first, because it has
 * their current status. The jobs of other instances and of earlier processes are found by
 * their records in the control Redis.
 */
@Component
class JobDirectory {

	private static final int MAX_LOOKUPS = 16;

	private final CallPermits lookups = new CallPermits(MAX_LOOKUPS, "lookups of jobs of other instances");

	private final JobRegistry jobs;

	private final JobRecorder recorder;

	private final JobRecords records;

	private final JobViews views;

	JobDirectory(JobRegistry jobs, JobRecorder recorder, JobRecords records, JobViews views) {
		this.views = views;
		this.jobs = jobs;
		this.recorder = recorder;
		this.records = records;
	}

	/**
	 * Lists the jobs of a client, the newest first: the jobs of this instance, and the
	 * recorded jobs of other instances. If the control Redis fails, the page has only the
	 * jobs of this instance, and a warning.
	 * @param state the state of the listed jobs; {@code null} for any
	 * @param kind the kind of the listed jobs; {@code null} for any
	 * @param after the id after which the page begins; {@code null} to begin with the
	 * newest job
	 * @param limit the most jobs on the page, 1 or more
	 */
	JobList page(Client client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after, int limit) {
		// The status of this instance's own jobs is newer than their records.
		NavigableMap<String, JobStatus> page = new TreeMap<>(Comparator.reverseOrder());
		String next = null;
		List<Warning> warnings = List.of();
		try {
			// One job more than the limit shows whether there is another page.
			Found found = this.lookups.run(client,
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
					ex.getMessage() + ". Only the jobs of this instance are listed", null));
		}
		this.jobs.list(client, state, kind, after, limit + 1).forEach((job) -> page.put(job.id(), job.status()));
		String end = next;
		if (end != null) {
			// Recorded jobs that were not read may belong between the later ones.
			page.tailMap(end, false).clear();
		}
		List<JobStatus> listed = page.values().stream().limit(limit).toList();
		return new JobList(listed, (page.size() > limit) ? listed.get(limit - 1).jobId() : end, warnings);
	}

	/**
	 * Finds a job of a client.
	 * @throws ErrorResponseException if no instance knows the job, or this instance does
	 * not know it and the control Redis fails
	 */
	JobHandle find(String id, Client client) {
		return this.jobs.find(id, client)
			.<JobHandle>map((job) -> new LocalJob(job, this.jobs, this.recorder, this.views))
			.orElseGet(() -> new RemoteJob(record(id, client), this.records, this.views));
	}

	private JobRecord record(String id, Client client) {
		return Optional.of(id)
			.filter(JobIds::matches)
			.flatMap((jobId) -> query(() -> this.lookups.run(client, () -> this.records.find(jobId))))
			.filter((job) -> job.client().equals(client.name()))
			.orElseThrow(() -> Problems.exception(Problem.NOT_FOUND,
					"There is no job '" + Excerpt.of(id) + "' here, or no longer: an instance knows the jobs that run"
							+ " on it and, for an hour, the last thousand that ran. All instances know asynchronous"
							+ " jobs for pipeset.jobs.retention"));
	}

	/**
	 * Runs a call to the control Redis for a job of another instance.
	 * @throws ErrorResponseException if the control Redis fails
	 */
	static <T> T query(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (ControlRedisException ex) {
			throw Problems.exception(Problem.CONTROL_UNREACHABLE,
					"This instance does not know the job, and cannot query the jobs of other instances. "
							+ ex.getMessage());
		}
	}

	/**
	 * A page of the list of jobs.
	 *
	 * @param jobs the jobs, the newest first
	 * @param next the id after which the next page begins; {@code null} on the last page
	 * @param warnings the reasons why the list may be incomplete
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record JobList(@JsonInclude(JsonInclude.Include.ALWAYS) List<JobStatus> jobs, @Nullable String next,
			List<Warning> warnings) {

	}

}
