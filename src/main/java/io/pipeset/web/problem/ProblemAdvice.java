package io.pipeset.web.problem;

import java.net.URI;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobRefusedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.ErrorResponse;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** Answers failed requests with problem details. */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

	private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

	private final ObjectProvider<RequestMappingHandlerMapping> calls;

	ProblemAdvice(@Qualifier("requestMappingHandlerMapping") ObjectProvider<RequestMappingHandlerMapping> calls) {
		this.calls = calls;
	}

	@Override
	protected @Nullable ResponseEntity<Object> handleExceptionInternal(Exception ex, @Nullable Object body,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		if (request instanceof ServletWebRequest servlet && servlet.getResponse() != null
				&& servlet.getResponse().isCommitted()) {
			log.debug("The failure cannot be answered, because the answer has already begun: {}",
					ex.getClass().getName());
			return null;
		}
		ProblemDetail found = (ex instanceof ErrorResponse response) ? response.getBody() : null;
		ProblemDetail problem = (found != null && isTyped(found.getType())) ? found
				: Problems.ofStatus(status, (found != null) ? found.getDetail() : null);
		HttpHeaders typed = HttpHeaders.copyOf(headers);
		typed.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
		return super.handleExceptionInternal(ex, problem, typed, status, request);
	}

	/**
	 * Completes a stream whose caller left before its first bytes were written. Spring
	 * neither completes the stream nor notifies the emitter, so the request would never
	 * end.
	 */
	@Override
	protected @Nullable ResponseEntity<Object> handleAsyncRequestNotUsableException(AsyncRequestNotUsableException ex,
			WebRequest request) {
		if (request instanceof ServletWebRequest servlet && servlet.getRequest().isAsyncStarted()) {
			servlet.getRequest().getAsyncContext().complete();
		}
		return null;
	}

	@Override
	protected @Nullable ResponseEntity<Object> handleNoResourceFoundException(NoResourceFoundException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		// Some paths need no key, such as those of the console. Callers without a key do
		// not see the list of calls.
		ex.getBody()
			.setDetail((SecurityContextHolder.getContext().getAuthentication() != null)
					? "There is no such call. The calls are " + calls() + ". An example is POST /pipeset/1000"
					: "There is no such file");
		return super.handleNoResourceFoundException(ex, headers, status, request);
	}

	/** Names the requests to send instead, in addition to the header {@code Allow}. */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpRequestMethodNotSupported(
			HttpRequestMethodNotSupportedException ex, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		String path = (request instanceof ServletWebRequest servlet) ? servlet.getRequest().getRequestURI() : "here";
		String[] methods = (ex.getSupportedMethods() != null) ? ex.getSupportedMethods() : new String[0];
		ex.getBody()
			.setDetail("There is no " + Problems.excerpt(ex.getMethod()) + " " + Problems.excerpt(path) + "; send "
					+ Stream.of(methods)
						.sorted()
						.map((method) -> method + " " + Problems.excerpt(path))
						.collect(Collectors.joining(" or ")));
		return super.handleHttpRequestMethodNotSupported(ex, headers, status, request);
	}

	/** The calls of all controllers, without the paths that only report a mistake. */
	private String calls() {
		return this.calls.getObject()
			.getHandlerMethods()
			.keySet()
			.stream()
			.flatMap((call) -> call.getMethodsCondition()
				.getMethods()
				.stream()
				.flatMap((method) -> call.getPatternValues().stream().map((path) -> method + " " + path)))
			.filter((call) -> !call.contains("{*"))
			.sorted()
			.collect(Collectors.joining(", "));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> invalid(InvalidSettingException ex) {
		ProblemDetail detail = Problems.detail(Problem.INVALID_SETTING, ex.getMessage());
		if (!ex.allowed().isEmpty()) {
			detail.setProperty("allowed", ex.allowed());
		}
		return Problems.answer(detail);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> refused(JobRefusedException ex) {
		return Problems.answer(switch (ex.reason()) {
			case FORBIDDEN -> Problem.FORBIDDEN;
			case NOT_FOUND -> Problem.NOT_FOUND;
			case NO_SPACE -> Problem.INSUFFICIENT_STORAGE;
			case TOO_MANY -> Problem.TOO_MANY;
			case SHUTTING_DOWN -> Problem.SHUTTING_DOWN;
		}, ex.getMessage());
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> unanswered(RedisCallException ex) {
		return Problems.answer((ex.isRefusal()) ? Problem.REDIS_REFUSES : Problem.REDIS_UNREACHABLE,
				ex.getMessage() + ". Send the request again; Redis may have executed it despite the failure.");
	}

	private static boolean isTyped(@Nullable URI type) {
		return type != null && !type.toString().equals("about:blank");
	}

}
