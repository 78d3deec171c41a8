package io.pipeset.web;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.job.Jobs;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A job that is stopped, and then loses Redis, says so. */
@ServiceTest(properties = "pipeset.receipts.sweep-interval=1h")
class StoppedJobFaultTests {

	private static final TestRedis redis = TestRedis.start();

	private static final FaultProxy proxy = FaultProxy.open(redis);

	private final Service service;

	private final Jobs jobs;

	StoppedJobFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", proxy::port);
	}

	@AfterAll
	static void end() {
		proxy.close();
		redis.close();
	}

	/** Leaves a connection in the pool whose handshake is over. */
	@BeforeEach
	void emptyRedis() {
		proxy.heal();
		await().ignoreExceptions().until(() -> this.service.post("/pipeset/1").status() == 200);
		redis.client().flushall();
	}

	@Test
	void aLossAfterTheStopIsToldWithTheNumberOfUnknownRecords() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?flush=each")) {
			wire.chunk("[\"RPUSH\",\"l\",1]\n");
			ProxyLink link = place.get(30, TimeUnit.SECONDS);
			await().until(() -> redis.client().exists("l") == 1);
			this.jobs.stopAll();
			link.reset();
			Answer answer = wire.lastChunk().answer();
			JsonNode job = answer.job(502, "redis-lost", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
			assertThat(answer.json().at("/detail").asString())
				.startsWith("1 records were on their way when the connection to Redis was lost")
				.contains("shut");
		}
		assertThat(redis.client().lrange("l", 0, -1)).containsExactly("1");
	}

}
