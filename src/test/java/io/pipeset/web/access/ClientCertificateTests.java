package io.pipeset.web.access;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import javax.net.ssl.X509ExtendedKeyManager;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.request.ClientsProperties;
import io.pipeset.request.ClientsProperties.Policy;
import io.pipeset.request.ClientsProperties.PolicyLimits;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Clients with certificates, at a service with {@code server.ssl.client-auth=want}, so
 * that other clients can use keys.
 */
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientTest.OPERATOR, "server.ssl.client-auth=want",
		"management.server.port=0", "management.server.address=127.0.0.1", "management.server.ssl.enabled=false",
		"pipeset.clients.orders.key-prefixes=order:", "pipeset.clients.billing.certificate=CN=billing",
		"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6",
		"pipeset.clients.operator.key-sha256=80b667cb640b631e93bd689858ddff7620372c82820a34b2b987455b4e56aeb9" })
class ClientCertificateTests {

	static final String ORDERS = "CN=orders,O=Example\\, Inc.";

	private static final String RECORDS = "[\"SET\",\"order:1\",\"v\"]\n[\"SET\",\"cart:1\",\"v\"]\n";

	private static final Certificates authority = new Certificates();

	private static final Certificates another = new Certificates();

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ClientCertificateTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		register(registry, authority);
		// The same subject in another spelling.
		registry.add("pipeset.clients.orders.certificate", () -> "cn=Orders, o=\"Example, Inc.\"");
	}

	/**
	 * Gives the service a certificate of the authority, and lets it trust the authority.
	 */
	static void register(DynamicPropertyRegistry registry, Certificates certificates) {
		certificates.issue("service");
		registry.add("server.ssl.bundle", () -> "service");
		String bundle = "spring.ssl.bundle.pem.service.";
		registry.add(bundle + "keystore.certificate", () -> certificates.file("service.crt").toString());
		registry.add(bundle + "keystore.private-key", () -> certificates.file("service.key").toString());
		registry.add(bundle + "truststore.certificate", () -> certificates.file("ca.crt").toString());
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aCertificateIsAsGoodAsAKey() throws Exception {
		Caller orders = certified(authority, ORDERS);
		HttpResponse<String> answer = orders.post(null);
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
		assertThat(answer.body()).contains("\"applied\":1,", "the client 'orders', which begin with 'order:'");
		assertThat(this.redis.keys("*")).containsExactly("order:1");
		String job = answer.headers().firstValue("Location").orElseThrow();
		assertThat(orders.get(job, null).statusCode()).isEqualTo(200);
		assertThat(certified(authority, "CN=billing").get(job, null).statusCode()).as("the job of another")
			.isEqualTo(404);
		assertThat(bare().get(job, ClientTest.BILLING).statusCode()).as("the job of another").isEqualTo(404);
	}

	@Test
	void theDocumentNamesBothWays() throws Exception {
		JsonNode document = JsonMapper.shared().readTree(certified(authority, ORDERS).get("/v3/api-docs", null).body());
		assertThat(document.at("/components/securitySchemes/key/scheme").asString()).isEqualTo("bearer");
		assertThat(document.at("/components/securitySchemes/certificate/type").asString()).isEqualTo("mutualTLS");
		assertThat(document.get("security")).extracting(JsonNode::toString)
			.contains("{\"key\":[]}", "{\"certificate\":[]}");
	}

	@Test
	void aClientHasItsJobsWithItsCertificateAndItsKey() throws Exception {
		String job = certified(authority, "CN=billing").post(ClientTest.BILLING)
			.headers()
			.firstValue("Location")
			.orElseThrow();
		assertThat(certified(authority, "CN=billing").get(job, null).statusCode()).isEqualTo(200);
		assertThat(bare().get(job, ClientTest.BILLING).statusCode()).isEqualTo(200);
	}

	/** TLS refuses the connection. */
	@ParameterizedTest
	@ValueSource(strings = { ORDERS, "CN=billing", "CN=authority" })
	void aCertificateOfAnotherAuthorityIsRefused(String subject) {
		for (String key : new String[] { null, ClientTest.BILLING }) {
			assertThatIOException().isThrownBy(() -> certified(another, subject).post(key));
		}
		assertNothingRan();
	}

	@Test
	void anExpiredCertificateIsRefused() {
		for (Duration age : new Duration[] { Duration.ofMinutes(1), Duration.ofDays(-3) }) {
			Caller expired = new Caller(authority.caller(ORDERS, Instant.now().minus(age)));
			assertThatIOException().isThrownBy(() -> expired.post(null));
		}
		assertNothingRan();
	}

	/**
	 * A connection may stay open, or a session may be resumed, after the certificate has
	 * expired.
	 */
	@Test
	void aCertificateThatExpiresAfterTheHandshakeIsRefused() {
		Policy policy = new Policy(List.of(), ORDERS, null, null, false, false, false, false, List.of(), List.of(),
				new PolicyLimits(null, null, null, null));
		ClientCertificates certificates = new ClientCertificates(
				new KnownClients(new ClientsProperties(Map.of("orders", policy))));
		X509Certificate lasting = authority.caller(ORDERS, Instant.now().plus(Duration.ofHours(1)))
			.getCertificateChain("")[0];
		assertThat(certificates.authenticate(new PreAuthenticatedAuthenticationToken(lasting, "")).getPrincipal())
			.hasToString("orders");
		X509Certificate expired = authority.caller(ORDERS, Instant.now().minusSeconds(1)).getCertificateChain("")[0];
		assertThatExceptionOfType(BadCredentialsException.class)
			.isThrownBy(() -> certificates.authenticate(new PreAuthenticatedAuthenticationToken(expired, "")))
			.withMessageContaining("not valid at this time");
	}

	@ParameterizedTest
	@ValueSource(strings = { "CN=orders", "CN=orders,O=Example", "O=Example\\, Inc.,CN=orders",
			"CN=orders,O=Example\\, Inc.,C=DE", "CN=orders,CN=billing", "CN=operator", "CN=anonymous",
			"OU=orders,O=Example\\, Inc.", "CN=order\u017f,O=Example\\, Inc.", "CN=\uff4frders,O=Example\\, Inc.",
			"CN=orders\\00,O=Example\\, Inc.", "CN=\\01orders,O=Example\\, Inc.", "CN=orders\\7F,O=Example\\, Inc." })
	void aSubjectThatNoClientHasIsRefused(String subject) throws Exception {
		Caller stranger = certified(authority, subject);
		HttpResponse<String> answer = stranger.post(null);
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(401);
		assertThat(answer.body()).contains("The request has no key. No client has a certificate with the subject '",
				"pipeset.clients.<name>.certificate");
		assertThat(answer.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
		assertThat(stranger.post("wrong").statusCode()).isEqualTo(401);
		assertNothingRan();
		assertThat(stranger.post(ClientTest.BILLING).statusCode()).as("a key is enough").isEqualTo(200);
	}

	@Test
	void aCertificateWithTheKeyOfAnotherClientIsRefused() throws Exception {
		HttpResponse<String> answer = certified(authority, ORDERS).post(ClientTest.BILLING);
		assertThat(answer.statusCode()).isEqualTo(401);
		assertThat(answer.body()).contains(
				"The key belongs to the client 'billing', but the certificate belongs to 'orders'",
				"urn:pipeset:problem:unauthorized");
		assertThat(certified(authority, ORDERS).post("wrong").statusCode()).as("a wrong key").isEqualTo(401);
		assertNothingRan();
	}

	@Test
	void aCallerWithoutKeyAndCertificateIsAskedForOne() throws Exception {
		HttpResponse<String> answer = bare().post(null);
		assertThat(answer.statusCode()).isEqualTo(401);
		assertThat(answer.body()).contains("Authorization: Bearer <key>", "pipeset.clients.<name>.certificate");
		assertNothingRan();
	}

	@Test
	void aRequestWithoutTlsIsRefused() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Authorization: Bearer " + ClientTest.BILLING,
				"Content-Type: " + Service.NDJSON, "Content-Length: " + RECORDS.length())) {
			Answer answer = wire.send(RECORDS).answer();
			assertThat(answer.status()).isEqualTo(400);
			assertThat(answer.text()).contains("TLS");
		}
		assertNothingRan();
	}

	/** A proxy that ends TLS may send such a header, but any caller could send it too. */
	@ParameterizedTest
	@ValueSource(strings = { "X-Forwarded-Client-Cert", "X-SSL-Client-S-DN", "X-Client-Cert", "Ssl-Client-Cert",
			"jakarta.servlet.request.X509Certificate" })
	void aHeaderIsNoCertificate(String header) throws Exception {
		HttpRequest.Builder request = bare().request("/v1/jobs", null).header(header, ORDERS);
		assertThat(bare().send(request.POST(BodyPublishers.ofString(RECORDS))).statusCode()).isEqualTo(401);
		assertNothingRan();
	}

	private void assertNothingRan() {
		assertThat(this.redis.dbsize()).isZero();
	}

	private Caller certified(Certificates issuer, String subject) {
		return new Caller(issuer.caller(subject, Instant.now().plus(Duration.ofHours(1))));
	}

	private Caller bare() {
		return new Caller();
	}

	/** A caller with connections of its own. */
	private final class Caller {

		private final HttpClient client;

		private Caller(X509ExtendedKeyManager... certificate) {
			try {
				this.client = HttpClient.newBuilder().sslContext(authority.trusting(certificate)).build();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		private HttpResponse<String> post(@Nullable String key) throws IOException, InterruptedException {
			return send(request("/v1/jobs", key).POST(BodyPublishers.ofString(RECORDS, StandardCharsets.UTF_8)));
		}

		private HttpResponse<String> get(String path, @Nullable String key) throws IOException, InterruptedException {
			return send(request(path, key).GET());
		}

		private HttpRequest.Builder request(String path, @Nullable String key) {
			HttpRequest.Builder request = HttpRequest
				.newBuilder(URI.create("https://127.0.0.1:" + ClientCertificateTests.this.service.port() + path))
				.header("Content-Type", Service.NDJSON);
			return (key != null) ? request.header("Authorization", "Bearer " + key) : request;
		}

		private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
			return this.client.send(request.build(), BodyHandlers.ofString());
		}

	}

}
