package io.pipeset.web.server;

import java.io.IOException;
import java.util.Collections;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SmallBuffers;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The service ends a connection if its caller reads nothing of the response. */
@ServiceTest(properties = { "pipeset.limits.body-idle-timeout=300ms", "server.tomcat.connection-timeout=10m" })
@Import(SmallBuffers.class)
class StalledAnswerTests {

	private final Service service;

	StalledAnswerTests(Service service) {
		this.service = service;
	}

	@Test
	void anUnreadAnswerIsGivenUp() throws IOException {
		TestRedis.shared().client().flushall();
		TestRedis.shared().client().rpush("list", Collections.nCopies(500, "x".repeat(1000)).toArray(String[]::new));
		try (Wire wire = Wire.unread(this.service, "POST /piperpop/500?key=list HTTP/1.1", "Host: localhost",
				"Content-Length: 0")) {
			await().until(() -> TestRedis.shared().client().exists("list") == 0);
			await().until(() -> this.service.get("/actuator/pipeset").json().at("/memory/usedBytes").asLong(-1) == 0);
			assertThat(wire.line()).isEqualTo("HTTP/1.1 200 ");
			wire.awaitEnd();
		}
	}

}
