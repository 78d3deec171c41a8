package io.pipeset.web.access;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;

import javax.net.ssl.X509ExtendedKeyManager;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

/** With {@code server.ssl.client-auth=need} each connection needs a certificate. */
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientTest.OPERATOR, "server.ssl.client-auth=need",
		"management.server.port=0", "management.server.address=127.0.0.1", "management.server.ssl.enabled=false",
		"spring.ssl.bundle.pem.service.reload-on-update=true", "spring.ssl.bundle.watch.file.quiet-period=200ms",
		"pipeset.clients.orders.certificate=CN=orders",
		"pipeset.clients.operator.key-sha256=80b667cb640b631e93bd689858ddff7620372c82820a34b2b987455b4e56aeb9" })
class NeededCertificateTests {

	private static final Certificates authority = new Certificates();

	private final int port;

	NeededCertificateTests(Service service) {
		this.port = service.port();
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		ClientCertificateTests.register(registry, authority);
	}

	/** A test may have changed the trusted authority. */
	@BeforeEach
	void trustTheFirstAuthority() throws IOException {
		authority.trust(authority);
		await().ignoreExceptionsInstanceOf(IOException.class).until(() -> post(caller(authority)) == 200);
	}

	@Test
	void newConnectionsAreCheckedAgainstTheCurrentAuthority() throws Exception {
		X509ExtendedKeyManager former = caller(authority);
		assertThatIOException().as("without a certificate").isThrownBy(this::post);
		assertThat(post(former)).isEqualTo(200);
		Certificates next = new Certificates();
		X509ExtendedKeyManager later = caller(next);
		assertThatIOException().as("an authority that comes later").isThrownBy(() -> post(later));
		authority.trust(next);
		await().ignoreExceptionsInstanceOf(IOException.class).until(() -> post(later) == 200);
		assertThatIOException().as("an authority that is gone").isThrownBy(() -> post(former));
	}

	private static X509ExtendedKeyManager caller(Certificates issuer) {
		return issuer.caller("CN=orders", Instant.now().plus(Duration.ofHours(1)));
	}

	/** Posts on a new connection. */
	private int post(X509ExtendedKeyManager... certificate) throws Exception {
		return send(request("/pipeset/1").POST(BodyPublishers.noBody()), BodyHandlers.discarding(), certificate)
			.statusCode();
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + this.port + path));
	}

	private static <T> HttpResponse<T> send(HttpRequest.Builder request, BodyHandler<T> body,
			X509ExtendedKeyManager... certificate) throws Exception {
		HttpClient client = HttpClient.newBuilder().sslContext(authority.trusting(certificate)).build();
		return client.send(request.build(), body);
	}

}
