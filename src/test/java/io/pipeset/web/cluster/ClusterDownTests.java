package io.pipeset.web.cluster;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestCluster;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.LeftSpool;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The service starts although its cluster is down, and uses it as soon as it is up. It
 * stays ready while one of its masters is down.
 */
@ServiceTest(properties = { "spring.data.redis.connect-timeout=2s", "management.endpoint.health.show-details=always" })
class ClusterDownTests {

	static final TestCluster cluster = down();

	private static final LeftSpool left = new LeftSpool(Path.of("target/spool/cluster-down"), cluster.identity());

	private static final String INTERRUPTED = left.job("[\"SET\",\"a\",\"1\"]\n[\"SET\",\"b\",\"2\"]\n",
			LeftSpool.outcomes(LeftSpool.SENT, 1), "{\"connection\":{\"node\":\""
					+ TestCluster.address(cluster.master(0)) + "\",\"clientId\":7,\"runId\":\"life\"}}");

	private final Service service;

	ClusterDownTests(Service service) {
		this.service = service;
	}

	private static TestCluster down() {
		TestCluster cluster = TestCluster.start(3, 0);
		cluster.nodes().forEach(cluster::kill);
		return cluster;
	}

	@DynamicPropertySource
	static void spool(DynamicPropertyRegistry properties) {
		properties.add("pipeset.spool.directory", left::base);
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
		// Commands of the process that ended may still be on their way.
		String interrupted = "/v1/jobs/" + INTERRUPTED;
		assertThat(this.service.post(interrupted + "/resume").refusal(503, "control-unreachable")).contains("Resume");
		assertThat(this.service.get(interrupted).json().at("/state").asString()).isEqualTo("interrupted");
		CompletableFuture<Answer> patient = this.service
			.sendAsync(this.service.request("/pipeset/10?retries=1&timeout=60s").POST(BodyPublishers.noBody()));
		cluster.nodes().forEach(cluster::restart);
		patient.get(1, TimeUnit.MINUTES).report();
		assertThat(dataKeys()).isEqualTo(10);
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200);
		assertThat(this.service.post(interrupted + "/resume").status()).isEqualTo(202);
		await().until(() -> this.service.get(interrupted).json().at("/state").asString().equals("completed"));
		assertThat(dataKeys()).isEqualTo(12);

		cluster.kill(cluster.master(2));
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200);
		JsonNode redis = this.service.get("/actuator/health").json().at("/components/redis");
		assertThat(redis.at("/status").asString()).isEqualTo("UP");
		for (int master = 0; master < 3; master++) {
			JsonNode state = redis.at("/details/masters").get(TestCluster.address(cluster.master(master)));
			assertThat(state.at("/status").asString()).isEqualTo((master < 2) ? "UP" : "DOWN");
		}
		assertThat(this.service.post("/pipeset/100?timeout=1s").status()).isIn(502, 503);
		cluster.restart(cluster.master(2));
		await().until(() -> this.service.post("/pipeset/100").status() == 200);
	}

	/** The keys but for those of the records of jobs. */
	private static long dataKeys() {
		return cluster.nodes()
			.flatMap((node) -> node.client().keys("*").stream())
			.filter((key) -> !key.startsWith("pipeset:"))
			.count();
	}

}
