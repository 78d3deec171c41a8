package io.pipeset.web.access;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.web.server.LocalManagementPort;

import static org.assertj.core.api.Assertions.assertThat;

/** The port of Actuator needs the key of a client too, except for health. */
@ServiceTest(properties = { "management.server.port=0", "server.address=0.0.0.0",
		ServiceTest.KEY + "=" + ClientTest.OPERATOR,
		"pipeset.clients.operator.key-sha256=80b667cb640b631e93bd689858ddff7620372c82820a34b2b987455b4e56aeb9" })
class ClientManagementTests {

	private final Service service;

	private final Service actuator;

	ClientManagementTests(Service service, @LocalManagementPort int port) {
		this.service = service;
		this.actuator = new Service(port);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness" })
	void healthNeedsNoKey(String path) {
		assertThat(this.actuator.get(path).status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator", "/actuator/prometheus", "/actuator/pipeset", "/actuator/metrics", "/error",
			"/actuator/nothing", "/" })
	void otherPathsNeedAKey(String path) {
		Answer answer = this.actuator.get(path);
		answer.refusal(401, "unauthorized");
		assertThat(answer.header("WWW-Authenticate")).isEqualTo("Bearer");
		this.actuator.as("wrong").get(path).refusal(401, "unauthorized");
	}

	@Test
	void aClientReadsTheMetrics() {
		assertThat(this.actuator.as(ClientTest.OPERATOR).get("/actuator/prometheus").text())
			.contains("pipeset_jobs_queued");
	}

	@Test
	void healthIsNotOpenAtTheMainPort() {
		assertThat(this.service.as(null).get("/actuator/health").status()).isEqualTo(401);
	}

}
