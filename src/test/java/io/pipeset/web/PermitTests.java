package io.pipeset.web;

import java.time.Duration;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A job that gives up waiting for a connection does not free it for the next one. */
@ServiceTest(properties = { "pipeset.pipeline.max-connections=1", "pipeset.pipeline.connect-timeout=60s",
		"pipeset.receipts.sweep-interval=1h" })
class PermitTests {

	private static final TestRedis redis = TestRedis.start();

	private static final FaultProxy proxy = FaultProxy.open(redis);

	private final Service service;

	PermitTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.port", proxy::port);
	}

	@AfterAll
	static void end() {
		proxy.close();
		redis.close();
	}

	@Test
	void aPermitComesBackWhenNobodyWaitsForItsConnectionAnyMore() {
		await().atMost(Duration.ofSeconds(20)).until(() -> {
			proxy.resetAll();
			return proxy.links() == 0;
		});
		proxy.stopAll();
		JsonNode first = this.service.post("/pipeset/10?timeout=300ms").job(503, "redis-unreachable", "failed");
		assertThat(Answer.counts(first)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertThat(busy()).isOne();
		Answer second = this.service.post("/pipeset/10?timeout=300ms");
		second.job(503, "redis-unreachable", "failed");
		assertThat(second.json().at("/detail").asString()).contains("None of the 1 connections became free");
		proxy.heal();
		await().atMost(Duration.ofSeconds(20)).until(() -> busy() == 0);
		this.service.post("/pipeset/10?timeout=5s").report();
		assertThat(busy()).isZero();
	}

	private int busy() {
		return this.service.get("/actuator/pipeset").json().at("/lanes/busy").asInt(-1);
	}

}
