package io.pipeset.web.server;

import java.io.IOException;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

import org.springframework.stereotype.Component;

/**
 * Sends each synchronous response when it is complete. Spring MVC flushes a response
 * before Tomcat knows its length, and Tomcat would then send it in two pieces.
 */
@Component
class NoEarlyFlushFilter implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		chain.doFilter(request, new HttpServletResponseWrapper((HttpServletResponse) response) {

			@Override
			public void flushBuffer() throws IOException {
				if (request.isAsyncStarted()) {
					super.flushBuffer();
				}
			}

		});
	}

}
