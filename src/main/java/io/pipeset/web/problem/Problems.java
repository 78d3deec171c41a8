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
 * Creates problem details (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC
 * 9457</a>). Their types are part of the HTTP contract.
 */
public final class Problems {

	private static final int MAX_EXCERPT_LENGTH = 64;

	private static final String TYPE_PREFIX = "urn:pipeset:problem:";

	private Problems() {
	}

	/**
	 * Creates an exception that is answered with a problem.
	 * @param detail the mistake of the caller and its remedy
	 */
	public static ErrorResponseException exception(Problem problem, String detail) {
		ErrorResponseException exception = new ErrorResponseException(problem.status(), detail(problem, detail), null);
		setRetryAfter(problem, exception.getHeaders());
		return exception;
	}

	/**
	 * Creates an answer. The Content-Type is set here, because Spring sets none if it
	 * cannot parse the header Accept.
	 */
	public static ResponseEntity<ProblemDetail> answer(ProblemDetail problem, HttpHeaders headers) {
		return ResponseEntity.status(problem.getStatus())
			.headers(headers)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(problem);
	}

	/** Creates an answer, with {@code Retry-After} if a repeat may succeed. */
	public static ResponseEntity<ProblemDetail> answer(Problem problem, @Nullable String detail) {
		HttpHeaders headers = new HttpHeaders();
		setRetryAfter(problem, headers);
		return answer(detail(problem, detail), headers);
	}

	/** Sets {@code Retry-After} if a repeat may succeed. */
	public static void setRetryAfter(Problem problem, HttpHeaders headers) {
		if (problem.retryAfterSeconds() > 0) {
			headers.set(HttpHeaders.RETRY_AFTER, Integer.toString(problem.retryAfterSeconds()));
		}
	}

	/** Creates an answer without further headers. */
	public static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
		return answer(problem, HttpHeaders.EMPTY);
	}

	/**
	 * Creates problem details.
	 * @param detail a sentence about the problem, or {@code null}
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
	 * Converts a problem to JSON, for answers that Spring does not write.
	 * @param problem a problem whose texts have no character that JSON has to escape
	 */
	public static String json(ProblemDetail problem) {
		return "{\"type\":\"" + problem.getType() + "\",\"title\":\"" + problem.getTitle() + "\",\"status\":"
				+ problem.getStatus() + ",\"detail\":\"" + problem.getDetail() + "\"}";
	}

	/**
	 * Writes a problem as the answer to a request that Spring MVC does not handle.
	 * @param problem a problem whose texts have no character that JSON has to escape
	 * @param response a response without a body so far
	 * @throws IOException if the response cannot be written
	 */
	public static void write(ProblemDetail problem, HttpServletResponse response) throws IOException {
		byte[] body = json(problem).getBytes(StandardCharsets.UTF_8);
		response.setStatus(problem.getStatus());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	/**
	 * Creates the details of a problem that Spring or Tomcat has found. The type has the
	 * name of the status.
	 * @param detail a sentence about the problem, or {@code null}
	 */
	public static ProblemDetail ofStatus(HttpStatusCode status, @Nullable String detail) {
		HttpStatus known = HttpStatus.resolve(status.value());
		return detail(status, (known != null) ? type(known.name()) : String.valueOf(status.value()), detail);
	}

	static String uri(String type) {
		return TYPE_PREFIX + type;
	}

	/** The last part of a type's URI, made from the name of a constant. */
	static String type(String constant) {
		return constant.toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * The beginning of a text from a request, to be quoted in a message.
	 * @return at most 64 characters and three dots; characters that are not safe in every
	 * message are replaced
	 */
	public static String excerpt(String text) {
		String printable = text.replaceAll("[^A-Za-z0-9.,:;/@_%&=?\\[\\]-]", "?");
		return (printable.length() <= MAX_EXCERPT_LENGTH) ? printable
				: printable.substring(0, MAX_EXCERPT_LENGTH) + "...";
	}

}
