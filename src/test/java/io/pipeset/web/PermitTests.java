package io.pipeset.web;

import java.time.Duration;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.OwnRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job that gives up waiting for a connection does not free its permit for the next job.
 */
@ServiceTest(properties = { "pipeset.pipeline.max-connections=1", "pipeset.pipeline.connect-timeout=60s",
		"pipeset.receipts.sweep-interval=1h" })
class PermitTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	PermitTests(Service service) {
		this.service = service;
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
