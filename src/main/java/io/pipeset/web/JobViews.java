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

/** The answers to those who look at a job: its report, and how far it has come. */
@Component
class JobViews {

	private final JobRecorder recorder;

	private final JsonMapper mapper;

	JobViews(JobRecorder recorder, JsonMapper mapper) {
		this.recorder = recorder;
		this.mapper = mapper;
	}

	/** Answers with the job as this instance knows it. */
	ResponseEntity<?> answer(KnownJob job) {
		KnownJob.Look look = job.look();
		JobStatus status = look.status();
		Object report = look.report();
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
			return answer.body(new Look(records.with(warnings), status.progress(), status.ending(), List.of()));
		}
		return answer.body((report != null) ? new Look(report, status.progress(), status.ending(), warnings)
				: (warnings.isEmpty()) ? status : new StatusView(status, null, warnings));
	}

	/** Answers with the job as its instance has recorded it. */
	ResponseEntity<?> answer(JobRecord job) {
		JobStatus status = job.status();
		StoredReport report = job.report();
		List<Warning> warnings = this.recorder.bestEffort();
		return answer(status).body((report != null) ? joined(status, report, warnings, job.instance(), this.mapper)
				: new StatusView(status, job.instance(), warnings));
	}

	/**
	 * Joins the members that may have changed with those of a stored report, whose bytes
	 * are copied as they are.
	 */
	static Resource joined(JobStatus status, StoredReport report, List<Warning> more, @Nullable String instance,
			JsonMapper mapper) {
		List<Warning> warnings = Stream.concat(report.warnings().stream(), more.stream()).toList();
		// Only jobs of records have counts.
		Counts counts = status.counts();
		Changed changed = new Changed((counts != null) ? status.state() : null,
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

	/** The job is not there to be changed any more. */
	static ErrorResponseException ended(JobState state) {
		if (state == JobState.INTERRUPTED) {
			return Problems.exception(Problem.ENDED,
					"The job does not run: it is interrupted, and has to be resumed first");
		}
		return Problems.exception(Problem.ENDED, "The job has ended already, and is " + state.label());
	}

	/** A job that does not run and has not been left cannot be resumed. */
	static ErrorResponseException notInterrupted(JobState state) {
		return Problems.exception(Problem.NOT_INTERRUPTED,
				"Only a job that is interrupted can be resumed, and this one is " + state.label());
	}

	/** An interrupted job is that of another request, which resumes or cancels it. */
	static ErrorResponseException claimed() {
		return Problems.exception(Problem.NOT_INTERRUPTED,
				"Another request resumes or cancels the job at this moment, or has done so");
	}

	/** Whatever the caller accepts, as for all reports. */
	static ResponseEntity.BodyBuilder json(ResponseEntity.BodyBuilder answer) {
		return answer.contentType(MediaType.APPLICATION_JSON);
	}

	/**
	 * A report of a job with its progress.
	 *
	 * @param report the report so far, or the last one
	 * @param ending the reason for its end; {@code null} if it has not ended, or
	 * completed
	 * @param warnings those that are not in the report
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record Look(@JsonUnwrapped Object report, Progress progress, @Nullable EndReason ending, List<Warning> warnings) {

	}

	/**
	 * A job that has no report yet.
	 *
	 * @param instance the instance that holds it; {@code null} for this one
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record StatusView(@JsonUnwrapped JobStatus status, @Nullable String instance, List<Warning> warnings) {

	}

	/**
	 * The members of a look that are not in a stored report.
	 *
	 * @param state the state of a job of records; other reports have it
	 * @param errors as the state, by which it may change
	 * @param instance the instance that holds the job; {@code null} for this one
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	private record Changed(@Nullable JobState state, @Nullable Boolean errors, @Nullable Counts counts,
			List<Warning> warnings, Progress progress, @Nullable EndReason ending, @Nullable String instance) {

	}

}
