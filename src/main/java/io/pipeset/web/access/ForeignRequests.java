package io.pipeset.web.access;

import java.io.IOException;
import java.util.Collections;

import io.pipeset.web.problem.Problems;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/**
 * Refuses requests that a foreign web page may have sent, before anything of them is
 * read. Callers have no credentials, so that any page could otherwise make a browser that
 * reaches the service write to Redis.
 */
final class ForeignRequests implements Filter {

	private static final String ALLOWED = ": allowed are localhost, the addresses of loopback, and what"
			+ " pipeset.security.allowed-hosts lists";

	private final KnownHosts hosts;

	ForeignRequests(KnownHosts hosts) {
		this.hosts = hosts;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String refusal = refusal((HttpServletRequest) request);
		if (refusal == null) {
			chain.doFilter(request, response);
		}
		else {
			Problems.write(Problems.detail(HttpStatus.FORBIDDEN, "foreign-request", refusal),
					(HttpServletResponse) response);
		}
	}

	private @Nullable String refusal(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		if (!this.hosts.serves(host)) {
			return ((host != null) ? "The header Host names '" + Problems.excerpt(host) + "'"
					: "There is no header Host") + ALLOWED;
		}
		for (String origin : Collections.list(request.getHeaders(HttpHeaders.ORIGIN))) {
			if (!this.hosts.trusts(origin, host)) {
				return "The header Origin names '" + Problems.excerpt(origin)
						+ "', whose web pages may not call this service" + ALLOWED + ", and the request's own Host";
			}
		}
		return null;
	}

}
