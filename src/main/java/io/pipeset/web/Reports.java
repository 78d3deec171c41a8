package io.pipeset.web;

import io.pipeset.job.EndedJob;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.ProblemErrorController;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/** A job's report as the answer to its request. */
final class Reports {

	private static final String ERRORS_HEADER = "Pipeset-Errors";

	private Reports() {
	}

	static ResponseEntity<Object> answer(EndedJob job, HttpServletRequest request) {
		JobReport report = job.report();
		AnswerMemory.closeWhenWritten(request, job.memory());
		Cause cause = job.ending().cause();
		HttpStatus status = status(cause, report);
		ResponseEntity.BodyBuilder answer = ResponseEntity.status(status)
			.header(ERRORS_HEADER, String.valueOf(report.errorCount()));
		if (cause == Cause.COMPLETED) {
			return answer.contentType(MediaType.APPLICATION_JSON).body(report);
		}
		if (cause == Cause.REDIS_UNREACHABLE || cause == Cause.SHUTTING_DOWN) {
			answer.header(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		}
		ProblemDetail problem = Problems.detail(status, cause.problemType(), job.ending().detail());
		problem.setProperty("job", report);
		ResponseEntity<Object> entity = answer.contentType(MediaType.APPLICATION_PROBLEM_JSON).body(problem);
		ProblemErrorController.keep(request, entity);
		return entity;
	}

	private static HttpStatus status(Cause cause, JobReport report) {
		return switch (cause) {
			case COMPLETED -> HttpStatus.OK;
			case STOPPED, COUNT_MISMATCH -> HttpStatus.UNPROCESSABLE_CONTENT;
			case MALFORMED_BODY -> HttpStatus.BAD_REQUEST;
			case LIMIT -> HttpStatus.CONTENT_TOO_LARGE;
			case STALLED -> HttpStatus.REQUEST_TIMEOUT;
			case REDIS_REFUSES ->
				(report.counts().applied() == 0) ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_GATEWAY;
			case REDIS_LOST -> HttpStatus.BAD_GATEWAY;
			case REDIS_UNREACHABLE, SHUTTING_DOWN -> HttpStatus.SERVICE_UNAVAILABLE;
			case CANCELLED -> HttpStatus.CONFLICT;
			case INTERNAL_SERVER_ERROR -> HttpStatus.INTERNAL_SERVER_ERROR;
		};
	}

}
