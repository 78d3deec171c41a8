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
 * Maps a POST that runs records to its controller without Spring's mapping. Most requests
 * are small jobs, for which Spring's mapping and its arguments cost as much as their
 * records. This fast path takes only paths that are spelled exactly as their call. All
 * other requests go to the mappings of the controllers, which also handle other
 * spellings, wrong methods and unknown paths.
 */
@Component
class JobCalls implements HandlerMapping, Ordered {

	/** The routes for callers, without those of the warm-up. */
	private final Map<String, Route> callerRoutes = new HashMap<>();

	/** All open routes, by their path without its variable. */
	private volatile Map<String, Route> routes = this.callerRoutes;

	JobCalls(JobsController jobs, ShortcutsController shortcuts) {
		add(this.callerRoutes, "", null, jobs, shortcuts);
	}

	/** Comes before Actuator's mapping, which would check its own paths first. */
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
		Map<String, Route> open = this.routes;
		Route found = open.get(path.substring(0, last));
		Route route = (found != null) ? found : open.get(path);
		if (route == null
				|| (route.password != null && !route.password.equals(request.getHeader(WarmUpEndpoints.HEADER)))) {
			return null;
		}
		request.setAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE, route.pattern);
		ServerHttpObservationFilter.findObservationContext(request)
			.ifPresent((context) -> context.setPathPattern(route.pattern));
		String variable = path.substring(last);
		HttpRequestHandler handler = (handled, response) -> route.method.run(variable, handled, response);
		return new HandlerExecutionChain(handler);
	}

	/**
	 * Opens a second set of the same calls.
	 * @param prefix the beginning of their paths
	 * @param password requests reach these calls only with this value in the header
	 * {@value WarmUpEndpoints#HEADER}
	 */
	void open(String prefix, String password, JobsController jobs, ShortcutsController shortcuts) {
		Map<String, Route> open = new HashMap<>(this.callerRoutes);
		add(open, prefix, password, jobs, shortcuts);
		this.routes = open;
	}

	/** Closes the second set. */
	void close() {
		this.routes = this.callerRoutes;
	}

	private static void add(Map<String, Route> routes, String prefix, @Nullable String password, JobsController jobs,
			ShortcutsController shortcuts) {
		add(routes, prefix, Call.RUN_JOB, password, (variable, request, response) -> jobs.run(request, response));
		add(routes, prefix, Call.PIPESET, password, shortcuts::pipeset);
		add(routes, prefix, Call.PIPEHSET, password, shortcuts::pipehset);
		add(routes, prefix, Call.PIPERPOP, password, shortcuts::piperpop);
		add(routes, prefix, Call.LISTINPUT, password, shortcuts::listinput);
	}

	private static void add(Map<String, Route> routes, String prefix, Call call, @Nullable String password,
			ControllerMethod method) {
		String pattern = prefix + call.path();
		routes.put(pattern.replaceFirst("\\{.*", ""), new Route(pattern, password, method));
	}

	/** The method of a controller that handles a call. */
	@FunctionalInterface
	private interface ControllerMethod {

		void run(String variable, HttpServletRequest request, HttpServletResponse response) throws IOException;

	}

	/**
	 * An open call.
	 *
	 * @param pattern its path with the variable, for meters
	 * @param password the password that requests need; {@code null} for none
	 */
	private record Route(String pattern, @Nullable String password, ControllerMethod method) {

	}

}
