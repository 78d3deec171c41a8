package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import io.pipeset.keep.EndedJob;
import io.pipeset.keep.IdempotencyKeys.Answer;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.web.JobViews.StatusView;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import io.pipeset.web.server.ProblemReportValve;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.InputStreamSource;
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

	private final JsonMapper mapper;

	private final ObjectWriter anyWriter;

	private final ObjectWriter reportWriter;

	private final ObjectWriter problemWriter;

	Reports(JsonMapper mapper) {
		this.mapper = mapper;
		// The writer does not close the output, so that a report that fails halfway does
		// not look complete. It does not flush: a short report is sent in one piece.
		this.anyWriter = mapper.writer()
			.with(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
			.without(StreamWriteFeature.AUTO_CLOSE_TARGET)
			.without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
		this.reportWriter = this.anyWriter.forType(JobReport.class);
		this.problemWriter = this.anyWriter.forType(ProblemDetail.class);
	}

	/**
	 * Writes the report of a job as the response to its request. If the job did not
	 * complete, the report is a part of problem details. This does not use Spring's media
	 * types and converters. For a small job, they take as long as writing the report, and
	 * most jobs are small.
	 * @param kind the kind of the job, which names the report in a problem
	 * @throws IOException if the response cannot be written
	 * @throws HttpMessageNotWritableException if the caller has disconnected
	 */
	void answer(EndedJob<?> job, JobKind kind, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		CallerConnection.closeWhenWritten(request, job.memory());
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(job.id()));
		if (job.ending().cause() == Cause.COMPLETED) {
			ObjectWriter writer = this.anyWriter;
			if (job.report() instanceof JobReport report) {
				response.setHeader(ERRORS_HEADER, String.valueOf(report.errorCount()));
				writer = this.reportWriter;
			}
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(writer, job.report(), response.getOutputStream());
			return;
		}
		CallerConnection.drainWhileAnswering(request);
		ResponseEntity<ProblemDetail> problem = problem(job, kind, request);
		response.setStatus(problem.getStatusCode().value());
		problem.getHeaders().forEach((header, values) -> response.setHeader(header, values.get(0)));
		write(this.problemWriter, problem.getBody(), response.getOutputStream());
	}

	/**
	 * Answers that a job is accepted, with its location.
	 * @param job the status of the job
	 * @param warnings warnings about its record
	 * @throws IOException if the response cannot be written
	 */
	void accepted(JobStatus job, List<Warning> warnings, HttpServletResponse response) throws IOException {
		response.setStatus(HttpStatus.ACCEPTED.value());
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(job.jobId()));
		response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		response.setContentType(MediaType.APPLICATION_JSON_VALUE);
		write(this.anyWriter, (warnings.isEmpty()) ? job : new StatusView(job, null, warnings, null),
				response.getOutputStream());
	}

	/**
	 * Answers a repeat with the end of the job that has its key.
	 * @param warnings warnings in addition to those of the report
	 * @throws IOException if the response cannot be written
	 */
	void replay(Answer answer, List<Warning> warnings, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		JobStatus job = answer.status();
		Counts counts = Objects.requireNonNull(job.counts());
		StoredReport report = answer.report();
		EndReason reason = job.ending();
		Cause cause = (reason != null) ? Objects.requireNonNull(reason.cause()) : Cause.COMPLETED;
		response.setHeader(HttpHeaders.LOCATION, JobIds.location(job.jobId()));
		if (report != null) {
			response.setHeader(ERRORS_HEADER,
					String.valueOf(JobReport.errorCount(counts, job.dryRun() != null, job.verified())));
		}
		InputStreamSource body = (report != null) ? report.answer(job, warnings, this.mapper) : null;
		if (reason == null && body != null) {
			response.setContentType(MediaType.APPLICATION_JSON_VALUE);
			write(body, response.getOutputStream());
			return;
		}
		String detail = IdempotencyKey
			.withAdvice(new Ending(cause, (reason != null) ? reason.detail() : ""), counts, job.jobId(),
					IdempotencyKey.isListed(answer.request()))
			.detail();
		ProblemDetail problem = Problems.detail(problem(cause, counts.applied() > 0), detail);
		problem.setInstance(URI.create(request.getRequestURI()));
		response.setStatus(problem.getStatus());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		byte[] json = this.problemWriter.writeValueAsBytes(problem);
		OutputStream out = response.getOutputStream();
		out.write(json, 0, (body != null) ? json.length - 1 : json.length);
		if (body != null) {
			out.write((",\"" + JobKind.RECORDS.reportName() + "\":").getBytes(StandardCharsets.UTF_8));
			write(body, out);
			out.write('}');
		}
	}

	private static void write(InputStreamSource body, OutputStream out) throws IOException {
		try (InputStream in = body.getInputStream()) {
			in.transferTo(out);
		}
	}

	private static ProblemDetail problem(EndedJob<?> job, JobKind kind, String path) {
		Cause cause = job.ending().cause();
		ProblemDetail problem = Problems.detail(problem(cause, job.effective()), job.ending().detail());
		problem.setInstance(URI.create(path));
		problem.setProperty(kind.reportName(), job.report());
		return problem;
	}

	/**
	 * The response of a job that did not complete. The request keeps it as well, because
	 * Tomcat may have begun an error response, which then has it.
	 */
	private static ResponseEntity<ProblemDetail> problem(EndedJob<?> job, JobKind kind, HttpServletRequest request) {
		Cause cause = job.ending().cause();
		ProblemDetail problem = problem(job, kind, request.getRequestURI());
		HttpHeaders headers = new HttpHeaders();
		headers.set(HttpHeaders.LOCATION, JobIds.location(job.id()));
		if (job.report() instanceof JobReport report) {
			headers.set(ERRORS_HEADER, String.valueOf(report.errorCount()));
		}
		// With an idempotency key, a repeat would only get this response again.
		if (cause == Cause.REDIS_UNREACHABLE || cause == Cause.CONTROL_UNREACHABLE || (cause == Cause.SHUTTING_DOWN
				&& !(job.touched() && request.getHeader(IdempotencyKey.HEADER) != null))) {
			Problems.setRetryAfter(problem(cause, job.effective()), headers);
		}
		ResponseEntity<ProblemDetail> answer = Problems.answer(problem, headers);
		ProblemReportValve.keep(request, answer);
		return answer;
	}

	/**
	 * The problem that tells a caller why a job did not complete.
	 * @param effective whether the job has changed data
	 */
	static Problem problem(Cause cause, boolean effective) {
		return switch (cause) {
			case COMPLETED -> throw new IllegalArgumentException("A completed job is no problem");
			case STOPPED -> Problem.STOPPED;
			case COUNT_MISMATCH -> Problem.COUNT_MISMATCH;
			case IDEMPOTENCY_KEY_REUSED -> Problem.IDEMPOTENCY_KEY_REUSED;
			case MALFORMED_BODY -> Problem.MALFORMED_BODY;
			case LIMIT -> Problem.TOO_LARGE;
			case STALLED -> Problem.STALLED;
			case SOURCE_FAILED -> Problem.SOURCE_FAILED;
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
			// Spring's converters throw this exception too. Spring detects by it that the
			// caller has disconnected.
			throw new HttpMessageNotWritableException("The report could not be written", ex);
		}
	}

}
