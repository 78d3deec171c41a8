package io.pipeset.web.fault;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.job.run.Jobs;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The report of a job that is stopped and then loses Redis mentions both. */
@ServiceTest
class StoppedJobFaultTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	StoppedJobFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void emptyRedis() {
		this.service.connect();
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
