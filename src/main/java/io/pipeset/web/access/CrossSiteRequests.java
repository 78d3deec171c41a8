package io.pipeset.web.access;

import java.io.Serial;
import java.util.Collections;
import java.util.List;

import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.security.web.firewall.FirewalledRequest;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/**
 * Refuses requests that a foreign web page may have sent, before anything of them is
 * read: any page could otherwise make a browser that reaches the service write to Redis.
 * Its own rules come before those of Spring Security, which knows a host without its
 * header, and would let known pages read answers as well.
 */
final class CrossSiteRequests extends StrictHttpFirewall {

	private static final String ALLOWED = ": allowed are localhost, the addresses of loopback, and what"
			+ " pipeset.security.allowed-hosts lists";

	private final AllowedHosts hosts;

	CrossSiteRequests(AllowedHosts hosts) {
		this.hosts = hosts;
		// The calls say by themselves which methods and keys there are, and where a key
		// goes that no path can carry.
		setUnsafeAllowAnyHttpMethod(true);
		setAllowSemicolon(true);
		setAllowUrlEncodedSlash(true);
		setAllowUrlEncodedDoubleSlash(true);
		setAllowUrlEncodedPeriod(true);
		setAllowUrlEncodedPercent(true);
		setAllowBackSlash(true);
		setAllowNull(true);
		setAllowUrlEncodedCarriageReturn(true);
		setAllowUrlEncodedLineFeed(true);
		setAllowUrlEncodedParagraphSeparator(true);
		setAllowUrlEncodedLineSeparator(true);
	}

	@Override
	public FirewalledRequest getFirewalledRequest(HttpServletRequest request) {
		String refusal = refusal(request);
		if (refusal != null) {
			throw new ForeignRequestException(refusal);
		}
		FirewalledRequest unused = super.getFirewalledRequest(request);
		return new NormalRequest(request);
	}

	/** Tomcat lets no line break into a header of an answer. */
	@Override
	public HttpServletResponse getFirewalledResponse(HttpServletResponse response) {
		return response;
	}

	private @Nullable String refusal(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		if (!this.hosts.serves(host)) {
			return ((host != null) ? "The header Host names '" + Problems.excerpt(host) + "'"
					: "There is no header Host") + ALLOWED;
		}
		List<String> origins = Collections.list(request.getHeaders(HttpHeaders.ORIGIN));
		if (origins.isEmpty() && isSentByForeignPage(request)) {
			return "The header Sec-Fetch-Site says that a web page of another site sends the request, and no Origin"
					+ " says which: follow a link, or call from a page of the service";
		}
		for (String origin : origins) {
			if (!this.hosts.trusts(origin, host)) {
				return "The header Origin names '" + Problems.excerpt(origin)
						+ "', whose web pages may not call this service" + ALLOWED + ", and the request's own Host";
			}
		}
		return null;
	}

	/**
	 * Whether a browser sends the request for a page of another site, such as for an
	 * image in it. A link that somebody follows shows its answer to nobody else.
	 */
	private static boolean isSentByForeignPage(HttpServletRequest request) {
		boolean followed = HttpMethod.GET.matches(request.getMethod())
				&& "navigate".equals(request.getHeader("Sec-Fetch-Mode"))
				&& "document".equals(request.getHeader("Sec-Fetch-Dest"));
		return "cross-site".equalsIgnoreCase(request.getHeader("Sec-Fetch-Site")) && !followed;
	}

	/**
	 * A request whose path is normal. Its headers are not looked at again on each call,
	 * as Tomcat lets no control character through.
	 */
	private static final class NormalRequest extends FirewalledRequest {

		private NormalRequest(HttpServletRequest request) {
			super(request);
		}

		@Override
		public void reset() {
		}

	}

	/** A foreign web page may have sent the request. */
	static final class ForeignRequestException extends RequestRejectedException {

		@Serial
		private static final long serialVersionUID = 1L;

		private ForeignRequestException(String message) {
			super(message);
		}

	}

}
