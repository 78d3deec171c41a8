package io.pipeset.web;

import java.io.IOException;
import java.io.OutputStream;

import io.pipeset.job.EndedJob;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.ProblemErrorController;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.stereotype.Component;

/** Answers a request with the report of its job. */
@Component
final class Reports {

	private static final String ERRORS_HEADER = "Pipeset-Errors";

	private final ObjectWriter writer;

	Reports(JsonMapper mapper) {
		// A report that fails half-way is not to look whole, and a short one goes out at
		// once.
		this.writer = mapper.writerFor(JobReport.class)
			.without(StreamWriteFeature.AUTO_CLOSE_TARGET)
			.without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
	}

	/**
	 * Answers a request. The report of a completed job is written here: small jobs are
	 * most of all, and Spring's way to choose a media type and a converter costs them as
	 * much as the report itself.
	 * @param job the job, which has ended
	 * @param request its request
	 * @param response takes the report of a completed job
	 * @return the answer that is left to be written; {@code null} if it is written
	 * @throws IOException if the answer cannot be written
	 * @throws HttpMessageNotWritableException if the caller is gone
	 */
	@Nullable ResponseEntity<Object> answer(EndedJob job, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		JobReport report = job.report();
		AnswerMemory.closeWhenWritten(request, job.memory());
		Cause cause = job.ending().cause();
		if (cause == Cause.COMPLETED) {
			response.setHeader(ERRORS_HEADER, String.valueOf(report.errorCount()));
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(report, response.getOutputStream());
			return null;
		}
		HttpStatus status = status(cause, report);
		ResponseEntity.BodyBuilder answer = ResponseEntity.status(status)
			.header(ERRORS_HEADER, String.valueOf(report.errorCount()));
		if (cause == Cause.REDIS_UNREACHABLE || cause == Cause.SHUTTING_DOWN) {
			answer.header(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		}
		ProblemDetail problem = Problems.detail(status, cause.problemType(), job.ending().detail());
		problem.setProperty("job", report);
		ResponseEntity<Object> entity = answer.contentType(MediaType.APPLICATION_PROBLEM_JSON).body(problem);
		ProblemErrorController.keep(request, entity);
		return entity;
	}

	private void write(JobReport report, OutputStream out) throws IOException {
		try {
			this.writer.writeValue(out, report);
		}
		catch (JacksonException ex) {
			// As a converter of Spring says it, which is how it knows callers that are
			// gone.
			throw new HttpMessageNotWritableException("The report could not be written", ex);
		}
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
