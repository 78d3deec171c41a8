package io.pipeset.web.problem;

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
 * Makes problem details (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>).
 * Their types are part of the HTTP contract.
 */
public final class Problems {

	private static final int LONGEST_EXCERPT = 64;

	private static final String TYPE_PREFIX = "urn:pipeset:problem:";

	private Problems() {
	}

	/**
	 * A problem to throw.
	 * @param detail the mistake of the caller, and its remedy
	 */
	public static ErrorResponseException exception(Problem problem, String detail) {
		ErrorResponseException exception = new ErrorResponseException(problem.status(), detail(problem, detail), null);
		setRetryAfter(problem, exception.getHeaders());
		return exception;
	}

	/**
	 * A problem as an answer. Its Content-Type does not depend on the request, since
	 * Spring leaves it out where it cannot read the header Accept.
	 */
	public static ResponseEntity<ProblemDetail> answer(ProblemDetail problem, HttpHeaders headers) {
		return ResponseEntity.status(problem.getStatus())
			.headers(headers)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(problem);
	}

	/** A problem as an answer, which says when to try again. */
	public static ResponseEntity<ProblemDetail> answer(Problem problem, @Nullable String detail) {
		HttpHeaders headers = new HttpHeaders();
		setRetryAfter(problem, headers);
		return answer(detail(problem, detail), headers);
	}

	/** Says when to try again, where a repeat may succeed. */
	public static void setRetryAfter(Problem problem, HttpHeaders headers) {
		if (problem.retryAfterSeconds() > 0) {
			headers.set(HttpHeaders.RETRY_AFTER, Integer.toString(problem.retryAfterSeconds()));
		}
	}

	/** A problem as an answer without further headers. */
	public static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
		return answer(problem, HttpHeaders.EMPTY);
	}

	/**
	 * A problem.
	 * @param detail a sentence about it, or {@code null}
	 */
	public static ProblemDetail detail(Problem problem, @Nullable String detail) {
		return detail(problem.status(), problem.type(), detail);
	}

	private static ProblemDetail detail(HttpStatusCode status, String type, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setType(URI.create(uri(type)));
		problem.setDetail(detail);
		return problem;
	}

	/**
	 * A problem as JSON, for answers that Spring does not write.
	 * @param problem one whose texts have no character that needs an escape
	 */
	public static String json(ProblemDetail problem) {
		return "{\"type\":\"" + problem.getType() + "\",\"title\":\"" + problem.getTitle() + "\",\"status\":"
				+ problem.getStatus() + ",\"detail\":\"" + problem.getDetail() + "\"}";
	}

	/**
	 * Answers with a problem before Spring MVC has the request.
	 * @param problem one whose texts have no character that needs an escape
	 * @param response a response to which nothing was written yet
	 * @throws IOException if it cannot be written
	 */
	public static void write(ProblemDetail problem, HttpServletResponse response) throws IOException {
		byte[] body = json(problem).getBytes(StandardCharsets.UTF_8);
		response.setStatus(problem.getStatus());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	/**
	 * A problem that Spring or Tomcat has found. Its type is named after its status.
	 * @param detail a sentence about it, or {@code null}
	 */
	public static ProblemDetail ofStatus(HttpStatusCode status, @Nullable String detail) {
		HttpStatus known = HttpStatus.resolve(status.value());
		return detail(status, (known != null) ? type(known.name()) : String.valueOf(status.value()), detail);
	}

	static String uri(String type) {
		return TYPE_PREFIX + type;
	}

	/** The last part of the type that is named after a constant. */
	static String type(String constant) {
		return constant.toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * The beginning of a text that came with a request, for a message.
	 * @return at most 64 characters and three dots, all of them safe in any message
	 */
	public static String excerpt(String text) {
		String printable = text.replaceAll("[^A-Za-z0-9.,:;/@_%&=?\\[\\]-]", "?");
		return (printable.length() <= LONGEST_EXCERPT) ? printable : printable.substring(0, LONGEST_EXCERPT) + "...";
	}

}
