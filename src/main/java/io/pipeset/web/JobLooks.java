package io.pipeset.web;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.pipeset.job.control.JobRecord;
import io.pipeset.job.directory.JobRecorder;
import io.pipeset.job.directory.KnownJob;
import io.pipeset.job.directory.StoredReport;
import io.pipeset.job.journal.JobItems;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** The answers to those who look at a job: its report, and how far it has come. */
@Component
class JobLooks {

	private final JobRecorder recorder;

	JobLooks(JobRecorder recorder) {
		this.recorder = recorder;
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
			return answer.body(new StoredLook(stored::open, status, null, warnings));
		}
		if (report instanceof JobReport records) {
			return answer.body(new Look(records.with(warnings), status.progress(), status.ending(), List.of()));
		}
		return answer.body((report != null) ? new Look(report, status.progress(), status.ending(), warnings)
				: (warnings.isEmpty()) ? status : new StatusLook(status, null, warnings));
	}

	/** Answers with the job as its instance has recorded it. */
	ResponseEntity<?> answer(JobRecord job) {
		JobStatus status = job.status();
		List<Warning> warnings = this.recorder.bestEffort();
		Supplier<InputStream> report = job.report();
		return answer(status).body((report != null) ? new StoredLook(report, status, job.instance(), warnings)
				: new StatusLook(status, job.instance(), warnings));
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
	record StatusLook(@JsonUnwrapped JobStatus status, @Nullable String instance, List<Warning> warnings) {

	}

	/**
	 * A report that is JSON already, with the progress of its job.
	 *
	 * @param report opens the last report
	 * @param status how the job stands now
	 * @param instance the instance that holds it; {@code null} for this one
	 * @param warnings those that are not in the report
	 */
	record StoredLook(Supplier<InputStream> report, JobStatus status, @Nullable String instance,
			List<Warning> warnings) {

	}

}
