package io.pipeset.web.access;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.request.Client;
import io.pipeset.request.Clients;
import io.pipeset.request.ClientsProperties;
import io.pipeset.request.RefusedAccessException;
import io.pipeset.request.SecurityProperties;
import io.pipeset.web.access.CrossSiteRequests.ForeignRequestException;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementServerProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpHeaders;
import org.springframework.security.authentication.AuthenticationCredentialsNotFoundException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.WebAttributes;
import org.springframework.security.web.authentication.AnonymousAuthenticationFilter;
import org.springframework.security.web.authentication.AuthenticationFailureHandler;
import org.springframework.security.web.authentication.AuthenticationFilter;
import org.springframework.security.web.authentication.preauth.x509.X509AuthenticationFilter;
import org.springframework.security.web.context.NullSecurityContextRepository;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.security.web.util.matcher.AnyRequestMatcher;

/**
 * Spring Security with only the filters that the service needs. A request is refused if a
 * foreign web page may have sent it. Otherwise its key or the certificate of its
 * connection determines its client. Boot applies the chain to the main server and to the
 * server of Actuator. Asynchronous dispatches do not pass the chain, because their
 * request has already passed it.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

	private static final String SEND_KEY = "send the header Authorization: Bearer <key>, with a key whose hash is in"
			+ " pipeset.clients.<name>.key-sha256";

	private static final String OR_CERTIFICATE = ", or call with a certificate whose subject is in"
			+ " pipeset.clients.<name>.certificate";

	@Bean
	SecurityFilterChain callers(SecurityProperties security, ClientsProperties clients, Client anybody,
			ObjectProvider<ServerProperties> server, ObjectProvider<ManagementServerProperties> management,
			ObjectProvider<WebEndpointProperties> actuator, Environment environment, SslBundles bundles,
			ObjectProvider<KnownClients> known) {
		OpenPaths.requireNoOthers(environment, actuator.getIfAvailable(), management.getIfAvailable());
		requireUnsetIfClients("anonymous", security.anonymous(), clients);
		requireUnsetIfClients("scripts", security.scripts(), clients);
		List<Filter> filters = filters(clients, anybody, known);
		server.ifAvailable((properties) -> ClientCertificates.requireAuthority(clients, properties.getSsl(), bundles));
		management.ifAvailable(
				(properties) -> ClientCertificates.requireAuthorityOfActuator(clients, properties.getSsl(), bundles));
		return new DefaultSecurityFilterChain(AnyRequestMatcher.INSTANCE, filters);
	}

	@Bean
	@Lazy
	KnownClients knownClients(ClientsProperties clients) {
		return new KnownClients(clients);
	}

	@Bean
	Clients clients(ClientsProperties clients, Client anybody, ObjectProvider<KnownClients> known) {
		return (name) -> (!clients.isEmpty()) ? known.getObject().named(name)
				: (name.equals(anybody.name())) ? anybody : null;
	}

	/** Boot finds the bean by this name. */
	@Bean
	FilterChainProxy springSecurityFilterChain(SecurityFilterChain callers, SecurityProperties security,
			ClientsProperties clients) {
		FilterChainProxy proxy = new FilterChainProxy(callers);
		proxy.setFirewall(new CrossSiteRequests(
				new AllowedHosts(security.anonymous() || !clients.isEmpty(), security.allowedHosts())));
		proxy.setRequestRejectedHandler(AccessConfiguration::writeRejection);
		return proxy;
	}

	private static void requireUnsetIfClients(String property, boolean set, ClientsProperties clients) {
		if (set && !clients.isEmpty()) {
			throw new RefusedAccessException("pipeset.security." + property + " is true, and pipeset.clients."
					+ clients.clients().keySet().iterator().next() + " is set. pipeset.security." + property
					+ " is for callers without keys, but if clients are set, callers need a key or a certificate.",
					"Leave one of them out. Clients have rights of their own, such as pipeset.clients.<name>.scripts.");
		}
	}

	private static List<Filter> filters(ClientsProperties clients, Client anybody,
			ObjectProvider<KnownClients> configured) {
		List<Filter> filters = new ArrayList<>();
		filters.add((request, response, chain) -> {
			HttpServletResponse answer = (HttpServletResponse) response;
			answer.setHeader("X-Content-Type-Options", "nosniff");
			answer.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
			chain.doFilter(request, response);
		});
		if (clients.isEmpty()) {
			filters.add(new AnonymousAuthenticationFilter("pipeset", anybody,
					AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS")));
			return filters;
		}
		KnownClients known = configured.getObject();
		String remedy = SEND_KEY;
		if (known.hasCertificates()) {
			remedy += OR_CERTIFICATE;
			filters.add(certificateFilter(known));
		}
		BearerKeys keys = new BearerKeys(known, OpenPaths.matcher());
		AuthenticationFilter authentication = new AuthenticationFilter(keys, keys);
		authentication.setSuccessHandler((request, response, found) -> {
		});
		// No request passes the chain a second time, so no context has to be stored.
		authentication.setSecurityContextRepository(new NullSecurityContextRepository());
		authentication.setFailureHandler(new UnauthorizedHandler(remedy));
		filters.add(authentication);
		return filters;
	}

	/**
	 * Checks the certificate before the key. If no client has the certificate, the
	 * request may still have a valid key.
	 */
	private static Filter certificateFilter(KnownClients known) {
		X509AuthenticationFilter filter = new X509AuthenticationFilter();
		filter.setPrincipalExtractor((certificate) -> certificate);
		filter.setAuthenticationManager(new ClientCertificates(known));
		filter.setSecurityContextRepository(new NullSecurityContextRepository());
		return filter;
	}

	private static void writeRejection(HttpServletRequest request, HttpServletResponse response,
			RequestRejectedException reason) throws IOException {
		Problems.write(
				(reason instanceof ForeignRequestException)
						? Problems.detail(Problem.FOREIGN_REQUEST, reason.getMessage())
						: Problems.detail(Problem.BAD_REQUEST,
								"The path must be normalized as RFC 3986 says, without the segments '.' and '..'"),
				response);
	}

	/**
	 * Answers requests that belong to no client.
	 *
	 * @param remedy what a caller has to send in order to be known
	 */
	private record UnauthorizedHandler(String remedy) implements AuthenticationFailureHandler {

		@Override
		public void onAuthenticationFailure(HttpServletRequest request, HttpServletResponse response,
				AuthenticationException reason) throws IOException {
			boolean missing = reason instanceof AuthenticationCredentialsNotFoundException;
			response.setHeader(HttpHeaders.WWW_AUTHENTICATE, (missing) ? "Bearer" : "Bearer error=\"invalid_token\"");
			String problem = String.valueOf(reason.getMessage());
			if (missing && request
				.getAttribute(WebAttributes.AUTHENTICATION_EXCEPTION) instanceof AuthenticationException wrong) {
				problem += ". " + wrong.getMessage();
			}
			Problems.write(Problems.detail(Problem.UNAUTHORIZED, problem + ": " + this.remedy), response);
		}

	}

}
