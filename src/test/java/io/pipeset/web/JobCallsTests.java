package io.pipeset.web;

import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.objenesis.Objenesis;
import org.springframework.objenesis.SpringObjenesis;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** A POST takes the fast path if its path is spelled exactly as its call. */
class JobCallsTests {

	/** Makes controllers without dependencies. The tests call no method of them. */
	private final Objenesis objenesis = new SpringObjenesis();

	private final JobCalls calls = new JobCalls(this.objenesis.newInstance(JobsController.class),
			this.objenesis.newInstance(ShortcutsController.class));

	@ParameterizedTest
	@CsvSource({ "/v1/jobs, /v1/jobs", "/pipeset/5, /pipeset/{count}", "/pipehset/x, /pipehset/{count}",
			"/piperpop/+1, /piperpop/{count}", "/listinput/a.key:1, /listinput/{key}" })
	void aPlainPathTakesTheFastPath(String path, String pattern) {
		assertThat(pattern(post(path))).hasValue(pattern);
		assertThat(pattern(post(path + "?results=all"))).hasValue(pattern);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "/v1", "/v1/", "/v1/jobs/", "/v1/jobs/x", "/v1/scripts", "/pipeset", "/pipeset/",
			"/pipeset/5/", "/pipeset//5", "//pipeset/5", "/Pipeset/5", "/pipeset/5;a=b", "/listinput/a%41",
			"/listinput/a%2Fb", "/listinput/a;b" })
	void anyOtherPathIsLeftToTheControllers(String path) {
		assertThat(pattern(post(path))).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "post" })
	void anyOtherMethodIsLeftToTheControllers(String method) {
		MockHttpServletRequest request = post("/pipeset/5");
		request.setMethod(method);
		assertThat(pattern(request)).isEmpty();
	}

	@Test
	void thePathDoesNotIncludeTheContextPath() {
		MockHttpServletRequest request = post("/base/pipeset/5");
		assertThat(pattern(request)).isEmpty();
		request.setContextPath("/base");
		assertThat(pattern(request)).hasValue("/pipeset/{count}");
	}

	private static MockHttpServletRequest post(String uri) {
		String[] parts = uri.split("\\?", 2);
		MockHttpServletRequest request = new MockHttpServletRequest("POST", parts[0]);
		request.setQueryString((parts.length > 1) ? parts[1] : null);
		return request;
	}

	/** The pattern of the call to which a request is mapped; empty if there is none. */
	private Optional<Object> pattern(MockHttpServletRequest request) {
		ServletRequestPathUtils.parseAndCache(request);
		return (this.calls.getHandler(request) != null)
				? Optional.ofNullable(request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE))
				: Optional.empty();
	}

}
