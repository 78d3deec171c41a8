package io.pipeset.web.server;

import java.io.IOException;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Sends each answer when it is complete. Spring MVC flushes an answer before Tomcat can
 * know its length, so that it would go out in two pieces.
 */
@Component
class WholeAnswers extends OncePerRequestFilter {

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		chain.doFilter(request, new HttpServletResponseWrapper(response) {

			@Override
			public void flushBuffer() throws IOException {
				if (request.isAsyncStarted()) {
					super.flushBuffer();
				}
			}

		});
	}

}
