package io.pipeset.web;

import java.io.IOException;
import java.io.OutputStream;

import io.pipeset.job.EndedJob;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.UnreadBodies;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.stereotype.Component;

/** Answers a request with the report of its job. */
@Component
final class Reports {

	private static final String ERRORS_HEADER = "Pipeset-Errors";

	private final ObjectWriter reports;

	private final ObjectWriter problems;

	Reports(JsonMapper mapper) {
		this.reports = writer(mapper, JobReport.class);
		this.problems = writer(mapper, ProblemDetail.class);
	}

	/**
	 * Writes the report of a job as the answer to its request. Spring is not asked for a
	 * media type and a converter: for the small jobs, which are most of all, it would
	 * take as long as to write the report.
	 * @param job the job, which has ended
	 * @param request its request
	 * @param response takes the report, as it is or in a problem
	 * @throws IOException if the answer cannot be written
	 * @throws HttpMessageNotWritableException if the caller is gone
	 */
	void answer(EndedJob job, HttpServletRequest request, HttpServletResponse response) throws IOException {
		JobReport report = job.report();
		AnswerMemory.closeWhenWritten(request, job.memory());
		if (job.ending().cause() == Cause.COMPLETED) {
			response.setHeader(ERRORS_HEADER, String.valueOf(report.errorCount()));
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(this.reports, report, response.getOutputStream());
			return;
		}
		UnreadBodies.dropWhileAnswering(request);
		HttpHeaders headers = new HttpHeaders();
		headers.set(ERRORS_HEADER, String.valueOf(report.errorCount()));
		ResponseEntity<ProblemDetail> problem = Endings.problem(job.ending(), report.counts().applied() > 0, "job",
				report, headers, request);
		response.setStatus(problem.getStatusCode().value());
		problem.getHeaders().forEach((name, values) -> response.setHeader(name, values.get(0)));
		write(this.problems, problem.getBody(), response.getOutputStream());
	}

	private static ObjectWriter writer(JsonMapper mapper, Class<?> type) {
		// A report that fails half-way is not to look whole, and a short one goes out at
		// once.
		return mapper.writerFor(type)
			.with(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
			.without(StreamWriteFeature.AUTO_CLOSE_TARGET)
			.without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
	}

	private static void write(ObjectWriter writer, @Nullable Object body, OutputStream out) throws IOException {
		try {
			writer.writeValue(out, body);
		}
		catch (JacksonException ex) {
			// As a converter of Spring says it, which is how it knows callers that are
			// gone.
			throw new HttpMessageNotWritableException("The report could not be written", ex);
		}
	}

}
