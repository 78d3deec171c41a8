package io.pipeset.web.server;

import java.io.IOException;
import java.io.Serial;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Answers requests that fail with an exception, or have an error status but no body. Only
 * this filter logs failures. It leaves out the messages of exceptions, because they may
 * quote the request.
 */
final class FallbackErrorFilter implements Filter {

	private static final Logger log = LoggerFactory.getLogger(FallbackErrorFilter.class);

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		HttpServletResponse http = (HttpServletResponse) response;
		try {
			chain.doFilter(request, response);
		}
		catch (RuntimeException | ServletException | StackOverflowError ex) {
			answerFailure(request, http, ex);
		}
		HttpStatus status = HttpStatus.resolve(http.getStatus());
		if (status != null && status.isError() && http.getContentType() == null && !http.isCommitted()) {
			Problems.write(Problems.ofStatus(status,
					(status == HttpStatus.NOT_FOUND) ? "Nothing exists at this path" : status.getReasonPhrase()), http);
		}
	}

	private static void answerFailure(ServletRequest request, HttpServletResponse response, Throwable ex)
			throws ServletException, IOException {
		Failure failure = new Failure(ex);
		if (response.isCommitted()) {
			// The exception ends the connection, so that the response looks incomplete.
			throw failure;
		}
		response.reset();
		if (failure.isUnknownHealthPart()) {
			response.setStatus(HttpStatus.NOT_FOUND.value());
			return;
		}
		log.error("A request for {} failed", request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE),
				failure);
		Problems.write(Problems.detail(Problem.INTERNAL_SERVER_ERROR,
				"The service failed to handle the request; its log says why."), response);
	}

	/** The types and the stack trace of exceptions, without their messages. */
	private static final class Failure extends ServletException {

		@Serial
		private static final long serialVersionUID = 1L;

		private Failure(Throwable ex) {
			super(ex.getClass().getName() + ", by "
					+ NestedExceptionUtils.getMostSpecificCause(ex).getClass().getName());
			setStackTrace(NestedExceptionUtils.getMostSpecificCause(ex).getStackTrace());
		}

		/** Whether the request names an unknown part of a health component. */
		private boolean isUnknownHealthPart() {
			return getStackTrace().length > 1 && getStackTrace()[1].getClassName()
				.equals("org.springframework.boot.health.actuate.endpoint.HealthEndpointSupport");
		}

	}

}
