package io.pipeset.web;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.stereotype.Component;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.filter.ServerHttpObservationFilter;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The short way of a POST to a call for jobs. Most requests are small jobs, for which
 * Spring's look for a method and its arguments costs as much as their records. The short
 * way is only for a path that is spelled exactly as its call. All others go to the
 * mappings of the controllers, which know every spelling, and answer another method or an
 * unknown call.
 */
@Component
class JobCalls implements HandlerMapping, Ordered {

	private final Map<String, Open> callers = new HashMap<>();

	/** The calls that are open, by their path without its variable. */
	private volatile Map<String, Open> open = this.callers;

	JobCalls(JobsController any, ShortcutsController shortcuts) {
		add(this.callers, "", null, any, shortcuts);
	}

	/** Before Actuator's mapping, which would look for its own paths first. */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
		if (!request.getMethod().equals("POST")) {
			return null;
		}
		String path = ServletRequestPathUtils.getParsedRequestPath(request).pathWithinApplication().value();
		int last = path.lastIndexOf('/') + 1;
		if (last == path.length() || path.indexOf('%') >= 0 || path.indexOf(';') >= 0) {
			return null;
		}
		Map<String, Open> calls = this.open;
		Open found = calls.get(path.substring(0, last));
		Open call = (found != null) ? found : calls.get(path);
		if (call == null
				|| (call.password != null && !call.password.equals(request.getHeader(WarmUpEndpoints.HEADER)))) {
			return null;
		}
		request.setAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE, call.pattern);
		ServerHttpObservationFilter.findObservationContext(request)
			.ifPresent((context) -> context.setPathPattern(call.pattern));
		String variable = path.substring(last);
		HttpRequestHandler handler = (taken, response) -> call.code.run(variable, taken, response);
		return new HandlerExecutionChain(handler);
	}

	/**
	 * Opens the same calls once more.
	 * @param prefix the beginning of their paths
	 * @param password the value of the header without which nobody reaches them
	 */
	void open(String prefix, String password, JobsController any, ShortcutsController shortcuts) {
		Map<String, Open> calls = new HashMap<>(this.callers);
		add(calls, prefix, password, any, shortcuts);
		this.open = calls;
	}

	/** Closes the calls that were opened once more. */
	void close() {
		this.open = this.callers;
	}

	private static void add(Map<String, Open> calls, String prefix, @Nullable String password, JobsController any,
			ShortcutsController shortcuts) {
		add(calls, prefix, Call.RUN_JOB, password, (variable, request, response) -> any.run(request, response));
		add(calls, prefix, Call.PIPESET, password, shortcuts::pipeset);
		add(calls, prefix, Call.PIPEHSET, password, shortcuts::pipehset);
		add(calls, prefix, Call.PIPERPOP, password, shortcuts::piperpop);
		add(calls, prefix, Call.LISTINPUT, password, shortcuts::listinput);
	}

	private static void add(Map<String, Open> calls, String prefix, Call call, @Nullable String password, Code code) {
		String pattern = prefix + call.path();
		calls.put(pattern.replaceFirst("\\{.*", ""), new Open(pattern, password, code));
	}

	/** The code of a call. */
	@FunctionalInterface
	private interface Code {

		void run(String variable, HttpServletRequest request, HttpServletResponse response) throws IOException;

	}

	/**
	 * A call that is open: its pattern for meters, the password that it asks for, and its
	 * code.
	 */
	private record Open(String pattern, @Nullable String password, Code code) {

	}

}
