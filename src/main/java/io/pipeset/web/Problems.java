package io.pipeset.web;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;

/**
 * Makes problem details (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>),
 * whose type is part of the contract.
 */
final class Problems {

	private static final String TYPE_PREFIX = "urn:pipeset:problem:";

	private Problems() {
	}

	static ErrorResponseException badRequest(String type, String detail) {
		return exception(HttpStatus.BAD_REQUEST, type, detail);
	}

	static ErrorResponseException exception(HttpStatus status, String type, String detail) {
		return new ErrorResponseException(status, detail(status, type, detail), null);
	}

	/**
	 * A problem as an answer, which says what it is, whatever the request accepts: Spring
	 * would leave it out where it cannot read the header Accept.
	 */
	static ResponseEntity<ProblemDetail> answer(ProblemDetail problem, HttpHeaders headers) {
		return ResponseEntity.status(problem.getStatus())
			.headers(headers)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(problem);
	}

	static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
		return answer(problem, HttpHeaders.EMPTY);
	}

	static ProblemDetail detail(HttpStatusCode status, String type, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setType(URI.create(TYPE_PREFIX + type));
		problem.setDetail(detail);
		return problem;
	}

	/**
	 * A problem as JSON, where nobody else is there to make it.
	 * @param problem one whose texts have no character that needs an escape
	 */
	static String json(ProblemDetail problem) {
		return "{\"type\":\"%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}".formatted(problem.getType(),
				problem.getTitle(), problem.getStatus(), problem.getDetail());
	}

	/**
	 * Answers with a problem before Spring MVC has the request.
	 * @param problem one whose texts have no character that needs an escape
	 * @param response where nothing is written yet
	 */
	static void write(ProblemDetail problem, HttpServletResponse response) throws IOException {
		byte[] body = json(problem).getBytes(StandardCharsets.UTF_8);
		response.setStatus(problem.getStatus());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	/** A problem that Spring has found, which is of a type named after its status. */
	static ProblemDetail detail(HttpStatusCode status, @Nullable String detail) {
		HttpStatus known = HttpStatus.resolve(status.value());
		String type = (known != null) ? known.name().toLowerCase(Locale.ROOT).replace('_', '-')
				: String.valueOf(status.value());
		return detail(status, type, detail);
	}

}
