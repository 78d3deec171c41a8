package io.pipeset.web;

import java.net.URI;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.ProblemErrorController;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/** The answers to jobs that did not complete. */
final class Endings {

	private Endings() {
	}

	/**
	 * The answer to a job that did not complete: problem details with the whole report.
	 * It is kept for the error dispatch too, in case the container answers first.
	 * @param ending the reason for its end
	 * @param effective whether it had an effect at Redis before it ended
	 * @param name the name of the report in the problem, such as {@code job}
	 * @param report the report
	 * @param headers further headers
	 * @param request the request
	 * @return the answer
	 */
	static ResponseEntity<ProblemDetail> problem(Ending ending, boolean effective, String name, Object report,
			HttpHeaders headers, HttpServletRequest request) {
		HttpStatus status = status(ending.cause(), effective);
		ProblemDetail problem = Problems.detail(status, ending.cause().problemType(), ending.detail());
		problem.setInstance(URI.create(request.getRequestURI()));
		problem.setProperty(name, report);
		HttpHeaders all = new HttpHeaders(headers);
		if (ending.cause() == Cause.REDIS_UNREACHABLE || ending.cause() == Cause.SHUTTING_DOWN) {
			all.set(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		}
		ResponseEntity<ProblemDetail> answer = Problems.answer(problem, all);
		ProblemErrorController.keep(request, answer);
		return answer;
	}

	private static HttpStatus status(Cause cause, boolean effective) {
		return switch (cause) {
			case COMPLETED -> HttpStatus.OK;
			case STOPPED, COUNT_MISMATCH -> HttpStatus.UNPROCESSABLE_CONTENT;
			case MALFORMED_BODY -> HttpStatus.BAD_REQUEST;
			case LIMIT -> HttpStatus.CONTENT_TOO_LARGE;
			case STALLED -> HttpStatus.REQUEST_TIMEOUT;
			case REDIS_REFUSES -> (effective) ? HttpStatus.BAD_GATEWAY : HttpStatus.SERVICE_UNAVAILABLE;
			case REDIS_LOST -> HttpStatus.BAD_GATEWAY;
			case REDIS_UNREACHABLE, SHUTTING_DOWN -> HttpStatus.SERVICE_UNAVAILABLE;
			case CANCELLED -> HttpStatus.CONFLICT;
			case INTERNAL_SERVER_ERROR -> HttpStatus.INTERNAL_SERVER_ERROR;
		};
	}

}
