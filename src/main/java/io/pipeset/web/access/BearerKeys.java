package io.pipeset.web.access;

import java.util.Collections;
import java.util.List;

import io.pipeset.request.Client;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.security.authentication.AuthenticationCredentialsNotFoundException;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.authentication.AuthenticationConverter;
import org.springframework.security.web.util.matcher.RequestMatcher;

/**
 * Reads the key of a request
 * (<a href="https://www.rfc-editor.org/rfc/rfc6750#section-2.1">RFC 6750</a>) and finds
 * its client. If the request has a client's certificate too, it must be the same client.
 */
final class BearerKeys implements AuthenticationConverter, AuthenticationManager {

	private static final String SCHEME = "Bearer ";

	private final KnownClients clients;

	private final RequestMatcher openPaths;

	/**
	 * Creates a reader of keys.
	 * @param openPaths matches requests that need no key
	 */
	BearerKeys(KnownClients clients, RequestMatcher openPaths) {
		this.clients = clients;
		this.openPaths = openPaths;
	}

	/**
	 * Reads the key.
	 * @return {@code null} if the request has no key and needs none
	 * @throws AuthenticationCredentialsNotFoundException if the request has no key
	 * @throws BadCredentialsException if the header Authorization is malformed
	 */
	@Override
	public @Nullable Authentication convert(HttpServletRequest request) {
		List<String> headers = Collections.list(request.getHeaders(HttpHeaders.AUTHORIZATION));
		if (headers.isEmpty()) {
			if (SecurityContextHolder.getContext().getAuthentication() == null && !this.openPaths.matches(request)) {
				throw new AuthenticationCredentialsNotFoundException("The request has no key");
			}
			return null;
		}
		String header = headers.get(0);
		if (headers.size() > 1 || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
			throw new BadCredentialsException("The request must have one header Authorization, with Bearer and a key");
		}
		return UsernamePasswordAuthenticationToken.unauthenticated("", header.substring(SCHEME.length()).strip());
	}

	@Override
	public Authentication authenticate(Authentication request) {
		Client client = this.clients.find(String.valueOf(request.getCredentials()));
		if (client == null) {
			throw new BadCredentialsException("No client has the key of the header Authorization");
		}
		Authentication certified = SecurityContextHolder.getContext().getAuthentication();
		if (certified != null && certified.getPrincipal() != client) {
			throw new BadCredentialsException("The key belongs to the client '" + client
					+ "', but the certificate belongs to '" + certified.getPrincipal() + "'");
		}
		return UsernamePasswordAuthenticationToken.authenticated(client, null, List.of());
	}

}
