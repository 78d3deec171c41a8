package io.pipeset.web.server;

import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * Takes the header {@code Content-Type} from a GET, which has no body. Actuator would
 * look for a way to read a body of that type, and fail.
 */
final class ReadsWithoutType implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		chain.doFilter((request instanceof HttpServletRequest http && isRead(http) && http.getContentType() != null)
				? new Untyped(http) : request, response);
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
