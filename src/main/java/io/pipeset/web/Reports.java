package io.pipeset.web;

import java.io.IOException;
import java.io.OutputStream;

import io.pipeset.job.EndedJob;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.web.server.AnswerMemory;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
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
		if (job.ending().cause() == Cause.COMPLETED) {
			response.setHeader(ERRORS_HEADER, String.valueOf(report.errorCount()));
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(report, response.getOutputStream());
			return null;
		}
		HttpHeaders headers = new HttpHeaders();
		headers.set(ERRORS_HEADER, String.valueOf(report.errorCount()));
		return Endings.problem(job.ending(), report.counts().applied() > 0, "job", report, headers, request);
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

}
