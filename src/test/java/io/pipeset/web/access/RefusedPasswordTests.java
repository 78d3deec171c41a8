package io.pipeset.web.access;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * If the password is wrong or missing at the start, the answers name the property, for
 * each kind of Redis.
 */
class RefusedPasswordTests {

	private static final Certificates certificates = new Certificates();

	static {
		certificates.issue("server");
	}

	private static final TestRedis single = TestRedis.start("tls-cert-file " + certificates.file("server.crt"),
			"tls-key-file " + certificates.file("server.key"), "tls-auth-clients no",
			"user loader on >of-loader ~* +@all");

	private static final int TLS_PORT = single.openTlsPort();

	private static final TestCluster cluster = TestCluster.shared();

	@AfterAll
	static void end() {
		single.close();
	}

	@ParameterizedTest
	@CsvSource({ "one, '', '', NOAUTH", "one, nobody, of-loader, WRONGPASS", "tls, '', '', NOAUTH",
			"tls, loader, wrong, WRONGPASS", "cluster, '', '', NOAUTH", "cluster, '', wrong, WRONGPASS" })
	void theAnswerNamesTheProperty(String kind, String user, String password, String code) {
		Map<String, String> data = new HashMap<>((kind.equals("cluster")) ? cluster.properties() : single.properties());
		data.put("spring.data.redis.username", user);
		data.put("spring.data.redis.password", password);
		data.values().removeIf(String::isEmpty);
		if (kind.equals("tls")) {
			data.put("spring.data.redis.port", Integer.toString(TLS_PORT));
			data.put("spring.data.redis.ssl.bundle", "redis");
			data.put("spring.ssl.bundle.pem.redis.truststore.certificate", certificates.file("ca.crt").toString());
		}
		try (Replica replica = Replica.start(TestRedis.shared(), data,
				"management.endpoint.health.show-details=always")) {
			Answer answer = replica.service().post("/pipeset/10");
			assertThat(Answer.counts(answer.job(503, "redis-refuses", "stopped")))
				.isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
			for (String words : new String[] { answer.json().get("detail").asString(),
					Objects.requireNonNull(replica.service()
						.get("/actuator/health")
						.json()
						.at("/components/redis/details/error")
						.asString()) }) {
				assertThat(words).contains(code, "spring.data.redis.password", "spring.data.redis.username")
					.doesNotContain("Check that it runs", "of-loader");
			}
		}
	}

}
