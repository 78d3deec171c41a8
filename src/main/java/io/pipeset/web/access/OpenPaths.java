package io.pipeset.web.access;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.request.RefusedAccessException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementServerProperties;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpMethod;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;
import org.springframework.security.web.util.matcher.OrRequestMatcher;
import org.springframework.security.web.util.matcher.RequestMatcher;

/** The paths that need no key: health, and the files of the console. */
final class OpenPaths {

	private static final String CONSOLE = "/console/";

	private OpenPaths() {
	}

	static RequestMatcher matcher() {
		PathPatternRequestMatcher.Builder path = PathPatternRequestMatcher.withDefaults();
		return new OrRequestMatcher(EndpointRequest.to(HealthEndpoint.class),
				path.matcher(HttpMethod.GET, CONSOLE + "**"), path.matcher(HttpMethod.HEAD, CONSOLE + "**"));
	}

	/**
	 * Checks that no property moves other calls below an open path.
	 * @throws RefusedAccessException if a property does so
	 */
	static void requireNoOthers(Environment environment, @Nullable WebEndpointProperties actuator,
			@Nullable ManagementServerProperties management) {
		require("spring.mvc.servlet.path", environment.getProperty("spring.mvc.servlet.path", ""));
		if (actuator == null) {
			return;
		}
		List<String> bases = new ArrayList<>(List.of(""));
		if (management != null && management.getBasePath() != null) {
			require("management.server.base-path", management.getBasePath());
			bases.add(management.getBasePath());
		}
		for (String base : bases) {
			String endpoints = base + '/' + actuator.getBasePath();
			require("management.endpoints.web.base-path", endpoints);
			actuator.getPathMapping()
				.forEach((endpoint, path) -> require("management.endpoints.web.path-mapping." + endpoint,
						endpoints + '/' + path));
		}
	}

	private static void require(String property, String path) {
		String normal = ('/' + path + '/').replaceAll("/+", "/");
		if (normal.startsWith(CONSOLE)) {
			throw new RefusedAccessException(property + " moves calls that need a key to "
					+ normal.substring(0, normal.length() - 1) + ", but paths below /console need no key.",
					"Choose a path that is not below /console.");
		}
	}

}
