package io.pipeset.web.access;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.pipeset.request.Client;
import io.pipeset.request.ClientsProperties;
import io.pipeset.request.RefusedAccessException;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.Ssl.ClientAuth;
import org.springframework.boot.web.server.WebServerSslBundle;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;

/**
 * Finds the client of a connection's certificate. TLS checked the certificate when the
 * connection began, but it may have expired since then.
 */
final class ClientCertificates implements AuthenticationManager {

	private final KnownClients clients;

	ClientCertificates(KnownClients clients) {
		this.clients = clients;
	}

	@Override
	public Authentication authenticate(Authentication request) {
		X509Certificate certificate = (X509Certificate) Objects.requireNonNull(request.getPrincipal());
		try {
			certificate.checkValidity();
		}
		catch (CertificateException ex) {
			throw new BadCredentialsException(
					"The certificate is not valid at this time: it is valid from "
							+ certificate.getNotBefore().toInstant() + " to " + certificate.getNotAfter().toInstant(),
					ex);
		}
		Client client = this.clients.find(certificate.getSubjectX500Principal());
		if (client == null) {
			throw new BadCredentialsException("No client has a certificate with the subject '"
					+ Problems.excerpt(certificate.getSubjectX500Principal().getName()) + "'");
		}
		return new PreAuthenticatedAuthenticationToken(client, null, List.of());
	}

	/**
	 * Checks the TLS of the service if a client is known by its certificate: the service
	 * must ask callers for certificates, and must trust only configured authorities.
	 * @param ssl the TLS of the service, or {@code null} if it has none
	 * @throws RefusedAccessException if the TLS does not do so
	 */
	static void requireAuthority(ClientsProperties clients, @Nullable Ssl ssl, SslBundles bundles) {
		certificateIsSet(clients).ifPresent((prefix) -> requireAuthority(prefix, ssl, bundles));
	}

	/**
	 * Checks the TLS of Actuator if it has its own and asks for certificates: it must
	 * trust only configured authorities.
	 * @param ssl the TLS of Actuator, or {@code null} if it has none
	 * @throws RefusedAccessException if it trusts others
	 */
	static void requireAuthorityOfActuator(ClientsProperties clients, @Nullable Ssl ssl, SslBundles bundles) {
		if (ssl != null && asksForCertificates(ssl)) {
			certificateIsSet(clients).ifPresent((prefix) -> requireTruststore(prefix + "management.server.ssl",
					WebServerSslBundle.get(ssl, bundles)));
		}
	}

	/**
	 * The beginning of a message that names the first client with a certificate.
	 * @return empty if no client has one
	 */
	private static Optional<String> certificateIsSet(ClientsProperties clients) {
		return clients.clients()
			.entrySet()
			.stream()
			.filter((client) -> client.getValue().certificate() != null)
			.map((client) -> "pipeset.clients." + client.getKey() + ".certificate is set, and ")
			.sorted()
			.findFirst();
	}

	private static boolean asksForCertificates(Ssl ssl) {
		return Ssl.isEnabled(ssl) && (ssl.getClientAuth() == ClientAuth.WANT || ssl.getClientAuth() == ClientAuth.NEED);
	}

	private static void requireAuthority(String prefix, @Nullable Ssl ssl, SslBundles bundles) {
		if (ssl == null || !asksForCertificates(ssl)) {
			throw new RefusedAccessException(prefix
					+ "server.ssl.client-auth is not want or need: the service asks no caller for a certificate.",
					"Set server.ssl.bundle and server.ssl.client-auth=want, and put the authority of the callers into"
							+ " the truststore of the bundle; or give the client a key (key-sha256).");
		}
		requireTruststore(prefix + "server.ssl", WebServerSslBundle.get(ssl, bundles));
		ssl.getServerNameBundles()
			.forEach((named) -> requireTruststore(prefix + "the bundle '" + named.bundle() + "' of server.ssl",
					bundles.getBundle(named.bundle())));
	}

	/** If there is no truststore, TLS trusts all authorities of the JDK. */
	private static void requireTruststore(String owner, SslBundle bundle) {
		if (bundle.getStores().getTrustStore() == null) {
			throw new RefusedAccessException(
					owner + " has no truststore: any public authority could issue a certificate with that subject.",
					"Set the authority of the callers, such as with spring.ssl.bundle.pem.<bundle>.truststore.certificate.");
		}
	}

}
