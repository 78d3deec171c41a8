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
 * Refuses requests that Spring or Actuator would fail to read. From GET and HEAD requests
 * it removes the header {@code Content-Type}, because Actuator would look for a way to
 * read a body of that type.
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
			chain.doFilter((isGetOrHead(http) && http.getContentType() != null) ? new WithoutContentType(http) : http,
					response);
		}
	}

	private static @Nullable String refusal(HttpServletRequest request) {
		if (request.getRequestURI().startsWith("//")) {
			// As a URI reference, this path would begin with a host.
			return "The path '" + Problems.excerpt(request.getRequestURI()) + "' begins with two slashes, not one";
		}
		try {
			String charset = request.getCharacterEncoding();
			if (charset != null) {
				Charset.isSupported(charset);
			}
			// Parameters of a form can also be in its body, which must not be read here.
			if (isGetOrHead(request)) {
				request.getParameterMap();
			}
			return null;
		}
		catch (IllegalCharsetNameException ex) {
			return "The header 'Content-Type' names the charset '" + Problems.excerpt(ex.getCharsetName())
					+ "', which is not a valid name of a charset: send UTF-8";
		}
		catch (InvalidParameterException ex) {
			return "The query string must be UTF-8, percent-encoded as RFC 3986 says, with at most "
					+ "server.tomcat.max-parameter-count parameters";
		}
	}

	private static boolean isGetOrHead(HttpServletRequest request) {
		return request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
	}

	/** A request that hides its header {@code Content-Type}. */
	private static final class WithoutContentType extends HttpServletRequestWrapper {

		WithoutContentType(HttpServletRequest request) {
			super(request);
		}

		@Override
		public @Nullable String getContentType() {
			return null;
		}

		@Override
		public @Nullable String getHeader(String name) {
			return (isContentType(name)) ? null : super.getHeader(name);
		}

		@Override
		public Enumeration<String> getHeaders(String name) {
			return (isContentType(name)) ? Collections.emptyEnumeration() : super.getHeaders(name);
		}

		@Override
		public Enumeration<String> getHeaderNames() {
			List<String> names = Collections.list(super.getHeaderNames());
			names.removeIf(WithoutContentType::isContentType);
			return Collections.enumeration(names);
		}

		private static boolean isContentType(String name) {
			return name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE);
		}

	}

}
