package io.pipeset.web.server;

import java.io.IOException;
import java.io.Writer;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.tomcat.util.res.StringManager;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Answers with problem details if Tomcat itself refuses a request, because its first line
 * or a header is not HTTP or too large. It also answers all errors of Actuator's own
 * server.
 */
class ProblemReportValve extends ErrorReportValve {

	private static final String NOT_HTTP = "The request is not valid HTTP (RFC 9112)."
			+ " In the query, characters that are not ASCII (%C3%BC for u umlaut), blanks, backslashes and <>^` must"
			+ " be percent-encoded. In the path, []{}| and double quotes must be percent-encoded too";

	private static final StringManager messages = StringManager.getManager("org.apache.coyote.http11");

	@Override
	protected void report(Request request, Response response, @Nullable Throwable cause) {
		if (response.getStatus() < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
			return;
		}
		ProblemDetail problem = problem(HttpStatusCode.valueOf(response.getStatus()), request, cause);
		response.setStatus(problem.getStatus());
		try {
			response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
			Writer writer = response.getReporter();
			if (writer != null) {
				writer.write(Problems.json(problem));
				response.finishResponse();
			}
		}
		catch (IOException ex) {
			this.container.getLogger().debug("The caller has disconnected before its response", ex);
		}
	}

	private static ProblemDetail problem(HttpStatusCode status, Request request, @Nullable Throwable cause) {
		if (status instanceof HttpStatus other && other != HttpStatus.BAD_REQUEST) {
			return Problems.ofStatus(other, other.getReasonPhrase());
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
