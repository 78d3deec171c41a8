package io.pipeset.web.server;

import java.io.IOException;
import java.time.Duration;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.tomcat.util.res.StringManager;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/**
 * Answers with problem details if Tomcat itself has found an error in a request: its
 * first line or a header is not HTTP or too large, or its body stalls or is broken. If a
 * body stalls, Tomcat starts an error response before the job's report is ready. The
 * report is therefore kept with the request, and sent here.
 */
public final class ProblemReportValve extends ErrorReportValve {

	private static final String ANSWER = ProblemReportValve.class.getName() + ".answer";

	private static final String NOT_HTTP = "The request is not valid HTTP (RFC 9112)."
			+ " In the query, characters that are not ASCII (%C3%BC for u umlaut), blanks, backslashes and <>^` must"
			+ " be percent-encoded. In the path, []{}| and double quotes must be percent-encoded too";

	private static final StringManager messages = StringManager.getManager("org.apache.coyote.http11");

	private final Duration bodyIdleTimeout;

	private final JsonMapper mapper;

	ProblemReportValve(Duration bodyIdleTimeout, JsonMapper mapper) {
		this.bodyIdleTimeout = bodyIdleTimeout;
		this.mapper = mapper;
	}

	/** Keeps an answer for the case that Tomcat has found an error in its request. */
	public static void keep(HttpServletRequest request, ResponseEntity<ProblemDetail> answer) {
		request.setAttribute(ANSWER, answer);
	}

	@Override
	protected void report(Request request, Response response, @Nullable Throwable cause) {
		if (response.getStatus() < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
			return;
		}
		ResponseEntity<?> answer = (request.getAttribute(ANSWER) instanceof ResponseEntity<?> kept) ? kept
				: Problems.answer(problem(request, response, cause));
		response.resetBuffer(true);
		response.setStatus(answer.getStatusCode().value());
		answer.getHeaders().forEach((name, values) -> response.setHeader(name, values.get(0)));
		try {
			response.getOutputStream().write(this.mapper.writeValueAsBytes(answer.getBody()));
			response.finishResponse();
		}
		catch (IOException ex) {
			this.container.getLogger().debug("The caller has disconnected before its response", ex);
		}
	}

	private ProblemDetail problem(Request request, Response response, @Nullable Throwable cause) {
		HttpStatusCode status = HttpStatusCode.valueOf(response.getStatus());
		if (status == HttpStatus.REQUEST_TIMEOUT) {
			return Problems.detail(Problem.STALLED, "Nothing of the body came for " + this.bodyIdleTimeout.toMillis()
					+ "ms (pipeset.limits.body-idle-timeout)");
		}
		if (LimitedBody.isChunkingBroken(cause)) {
			return Problems.detail(Problem.MALFORMED_BODY, "In the body, " + LimitedBody.BROKEN);
		}
		if (status instanceof HttpStatus other && other != HttpStatus.BAD_REQUEST) {
			String message = response.getMessage();
			return Problems.ofStatus(other,
					(message != null && !message.isEmpty()) ? message : other.getReasonPhrase());
		}
		if (isTooLarge(cause)) {
			UploadProtocol http = (UploadProtocol) request.getConnector().getProtocolHandler();
			return Problems.detail(Problem.REQUEST_HEADER_FIELDS_TOO_LARGE,
					"The first line and the headers of the request have more than " + http.getMaxHttpRequestHeaderSize()
							+ " bytes (server.max-http-request-header-size), or there are more than "
							+ http.getMaxHeaderCount() + " headers");
		}
		return Problems.ofStatus(status, NOT_HTTP);
	}

	private static boolean isTooLarge(@Nullable Throwable cause) {
		return cause instanceof IllegalStateException || (cause instanceof IllegalArgumentException
				&& messages.getString("iib.requestheadertoolarge.error").equals(cause.getMessage()));
	}

}
