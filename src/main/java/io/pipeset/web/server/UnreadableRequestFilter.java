package io.pipeset.web.server;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * Refuses requests at which Spring or Actuator would fail as they read them. From a GET,
 * which has no body, it takes the header {@code Content-Type}, by which Actuator would
 * look for a way to read one.
 */
final class UnreadableRequestFilter implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		HttpServletRequest http = (HttpServletRequest) request;
		String refusal = refusal(http);
		if (refusal != null) {
			Problems.write(Problems.detail(Problem.BAD_REQUEST, refusal), (HttpServletResponse) response);
		}
		else {
			chain.doFilter((isRead(http) && http.getContentType() != null) ? new Untyped(http) : http, response);
		}
	}

	private static @Nullable String refusal(HttpServletRequest request) {
		if (request.getRequestURI().startsWith("//")) {
			// As a reference it would name a host.
			return "The path '" + Problems.excerpt(request.getRequestURI()) + "' begins with two slashes, not one";
		}
		try {
			String charset = request.getCharacterEncoding();
			if (charset != null) {
				Charset.isSupported(charset);
			}
			// A form has parameters in its body too, which must not be read.
			if (isRead(request)) {
				request.getParameterMap();
			}
			return null;
		}
		catch (IllegalCharsetNameException ex) {
			return "The header 'Content-Type' names the charset '" + Problems.excerpt(ex.getCharsetName())
					+ "', which is no name of a charset: send UTF-8";
		}
		catch (InvalidParameterException ex) {
			return "The query string '" + Problems.excerpt(String.valueOf(request.getQueryString()))
					+ "' must be UTF-8, percent-encoded as RFC 3986 says, with at most "
					+ "server.tomcat.max-parameter-count parameters";
		}
	}

	private static boolean isRead(HttpServletRequest request) {
		return request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
	}

	/** A request without the header. */
	private static final class Untyped extends HttpServletRequestWrapper {

		Untyped(HttpServletRequest request) {
			super(request);
		}

		@Override
		public @Nullable String getContentType() {
			return null;
		}

		@Override
		public @Nullable String getHeader(String name) {
			return (isType(name)) ? null : super.getHeader(name);
		}

		@Override
		public Enumeration<String> getHeaders(String name) {
			return (isType(name)) ? Collections.emptyEnumeration() : super.getHeaders(name);
		}

		@Override
		public Enumeration<String> getHeaderNames() {
			List<String> names = Collections.list(super.getHeaderNames());
			names.removeIf(Untyped::isType);
			return Collections.enumeration(names);
		}

		private static boolean isType(String name) {
			return name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE);
		}

	}

}
