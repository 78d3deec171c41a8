package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.List;

import io.pipeset.job.EndedJob;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import io.pipeset.web.JobViews.StatusView;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.BodyDrainer;
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

	private final ObjectWriter any;

	private final ObjectWriter reports;

	private final ObjectWriter problems;

	Reports(JsonMapper mapper) {
		// A report that fails half-way is not to look whole, and a short one goes out at
		// once.
		this.any = mapper.writer()
			.with(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
			.without(StreamWriteFeature.AUTO_CLOSE_TARGET)
			.without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
		this.reports = this.any.forType(JobReport.class);
		this.problems = this.any.forType(ProblemDetail.class);
	}

	/**
	 * Writes the report of a job as the answer to its request: as it is, or in problem
	 * details if the job did not complete. Spring is not asked for a media type and a
	 * converter: for the small jobs, which are most of all, it would take as long as to
	 * write the report.
	 * @param kind its kind, which names the report in a problem
	 * @throws IOException if the answer cannot be written
	 * @throws HttpMessageNotWritableException if the caller is gone
	 */
	void answer(EndedJob<?> job, JobKind kind, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		AnswerMemory.closeWhenWritten(request, job.memory());
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(job.id()));
		if (job.ending().cause() == Cause.COMPLETED) {
			ObjectWriter writer = this.any;
			if (job.report() instanceof JobReport report) {
				response.setHeader(ERRORS_HEADER, String.valueOf(report.errorCount()));
				writer = this.reports;
			}
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(writer, job.report(), response.getOutputStream());
			return;
		}
		BodyDrainer.dropWhileAnswering(request);
		ResponseEntity<ProblemDetail> problem = problem(job, kind, request);
		response.setStatus(problem.getStatusCode().value());
		problem.getHeaders().forEach((header, values) -> response.setHeader(header, values.get(0)));
		write(this.problems, problem.getBody(), response.getOutputStream());
	}

	/**
	 * Answers that a job is taken, and where to look for it.
	 * @param job how it stands
	 * @param warnings the things that are not as they should be with its record
	 * @param response takes the answer
	 * @throws IOException if the answer cannot be written
	 */
	void accepted(JobStatus job, List<Warning> warnings, HttpServletResponse response) throws IOException {
		response.setStatus(HttpStatus.ACCEPTED.value());
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(job.jobId()));
		response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		response.setContentType(MediaType.APPLICATION_JSON_VALUE);
		write(this.any, (warnings.isEmpty()) ? job : new StatusView(job, null, warnings), response.getOutputStream());
	}

	/**
	 * Writes the same answer once more, to be kept.
	 * @param path the path of the request
	 * @param out takes the body
	 */
	void write(EndedJob<JobReport> job, String path, OutputStream out) throws IOException {
		if (job.ending().cause() == Cause.COMPLETED) {
			write(this.reports, job.report(), out);
		}
		else {
			write(this.problems, problem(job, JobKind.RECORDS, path), out);
		}
	}

	/** The status of the answer to the request for a job. */
	static int status(EndedJob<?> job) {
		Cause cause = job.ending().cause();
		return ((cause == Cause.COMPLETED) ? HttpStatus.OK : problem(cause, job.effective()).status()).value();
	}

	/**
	 * Answers with an answer that was kept.
	 * @param errors how many records failed; empty if nobody knows
	 * @param body the body of the answer
	 * @throws IOException if the answer cannot be written
	 */
	void replay(String jobId, int status, String errors, InputStream body, HttpServletResponse response)
			throws IOException {
		response.setStatus(status);
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(jobId));
		if (!errors.isEmpty()) {
			response.setHeader(ERRORS_HEADER, errors);
		}
		response.setContentType((status == HttpStatus.OK.value()) ? MediaType.APPLICATION_JSON_VALUE
				: MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		try (body) {
			body.transferTo(response.getOutputStream());
		}
	}

	private static ProblemDetail problem(EndedJob<?> job, JobKind kind, String path) {
		Cause cause = job.ending().cause();
		ProblemDetail problem = Problems.detail(problem(cause, job.effective()), job.ending().detail());
		problem.setInstance(URI.create(path));
		problem.setProperty(kind.reportName(), job.report());
		return problem;
	}

	/** It is kept for the error dispatch too, in case the container answers first. */
	private static ResponseEntity<ProblemDetail> problem(EndedJob<?> job, JobKind kind, HttpServletRequest request) {
		Cause cause = job.ending().cause();
		ProblemDetail problem = problem(job, kind, request.getRequestURI());
		HttpHeaders headers = new HttpHeaders();
		headers.set(HttpHeaders.LOCATION, JobIds.location(job.id()));
		if (job.report() instanceof JobReport report) {
			headers.set(ERRORS_HEADER, String.valueOf(report.errorCount()));
		}
		// With a key, the same request would only have this answer again.
		if (cause == Cause.REDIS_UNREACHABLE || cause == Cause.CONTROL_UNREACHABLE || (cause == Cause.SHUTTING_DOWN
				&& !(job.touched() && request.getHeader(IdempotencyKey.HEADER) != null))) {
			Problems.setRetryAfter(problem(cause, job.effective()), headers);
		}
		ResponseEntity<ProblemDetail> answer = Problems.answer(problem, headers);
		ProblemErrorController.keep(request, answer);
		return answer;
	}

	/**
	 * The problem that a job's end is.
	 * @param effective whether something was applied before
	 */
	static Problem problem(Cause cause, boolean effective) {
		return switch (cause) {
			case COMPLETED -> throw new IllegalArgumentException("A completed job is no problem");
			case STOPPED -> Problem.STOPPED;
			case COUNT_MISMATCH -> Problem.COUNT_MISMATCH;
			case MALFORMED_BODY -> Problem.MALFORMED_BODY;
			case LIMIT -> Problem.TOO_LARGE;
			case STALLED -> Problem.STALLED;
			case REDIS_REFUSES -> (effective) ? Problem.REDIS_REFUSES_THE_REST : Problem.REDIS_REFUSES;
			case REDIS_LOST -> Problem.REDIS_LOST;
			case REDIS_UNREACHABLE -> Problem.REDIS_UNREACHABLE;
			case CONTROL_UNREACHABLE -> Problem.CONTROL_UNREACHABLE;
			case SHUTTING_DOWN -> Problem.SHUTTING_DOWN;
			case CANCELLED -> Problem.CANCELLED;
			case INTERNAL_SERVER_ERROR -> Problem.INTERNAL_SERVER_ERROR;
		};
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
