package io.pipeset.web.access;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.cert.X509Certificate;
import java.util.Map;

import io.lettuce.core.KillArgs;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * TLS to callers and to Redis, with two authorities and a Redis that requires client
 * certificates. All certificates change while the service runs.
 */
@ServiceTest(properties = { "management.server.port=0", "management.server.address=127.0.0.1",
		"management.server.ssl.enabled=false" })
class CertificateTests {

	private static final Certificates ofRedis = new Certificates();

	private static final Certificates ofService = new Certificates();

	static {
		ofRedis.issue("server");
		ofRedis.issue("client");
		ofService.issue("service");
	}

	private static final TestRedis redis = TestRedis.start("tls-cert-file " + ofRedis.file("server.crt"),
			"tls-key-file " + ofRedis.file("server.key"), "tls-ca-cert-file " + ofRedis.file("ca.crt"),
			"tls-auth-clients yes");

	private static final int PORT = redis.openTlsPort();

	private final int port;

	CertificateTests(Service service) {
		this.port = service.port();
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.port", () -> PORT);
		registry.add("spring.data.redis.ssl.bundle", () -> "redis");
		register(registry, "redis", ofRedis, "client");
		registry.add("spring.ssl.bundle.pem.redis.truststore.certificate", () -> ofRedis.file("ca.crt").toString());
		registry.add("server.ssl.bundle", () -> "service");
		register(registry, "service", ofService, "service");
		registry.add("spring.ssl.bundle.watch.file.quiet-period", () -> "200ms");
	}

	private static void register(DynamicPropertyRegistry registry, String bundle, Certificates certificates,
			String name) {
		String prefix = "spring.ssl.bundle.pem." + bundle;
		registry.add(prefix + ".keystore.certificate", () -> certificates.file(name + ".crt").toString());
		registry.add(prefix + ".keystore.private-key", () -> certificates.file(name + ".key").toString());
		registry.add(prefix + ".reload-on-update", () -> true);
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@Test
	void newConnectionsToRedisUseTheCurrentCertificates() throws Exception {
		assertThat(post("/pipeset/100").statusCode()).isEqualTo(200);
		Certificates next = new Certificates();
		next.issue("server");
		next.issue("client");
		redis.client()
			.configSet(Map.of("tls-cert-file", next.file("server.crt").toString(), "tls-key-file",
					next.file("server.key").toString(), "tls-ca-cert-file", next.file("ca.crt").toString()));
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme(true));
		// A job may still write to an old connection before the driver notices its end.
		HttpResponse<String> refused = await().until(() -> post("/pipeset/100"),
				(answer) -> answer.statusCode() != 502);
		assertThat(refused.statusCode()).isEqualTo(503);
		assertThat(refused.body()).contains("TLS failed, ",
				"spring.data.redis.ssl.bundle, then send again what did not run");
		ofRedis.replaceBy(next);
		await().until(() -> post("/pipeset/100").statusCode() == 200);
	}

	@Test
	void newConnectionsOfCallersSeeTheCurrentCertificate() {
		X509Certificate issued = ofService.issue("service");
		// The service may read the new key before the new certificate is written.
		await().ignoreExceptionsInstanceOf(IOException.class)
			.until(() -> post("/pipeset/1").sslSession().orElseThrow().getPeerCertificates()[0].equals(issued));
	}

	/** Posts on a new connection. */
	private HttpResponse<String> post(String call) throws Exception {
		HttpClient client = HttpClient.newBuilder().sslContext(ofService.trusting()).build();
		return client.send(HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + this.port + call))
			.POST(BodyPublishers.noBody())
			.build(), BodyHandlers.ofString());
	}

}
