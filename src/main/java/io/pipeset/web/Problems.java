package io.pipeset.web;

import java.net.URI;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
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

	static ProblemDetail detail(HttpStatusCode status, String type, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setType(URI.create(TYPE_PREFIX + type));
		problem.setDetail(detail);
		return problem;
	}

	/** A problem that Spring has found, which is of a type named after its status. */
	static ProblemDetail detail(HttpStatusCode status, @Nullable String detail) {
		HttpStatus known = HttpStatus.resolve(status.value());
		String type = (known != null) ? known.name().toLowerCase(Locale.ROOT).replace('_', '-')
				: String.valueOf(status.value());
		return detail(status, type, detail);
	}

}
