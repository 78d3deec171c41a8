package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The pace of a job can be changed while it waits and while it runs. */
@ServiceTest(properties = "pipeset.limits.max-running-jobs=1")
class JobRateLimitTests {

	/** So slow that a job of two records never ends by itself. */
	private static final String SLOW = "?rateLimit=1";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobRateLimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "1000000" })
	void aJobThatRunsGoesFaster(String rateLimit) throws Exception {
		CompletableFuture<Answer> answer = start("/pipeset/100000" + SLOW);
		await().until(() -> this.redis.dbsize() > 0);
		String id = this.service.awaitJob("running");
		Answer patched = this.service.patch("/v1/jobs/" + id + "?rateLimit=" + rateLimit);
		assertThat(patched.status()).isEqualTo(200);
		assertThat(patched.json().at("/settings").path("rateLimit").asString("none")).isEqualTo(rateLimit);
		JsonNode report = answer.get(1, TimeUnit.MINUTES).report();
		assertThat(report.at("/settings").path("rateLimit").asString("none")).isEqualTo(rateLimit);
		assertThat(this.redis.dbsize()).isEqualTo(100_000);
	}

	@Test
	void aJobThatRunsGoesSlower() throws Exception {
		CompletableFuture<Answer> answer = start("/pipeset/10000000?rateLimit=10000");
		String id = this.service.awaitJob("running");
		await().until(() -> this.redis.dbsize() > 1000);
		assertThat(this.service.patch("/v1/jobs/" + id + SLOW).status()).isEqualTo(200);
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/progress/perSecond").asLong() <= 2);
		this.service.delete("/v1/jobs/" + id);
		assertThat(Answer.counts(answer.get(1, TimeUnit.MINUTES).job(409, "cancelled", "cancelled")).applied())
			.isEqualTo(this.redis.dbsize());
	}

	@Test
	void aJobWithAMaximumLatencyReportsWhatOthersSaw() throws Exception {
		JsonNode report = start("/pipeset/2000?maxLatency=10s").get(1, TimeUnit.MINUTES).report();
		assertThat(report.at("/settings/maxLatency").asString()).isEqualTo("10s");
		assertThat(report.at("/latency/p50Micros").asLong()).isPositive();
		assertThat(report.at("/latency/p99Micros").asLong()).isPositive();
		assertThat(report.at("/latency/throttledMillis").asLong()).as("it begins at 1,000 a second").isPositive();
		JsonNode other = start("/pipeset/2000?rateLimit=10000").get(1, TimeUnit.MINUTES).report();
		assertThat(other.has("latency")).isFalse();
		assertThat(other.at("/settings").has("maxLatency")).isFalse();
	}

	/** The time that {@code rateLimit} has caused is not the other clients'. */
	@Test
	void aLowerRateLimitStillHolds() throws Exception {
		CompletableFuture<Answer> answer = start("/pipeset/100000" + SLOW + "&maxLatency=10s");
		String id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/latency/p50Micros").asLong() > 0);
		assertThat(this.redis.dbsize()).isLessThan(1000);
		assertThat(this.service.patch("/v1/jobs/" + id + "?rateLimit=none").status()).isEqualTo(200);
		assertThat(answer.get(1, TimeUnit.MINUTES).report().at("/latency/throttledMillis").asLong()).isPositive();
	}

	@Test
	void aJobThatWaitsBeginsAtItsNewPace() throws Exception {
		try (Wire first = Wire.upload(this.service, "/v1/jobs")) {
			first.chunk("[\"SET\",\"first\",\"1\"]\n");
			await().until(() -> this.redis.dbsize() == 1);
			CompletableFuture<Answer> answer = start("/pipeset/100000" + SLOW);
			String id = this.service.awaitJob("queued");
			assertThat(this.service.patch("/v1/jobs/" + id + "?rateLimit=none").json().get("state").asString())
				.isEqualTo("queued");
			first.lastChunk().answer().report();
			assertThat(answer.get(1, TimeUnit.MINUTES).report().at("/settings").has("rateLimit")).isFalse();
		}
	}

	@Test
	void whatIsNoPaceIsRefusedByName() throws IOException {
		try (Wire upload = Wire.upload(this.service, "/v1/jobs")) {
			upload.chunk("[\"SET\",\"first\",\"1\"]\n");
			String job = "/v1/jobs/" + this.service.awaitJob("running");
			assertThat(this.service.patch(job + "?rateLimit=0").refusal(400, "invalid-setting"))
				.isEqualTo("'rateLimit' must be none, or a whole number of records per second from 1 to 1000000000, not"
						+ " '0'");
			assertThat(this.service.patch(job).refusal(400, "invalid-setting")).contains("'rateLimit' is missing");
			assertThat(this.service.patch(job + "?rateLimit=5&timeout=1s").refusal(400, "unknown-setting"))
				.contains("'timeout'");
			assertThat(this.service
				.send(this.service.request(job + "?rateLimit=5")
					.header("Content-Type", Service.JSON)
					.method("PATCH", BodyPublishers.ofString("{}")))
				.refusal(400, "unexpected-body")).isNotEmpty();
			upload.lastChunk().answer().report();
			assertThat(this.service.patch(job + "?rateLimit=5").refusal(409, "ended")).contains("completed");
		}
		this.service.patch("/v1/jobs/x?rateLimit=5").refusal(404, "not-found");
		CompletableFuture<Answer> tuning = start("/v1/tunings?records=200000&runs=10&budget=60s");
		String job = "/v1/jobs/" + this.service.awaitJob("running");
		assertThat(this.service.patch(job + "?rateLimit=5").refusal(400, "invalid-setting")).contains("a tuning");
		this.service.delete(job);
		assertThat(tuning.join().status()).isEqualTo(409);
	}

	private CompletableFuture<Answer> start(String call) {
		return this.service.sendAsync(this.service.request(call).POST(BodyPublishers.noBody()));
	}

}
