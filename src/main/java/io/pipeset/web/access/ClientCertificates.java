package io.pipeset.web.access;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.pipeset.job.Client;
import io.pipeset.job.ClientsProperties;
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
 * Takes the client from the certificate of a connection. TLS has looked at its authority
 * when the connection began; the time goes on since.
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
			throw new BadCredentialsException("The certificate is not valid at this time, but from "
					+ certificate.getNotBefore().toInstant() + " to " + certificate.getNotAfter().toInstant(), ex);
		}
		Client client = this.clients.find(certificate.getSubjectX500Principal());
		if (client == null) {
			throw new BadCredentialsException("No client has a certificate of the name '"
					+ Problems.excerpt(certificate.getSubjectX500Principal().getName()) + "'");
		}
		return new PreAuthenticatedAuthenticationToken(client, null, List.of());
	}

	/**
	 * Requires that callers are asked for certificates, and of an authority that somebody
	 * has chosen.
	 * @param ssl the TLS of the service, or {@code null} if it has none
	 * @throws RefusedAccessException if a client is known by a certificate all the same
	 */
	static void requireAuthority(ClientsProperties clients, @Nullable Ssl ssl, SslBundles bundles) {
		property(clients).ifPresent((property) -> requireAuthority(property, ssl, bundles));
	}

	/**
	 * Requires that Actuator, if it has TLS of its own that asks for certificates, does
	 * so of an authority that somebody has chosen.
	 * @param ssl that TLS, or {@code null} if it has none
	 */
	static void requireAuthorityOfActuator(ClientsProperties clients, @Nullable Ssl ssl, SslBundles bundles) {
		if (ssl != null && asks(ssl)) {
			property(clients).ifPresent((property) -> requireTruststore(property + "management.server.ssl",
					WebServerSslBundle.get(ssl, bundles)));
		}
	}

	/** The first client that is known by a certificate, to begin a sentence with. */
	private static Optional<String> property(ClientsProperties clients) {
		return clients.clients()
			.entrySet()
			.stream()
			.filter((client) -> client.getValue().certificate() != null)
			.map((client) -> "pipeset.clients." + client.getKey() + ".certificate is set, and ")
			.sorted()
			.findFirst();
	}

	private static boolean asks(Ssl ssl) {
		return Ssl.isEnabled(ssl) && (ssl.getClientAuth() == ClientAuth.WANT || ssl.getClientAuth() == ClientAuth.NEED);
	}

	private static void requireAuthority(String property, @Nullable Ssl ssl, SslBundles bundles) {
		if (ssl == null || !asks(ssl)) {
			throw new RefusedAccessException(
					property + "server.ssl.client-auth is not want or need: no caller is asked for its certificate.",
					"Set server.ssl.bundle and server.ssl.client-auth=want, and have the truststore of the bundle name"
							+ " the authority of the callers; or give the client a key (key-sha256).");
		}
		requireTruststore(property + "server.ssl", WebServerSslBundle.get(ssl, bundles));
		ssl.getServerNameBundles()
			.forEach((named) -> requireTruststore(property + "the bundle '" + named.bundle() + "' of server.ssl",
					bundles.getBundle(named.bundle())));
	}

	/** Without one, TLS takes the authorities that the JDK trusts. */
	private static void requireTruststore(String place, SslBundle bundle) {
		if (bundle.getStores().getTrustStore() == null) {
			throw new RefusedAccessException(
					place + " has no truststore: any authority of the Web could issue a certificate of that name.",
					"Name the authority of the callers, such as by spring.ssl.bundle.pem.<bundle>.truststore.certificate.");
		}
	}

}
