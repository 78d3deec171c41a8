package io.pipeset.web.access;

import java.util.Collections;
import java.util.List;

import io.pipeset.job.Client;
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
 * Takes the key out of a request, as
 * <a href="https://www.rfc-editor.org/rfc/rfc6750#section-2.1">RFC 6750</a> has it, and
 * the client for it, which must be the one that a certificate has named already.
 */
final class BearerKeys implements AuthenticationConverter, AuthenticationManager {

	private static final String SCHEME = "Bearer ";

	private final KnownClients clients;

	private final RequestMatcher open;

	/**
	 * The keys of clients.
	 * @param open requests that need none
	 */
	BearerKeys(KnownClients clients, RequestMatcher open) {
		this.clients = clients;
		this.open = open;
	}

	/**
	 * Takes the key.
	 * @return {@code null} if there is none, and none is needed
	 * @throws AuthenticationCredentialsNotFoundException if there is none
	 * @throws BadCredentialsException if it is not where it should be
	 */
	@Override
	public @Nullable Authentication convert(HttpServletRequest request) {
		List<String> headers = Collections.list(request.getHeaders(HttpHeaders.AUTHORIZATION));
		if (headers.isEmpty()) {
			if (SecurityContextHolder.getContext().getAuthentication() == null && !this.open.matches(request)) {
				throw new AuthenticationCredentialsNotFoundException("The request has no key");
			}
			return null;
		}
		String header = headers.get(0);
		if (headers.size() > 1 || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
			throw new BadCredentialsException("The header Authorization must stand once, with Bearer and a key");
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
			throw new BadCredentialsException("The key is that of the client '" + client
					+ "', and the certificate that of '" + certified.getPrincipal() + "'");
		}
		return UsernamePasswordAuthenticationToken.authenticated(client, null, List.of());
	}

}
