package io.pipeset.web;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.pipeset.job.control.JobRecord;
import io.pipeset.job.control.StoredReport;
import io.pipeset.job.directory.JobRecorder;
import io.pipeset.job.directory.KnownJob;
import io.pipeset.job.journal.JobItems;
import io.pipeset.report.Counts;
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
import org.springframework.core.io.Resource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Makes the responses to callers that query a job: its report and its progress. */
@Component
class JobViews {

	private final JobRecorder recorder;

	private final JsonMapper mapper;

	JobViews(JobRecorder recorder, JsonMapper mapper) {
		this.recorder = recorder;
		this.mapper = mapper;
	}

	/** The response for a job of this instance. */
	ResponseEntity<?> answer(KnownJob job) {
		KnownJob.Look view = job.look();
		JobStatus status = view.status();
		Object report = view.report();
		List<Warning> warnings = new ArrayList<>(this.recorder.warnings(job.id()));
		JobItems items = job.items();
		String missing = (items != null) ? items.missing() : null;
		if (missing != null) {
			warnings.add(new Warning("ITEMS_REMOVED", null, missing, null));
		}
		ResponseEntity.BodyBuilder answer = answer(status);
		if (report instanceof StoredReport stored) {
			return answer.body(joined(status, stored, warnings, null, this.mapper));
		}
		if (report instanceof JobReport records) {
			return answer
				.body(new Look(status.label(), records.with(warnings), status.progress(), status.ending(), List.of()));
		}
		return answer
			.body((report != null) ? new Look(status.label(), report, status.progress(), status.ending(), warnings)
					: (warnings.isEmpty()) ? status : new StatusView(status, null, warnings));
	}

	/** The response for a job of another instance, from its record. */
	ResponseEntity<?> answer(JobRecord job) {
		JobStatus status = job.status();
		StoredReport report = job.report();
		List<Warning> warnings = this.recorder.bestEffort();
		return answer(status).body((report != null) ? joined(status, report, warnings, job.instance(), this.mapper)
				: new StatusView(status, job.instance(), warnings));
	}

	/**
	 * Joins the members that may have changed with the stored bytes of a report. The
	 * bytes are streamed, and not parsed.
	 * @param more warnings in addition to those of the report
	 * @param instance the instance that has the job; {@code null} for this one
	 */
	static Resource joined(JobStatus status, StoredReport report, List<Warning> more, @Nullable String instance,
			JsonMapper mapper) {
		List<Warning> warnings = Stream.concat(report.warnings().stream(), more.stream()).toList();
		// Only jobs of records have counts.
		Counts counts = status.counts();
		ChangedMembers changed = new ChangedMembers(status.label(), (counts != null) ? status.state() : null,
				(counts != null) ? JobReport.errors(status.state(), counts, status.dryRun() != null) : null, counts,
				warnings, status.progress(), status.ending(), instance);
		byte[] members = mapper.writeValueAsBytes(changed);
		members[members.length - 1] = ',';
		return new InputStreamResource(() -> {
			InputStream rest = report.json().get();
			rest.skipNBytes(1);
			return new SequenceInputStream(new ByteArrayInputStream(members), rest);
		});
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
	 * The report of a job with its progress.
	 *
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param report the current report, or the final one
	 * @param ending the reason for the end of the job; {@code null} if it completed or
	 * has not ended
	 * @param warnings warnings in addition to those of the report
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record Look(@Nullable String label, @JsonUnwrapped Object report, Progress progress, @Nullable EndReason ending,
			List<Warning> warnings) {

	}

	/**
	 * The status of a job without a report.
	 *
	 * @param instance the instance that has the job; {@code null} for this one
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record StatusView(@JsonUnwrapped JobStatus status, @Nullable String instance, List<Warning> warnings) {

	}

	/**
	 * The members of the response that are not in the bytes of a stored report.
	 *
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param state the state of a job of records; {@code null} for other jobs, whose
	 * report has it
	 * @param errors whether a job of records has errors, which may change with the state;
	 * {@code null} for other jobs
	 * @param instance the instance that has the job; {@code null} for this one
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	private record ChangedMembers(@Nullable String label, @Nullable JobState state, @Nullable Boolean errors,
			@Nullable Counts counts, List<Warning> warnings, Progress progress, @Nullable EndReason ending,
			@Nullable String instance) {

	}

}
