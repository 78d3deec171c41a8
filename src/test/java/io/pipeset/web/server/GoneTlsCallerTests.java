package io.pipeset.web.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Objects;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The service also detects that a caller with TLS has disconnected. */
@ServiceTest(properties = { "server.ssl.certificate=classpath:tls/redis.crt",
		"server.ssl.certificate-private-key=classpath:tls/redis.key", "management.server.port=0",
		"management.server.address=127.0.0.1", "management.server.ssl.enabled=false" })
class GoneTlsCallerTests {

	private static final String REQUEST = """
			POST %s HTTP/1.1
			Host: localhost
			Content-Length: 0

			""".replace("\n", "\r\n");

	private final Service service;

	private final Service management;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	GoneTlsCallerTests(Service service, @Autowired Environment environment) {
		this.service = service;
		this.management = new Service(environment.getRequiredProperty("local.management.port", Integer.class));
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aJobEndsWhenItsCallerDisconnects() throws Exception {
		try (Socket socket = connect()) {
			send(socket, "/pipeset/10000000?rateLimit=1");
			await().until(() -> this.redis.exists("keyA00000") == 1);
		}
		await().until(() -> running() == 0);
		assertThat(this.redis.dbsize()).isLessThan(1000);
	}

	@Test
	void aPipelinedRequestIsNotLost() throws Exception {
		try (Socket socket = connect()) {
			send(socket, "/pipeset/4?rateLimit=1");
			await().until(() -> this.redis.dbsize() > 0);
			send(socket, "/listinput/next?count=7");
			await().until(() -> this.redis.llen("next") == 7);
		}
		assertThat(this.redis.dbsize()).isEqualTo(4 + 1);
	}

	private int running() {
		return this.management.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1);
	}

	private static void send(Socket socket, String call) throws IOException {
		socket.getOutputStream().write(REQUEST.formatted(call).getBytes(StandardCharsets.UTF_8));
	}

	private Socket connect() throws IOException, GeneralSecurityException {
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null);
		try (var certificate = Objects.requireNonNull(GoneTlsCallerTests.class.getResourceAsStream("/tls/redis.crt"))) {
			trusted.setCertificateEntry("service",
					CertificateFactory.getInstance("X.509").generateCertificate(certificate));
		}
		TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		trust.init(trusted);
		SSLContext tls = SSLContext.getInstance("TLS");
		tls.init(null, trust.getTrustManagers(), null);
		return tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), this.service.port());
	}

}
