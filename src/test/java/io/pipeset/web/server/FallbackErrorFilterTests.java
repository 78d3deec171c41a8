package io.pipeset.web.server;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;

import io.pipeset.QuietLog;
import io.pipeset.service.Answer;
import io.pipeset.web.document.Examples;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.HandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A defect is answered and logged without any part of the request. */
class FallbackErrorFilterTests {

	private static final String SECRET = "s3cret-of-a-caller";

	private final FallbackErrorFilter filter = new FallbackErrorFilter();

	private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/" + SECRET);

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aDefectIsAnsweredAndLoggedWithoutItsMessage(boolean wrapped) throws Exception {
		QuietLog.expect("A request for /v1/{x} failed");
		this.request.setAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE, "/v1/{x}");
		this.response.addHeader("Retry-After", "1");
		IllegalStateException defect = new IllegalStateException(SECRET, new NullPointerException("\n" + SECRET));
		this.filter.doFilter(this.request, this.response, (request, response) -> {
			response.getWriter().write("half");
			if (wrapped) {
				throw new ServletException(SECRET, new StackOverflowError(SECRET));
			}
			throw defect;
		});
		assertThat(this.response.getStatus()).isEqualTo(500);
		assertThat(this.response.getContentType()).isEqualTo("application/problem+json");
		assertThat(this.response.containsHeader("Retry-After")).isFalse();
		Examples.check(500, "internal-server-error", new Answer(500,
				HttpHeaders.of(Map.of("Content-Type", List.of(this.response.getContentType())), (name, value) -> true),
				this.response.getContentAsString()));
		assertThat(this.response.getContentAsString()).startsWith("{")
			.contains("urn:pipeset:problem:internal-server-error")
			.doesNotContain(SECRET);
		assertThat(QuietLog.heard()).last()
			.asString()
			.contains((wrapped) ? "StackOverflowError" : "IllegalStateException, by java.lang.NullPointerException")
			.doesNotContain(SECRET);
	}

	@Test
	void anAnswerThatHasBegunIsCutOff() {
		FilterChain chain = (request, response) -> {
			response.flushBuffer();
			throw new IllegalStateException(SECRET);
		};
		assertThatThrownBy(() -> this.filter.doFilter(this.request, this.response, chain))
			.isInstanceOf(ServletException.class)
			.hasMessageContaining("IllegalStateException")
			.hasMessageNotContaining(SECRET)
			.hasNoCause();
	}

	@Test
	void aDisconnectedCallerIsLeftToTheContainer() {
		IOException gone = new IOException("gone");
		assertThatIOException().isThrownBy(() -> this.filter.doFilter(this.request, this.response, (a, b) -> {
			throw gone;
		})).isSameAs(gone);
	}

	@Test
	void aRefusalWithoutABodyIsExplained() throws Exception {
		this.filter.doFilter(this.request, this.response,
				(request, response) -> ((MockHttpServletResponse) response).setStatus(404));
		assertThat(this.response.getContentAsString()).contains("urn:pipeset:problem:not-found");
	}

}
