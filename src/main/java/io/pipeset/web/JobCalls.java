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

	/** By the path of the call, without its variable. */
	private final Map<String, Route> routes = new HashMap<>();

	JobCalls(JobsController jobs, ShortcutsController shortcuts) {
		add(Call.RUN_JOB, (variable, request, response) -> jobs.run(request, response));
		add(Call.PIPESET, shortcuts::pipeset);
		add(Call.PIPEHSET, shortcuts::pipehset);
		add(Call.PIPERPOP, shortcuts::piperpop);
		add(Call.LISTINPUT, shortcuts::listinput);
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
		Route found = this.routes.get(path.substring(0, last));
		Route route = (found != null) ? found : this.routes.get(path);
		if (route == null) {
			return null;
		}
		request.setAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE, route.pattern);
		ServerHttpObservationFilter.findObservationContext(request)
			.ifPresent((context) -> context.setPathPattern(route.pattern));
		String variable = path.substring(last);
		HttpRequestHandler handler = (handled, response) -> route.method.run(variable, handled, response);
		return new HandlerExecutionChain(handler);
	}

	private void add(Call call, ControllerMethod method) {
		this.routes.put(call.path().replaceFirst("\\{.*", ""), new Route(call.path(), method));
	}

	/** The method of a controller that handles a call. */
	@FunctionalInterface
	private interface ControllerMethod {

		void run(String variable, HttpServletRequest request, HttpServletResponse response) throws IOException;

	}

	/**
	 * A call.
	 *
	 * @param pattern its path with the variable, for meters
	 */
	private record Route(String pattern, ControllerMethod method) {

	}

}
