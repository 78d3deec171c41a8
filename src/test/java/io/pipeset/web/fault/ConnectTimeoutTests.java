package io.pipeset.web.fault;

import java.time.Duration;

import io.pipeset.engine.pipeline.OpenConnections;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A job waits for a connection no longer than its own timeout. */
@ServiceTest(properties = "pipeset.pipeline.connect-timeout=10m")
class ConnectTimeoutTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private final Service service;

	private final OpenConnections.Count connections;

	ConnectTimeoutTests(Service service, @Autowired OpenConnections.Count connections) {
		this.service = service;
		this.connections = connections;
	}

	/**
	 * Whoever was too late for a job of the test before has given its connection back.
	 */
	@BeforeEach
	void closeConnections() {
		this.connections.kill(redis);
	}

	@RepeatedTest(2)
	void aConnectionThatIsNotOpenInTimeIsNotWaitedFor() {
		redis.pause();
		try {
			long began = System.nanoTime();
			JsonNode job = this.service.post("/pipeset/1000?timeout=300ms").job(503, "redis-unreachable", "failed");
			assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofMinutes(1));
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1000, 0, 0, 0, 0, 1000));
		}
		finally {
			redis.resume();
		}
		await().untilAsserted(() -> this.service.post("/pipeset/1000?timeout=5s").report());
	}

	/** Counts the service's connections. */
	@TestConfiguration(proxyBeanMethods = false)
	static class Connections extends OpenConnections {

	}

}
