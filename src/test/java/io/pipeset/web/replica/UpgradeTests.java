package io.pipeset.web.replica;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Instances of the former version and of this one share a control Redis and a folder, as
 * they do during a rollout, forth and back.
 */
@EnabledIfEnvironmentVariable(named = "PIPESET_TEST_FORMER_JAR", matches = ".+",
		disabledReason = ".ci/former builds the jar of the former version")
@ProcessTest
class UpgradeTests {

	private static final int RECORDS = 3000;

	private TestRedis redis;

	@TempDir
	Path spool;

	@BeforeEach
	void startRedis() {
		this.redis = TestRedis.start();
	}

	@AfterEach
	void endRedis() {
		this.redis.close();
	}

	/** Jobs, their items and cancels, and keys of idempotency. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void eachSeesTheJobsOfTheOther(boolean upgrade) throws Exception {
		try (ServiceProcess one = start(!upgrade); ServiceProcess other = start(upgrade)) {
			String ended = load(one.service(), "/v1/jobs?label=feed", "key-1");
			await().until(() -> state(one.service(), ended).equals("completed"));
			await().until(() -> state(other.service(), ended).equals("completed"));
			JsonNode job = other.service().get(ended).json();
			assertThat(Answer.counts(job)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(job.at("/label").asString()).isEqualTo("feed");
			assertThat(other.service().get("/v1/jobs").text()).contains(ended.substring(ended.lastIndexOf('/') + 1));
			assertThat(load(other.service(), "/v1/jobs?label=feed", "key-1")).isEqualTo(ended);
			String running = load(one.service(), "/v1/jobs?rateLimit=1", "key-2");
			await().until(() -> state(other.service(), running).equals("running"));
			assertThat(other.service().delete(running).status()).isLessThan(300);
			await().until(() -> state(one.service(), running).equals("cancelled"));
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void eachResumesTheJobsOfTheOther(boolean upgrade) throws Exception {
		try (ServiceProcess killed = start(!upgrade); ServiceProcess other = start(upgrade)) {
			String location = load(killed.service(), "/v1/jobs?rateLimit=1000&label=feed", "key");
			await().until(() -> Answer.counts(killed.service().get(location).json()).applied() > 0);
			killed.kill();
			await().until(() -> state(other.service(), location).equals("completed"));
			JsonNode job = other.service().get(location).json();
			assertThat(Answer.counts(job)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(job.at("/label").asString()).isEqualTo("feed");
			assertThat(this.redis.client().keys("k*")).hasSize(RECORDS);
		}
	}

	/** A reliable pop is acknowledged, or returned, by the other one. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void eachSettlesTheReceiptsOfTheOther(boolean upgrade) throws Exception {
		try (ServiceProcess one = start(!upgrade); ServiceProcess other = start(upgrade)) {
			this.redis.client().rpush("queue", "a", "b", "c");
			String popped = pop(one.service());
			String returned = pop(one.service());
			assertThat(other.service().post("/v1/jobs/" + popped + "/ack").status()).isEqualTo(204);
			assertThat(other.service().post("/v1/jobs/" + returned + "/nack").status()).isEqualTo(204);
			assertThat(this.redis.client().lrange("queue", 0, -1)).containsExactly("a", "b");
		}
	}

	private static String pop(Service service) {
		return service.post("/piperpop/1?key=queue&reliable=true&receiptTtl=1h").report().at("/jobId").asString();
	}

	private ServiceProcess start(boolean former) throws Exception {
		String[] arguments = { "--pipeset.spool.directory=" + this.spool, "--pipeset.jobs.resume=auto",
				"--pipeset.jobs.lease=2s" };
		return (former)
				? ServiceProcess.startJar(Path.of(System.getenv("PIPESET_TEST_FORMER_JAR")), this.redis, arguments)
				: ServiceProcess.start(this.redis, arguments);
	}

	private static String load(Service service, String path, String key) {
		String body = IntStream.range(0, RECORDS)
			.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"v\"]\n")
			.collect(Collectors.joining());
		Answer answer = service.send(service.request(path)
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", '"' + key + '"')
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
		assertThat(answer.status()).as(answer.text()).isIn(200, 202);
		return answer.header("Location");
	}

	private static String state(Service service, String location) {
		return service.get(location).json().at("/state").asString();
	}

}
