package io.pipeset.web.server;

import java.io.IOException;
import java.io.Writer;

import io.pipeset.web.problem.Problems;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Answers with problem details where Tomcat itself refuses a request, whose target or
 * header is not HTTP, and all errors of Actuator's own server.
 */
class ProblemReportValve extends ErrorReportValve {

	private static final String NOT_HTTP = "The request is not HTTP as RFC 9112 has it;"
			+ " in the path and the query, all but letters, digits and -._~ has to be percent-encoded";

	@Override
	protected void report(Request request, Response response, @Nullable Throwable cause) {
		if (response.getStatus() < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
			return;
		}
		ProblemDetail problem = problem(HttpStatusCode.valueOf(response.getStatus()));
		try {
			response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
			Writer writer = response.getReporter();
			if (writer != null) {
				writer.write(Problems.json(problem));
				response.finishResponse();
			}
		}
		catch (IOException ex) {
			this.container.getLogger().debug("Nobody is there to read the answer", ex);
		}
	}

	private static ProblemDetail problem(HttpStatusCode status) {
		if (status instanceof HttpStatus other && other != HttpStatus.BAD_REQUEST) {
			return Problems.detail(other, other.getReasonPhrase());
		}
		return Problems.detail(status, NOT_HTTP);
	}

}
