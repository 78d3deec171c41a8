package io.pipeset.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestCluster;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The service starts although its cluster is down, and uses it as soon as it is up. */
@ServiceTest(properties = "spring.data.redis.connect-timeout=2s")
class ClusterDownTests {

	static final TestCluster cluster = down();

	private final Service service;

	ClusterDownTests(Service service) {
		this.service = service;
	}

	private static TestCluster down() {
		TestCluster cluster = TestCluster.start(1, 0);
		cluster.kill(cluster.master(0));
		return cluster;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@Test
	void jobsAreAnswered503UntilANodeAnswers() throws Exception {
		String address = TestCluster.address(cluster.master(0));
		Answer answer = this.service.post("/pipeset/10");
		JsonNode job = answer.job(503, "redis-unreachable", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertThat(answer.json().at("/detail").asString()).contains(address)
			.contains("spring.data.redis.cluster.nodes");
		JsonNode health = this.service.get("/actuator/health/readiness").json().at("/components/redis");
		assertThat(health.at("/status").asString()).isEqualTo("DOWN");
		assertThat(this.service.get("/actuator/pipeset").json().at("/lanes/most").asInt()).isZero();
		CompletableFuture<Answer> patient = this.service
			.sendAsync(this.service.request("/pipeset/10?retries=1&timeout=60s").POST(BodyPublishers.noBody()));
		cluster.restart(cluster.master(0));
		patient.get(1, TimeUnit.MINUTES).report();
		assertThat(cluster.master(0).client().dbsize()).isEqualTo(10);
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200);

		cluster.kill(cluster.master(0));
		await().until(() -> this.service.post("/pipeset/10").status() == 503);
		cluster.restart(cluster.master(0));
		await().until(() -> this.service.post("/pipeset/10").status() == 200);
	}

}
