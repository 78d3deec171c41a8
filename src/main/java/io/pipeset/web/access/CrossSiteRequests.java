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
 * Refuses requests that a foreign web page may have sent, before their body is read.
 * Otherwise any page could write to Redis through a browser that reaches the service. It
 * has rules of its own, because Spring Security does not require the header Host, and
 * would let allowed pages read answers too.
 */
final class CrossSiteRequests extends StrictHttpFirewall {

	private static final String ALLOWED = ": the allowed hosts are localhost, loopback addresses and the values of"
			+ " pipeset.security.allowed-hosts";

	private final AllowedHosts hosts;

	CrossSiteRequests(AllowedHosts hosts) {
		this.hosts = hosts;
		// The calls themselves refuse unknown methods and keys that cannot stand in a
		// path. Their messages say what to send instead.
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

	/** No check is needed, because Tomcat writes no line break into a header. */
	@Override
	public HttpServletResponse getFirewalledResponse(HttpServletResponse response) {
		return response;
	}

	private @Nullable String refusal(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		if (!this.hosts.isAllowedHost(host)) {
			return ((host != null) ? "The header Host names '" + Problems.excerpt(host) + "'"
					: "There is no header Host") + ALLOWED;
		}
		List<String> origins = Collections.list(request.getHeaders(HttpHeaders.ORIGIN));
		if (origins.isEmpty() && isSentByForeignPage(request)) {
			return "The header Sec-Fetch-Site says that a web page of another site sends the request, and the request"
					+ " has no header Origin: follow a link, or call from a page of the service";
		}
		for (String origin : origins) {
			if (!this.hosts.isAllowedOrigin(origin, host)) {
				return "The header Origin names '" + Problems.excerpt(origin)
						+ "', whose web pages may not call this service" + ALLOWED
						+ "; the host of the header Host is allowed too";
			}
		}
		return null;
	}

	/**
	 * Whether a browser sends the request for a page of another site, such as for an
	 * image in it. A link is allowed, because only the user who follows it sees the
	 * answer.
	 */
	private static boolean isSentByForeignPage(HttpServletRequest request) {
		boolean followed = HttpMethod.GET.matches(request.getMethod())
				&& "navigate".equals(request.getHeader("Sec-Fetch-Mode"))
				&& "document".equals(request.getHeader("Sec-Fetch-Dest"));
		return "cross-site".equalsIgnoreCase(request.getHeader("Sec-Fetch-Site")) && !followed;
	}

	/**
	 * A request with a normalized path. Its headers are not checked again at each access,
	 * because Tomcat refuses control characters.
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
