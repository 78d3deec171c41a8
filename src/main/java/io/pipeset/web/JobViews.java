package io.pipeset.web;

import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.pipeset.keep.Job;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.control.CallbackQueue;
import io.pipeset.keep.control.CallbackState;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecord;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.InputStreamResource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Makes the responses to callers that query a job: its report and its progress. */
@Component
class JobViews {

	private final JobRecorder recorder;

	private final CallbackQueue callbacks;

	private final JsonMapper mapper;

	private final JobRecords records;

	JobViews(JobRecorder recorder, JobRecords records, CallbackQueue callbacks, JsonMapper mapper) {
		this.records = records;
		this.callbacks = callbacks;
		this.recorder = recorder;
		this.mapper = mapper;
	}

	/** What callers see of a job of this instance. */
	JobView of(Job job) {
		Job.Look now = job.look();
		List<Warning> warnings = new ArrayList<>(this.recorder.warnings(job.id()));
		String missing = job.missingItems();
		if (missing != null) {
			warnings.add(new Warning("ITEMS_REMOVED", null, missing, null));
		}
		StoredReport whole = (job.isWhole()) ? null : recorded(job.id());
		return new JobView(now.status(), (whole != null) ? whole : now.report(), null, warnings, callback(job));
	}

	/** What callers see of a job of another instance, by its record. */
	JobView of(JobRecord job) {
		return new JobView(job.status(), job.report(), job.instance(), this.recorder.bestEffort(), job.callback());
	}

	/** The response with a job. */
	ResponseEntity<?> answer(JobView job) {
		JobStatus status = job.status();
		Object report = job.report();
		ResponseEntity.BodyBuilder answer = answer(status);
		if (report instanceof StoredReport stored) {
			return answer.body(new InputStreamResource(
					stored.joined(status, job.warnings(), job.instance(), job.callback(), this.mapper)));
		}
		if (report != null) {
			boolean records = report instanceof JobReport;
			return answer.body(new Look(status.label(),
					(report instanceof JobReport ofRecords) ? ofRecords.with(job.warnings()) : report,
					status.progress(), status.ending(), (records) ? List.of() : job.warnings(), job.callback()));
		}
		return answer.body(new StatusView(status, job.instance(), job.warnings(), job.callback()));
	}

	/**
	 * The report of an ended job in its record.
	 * @return {@code null} if there is none, or the control Redis fails
	 */
	private @Nullable StoredReport recorded(String id) {
		try {
			return this.records.find(id)
				.filter((record) -> record.status().endedMillis() != null)
				.map(JobRecord::report)
				.orElse(null);
		}
		catch (ControlRedisException ex) {
			// The warnings say that the control Redis fails.
			return null;
		}
	}

	/** Reads how far the callback of an ended job has come, wherever it is sent. */
	private @Nullable CallbackState callback(Job job) {
		try {
			return (job.callback() != null && job.status().endedMillis() != null) ? this.callbacks.state(job.id())
					: null;
		}
		catch (ControlRedisException ex) {
			// The warnings say that the control Redis fails.
			return null;
		}
	}

	private static ResponseEntity.BodyBuilder answer(JobStatus status) {
		ResponseEntity.BodyBuilder answer = json(ResponseEntity.ok());
		if (status.state().isActive()) {
			answer.header(HttpHeaders.RETRY_AFTER, "1");
		}
		return answer;
	}

	/** The problem of a change to a job that does not run. */
	static ErrorResponseException ended(JobState state) {
		if (state == JobState.INTERRUPTED) {
			return Problems.exception(Problem.ENDED,
					"The job does not run: it is interrupted, and must be resumed first");
		}
		return Problems.exception(Problem.ENDED, "The job has ended already, and is " + state.label());
	}

	/** The problem of a request to resume a job that is not interrupted. */
	static ErrorResponseException notInterrupted(JobState state) {
		return Problems.exception(Problem.NOT_INTERRUPTED,
				"Only a job that is interrupted can be resumed, and this one is " + state.label());
	}

	/** The problem of a request whose interrupted job another request has claimed. */
	static ErrorResponseException claimed() {
		return Problems.exception(Problem.NOT_INTERRUPTED,
				"Another request is resuming or cancelling the job, or has done so: query the job to see its state");
	}

	/** Sets JSON as the type, because all reports are JSON, also if Accept differs. */
	static ResponseEntity.BodyBuilder json(ResponseEntity.BodyBuilder answer) {
		return answer.contentType(MediaType.APPLICATION_JSON);
	}

	/**
	 * What callers see of a job.
	 *
	 * @param report the current report, or the final one: a {@link StoredReport}, an
	 * object to write as JSON, or {@code null}
	 * @param instance the instance that has the job; {@code null} for this one
	 * @param warnings warnings in addition to those of the report
	 * @param callback the state of the job's callback; {@code null} if it has none, or
	 * has not ended
	 */
	record JobView(JobStatus status, @Nullable Object report, @Nullable String instance, List<Warning> warnings,
			@Nullable CallbackState callback) {

	}

	/**
	 * The report of a job with its progress.
	 *
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param report the current report, or the final one
	 * @param ending the reason for the end of the job; {@code null} if it completed or
	 * has not ended
	 * @param warnings warnings in addition to those of the report
	 * @param callback the state of the job's callback; {@code null} if it has none, or
	 * has not ended
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record Look(@Nullable String label, @JsonUnwrapped Object report, Progress progress, @Nullable EndReason ending,
			List<Warning> warnings, @Nullable CallbackState callback) {

	}

	/**
	 * The status of a job without a report.
	 *
	 * @param instance the instance that has the job; {@code null} for this one
	 * @param callback the state of the job's callback; {@code null} if it has none, or
	 * has not ended
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record StatusView(@JsonUnwrapped JobStatus status, @Nullable String instance, List<Warning> warnings,
			@Nullable CallbackState callback) {

	}

}
