package io.pipeset.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A user of Redis who may not CLIENT KILL has no fence, and is told so. */
@ServiceTest(properties = "server.tomcat.connection-timeout=20s")
class FenceNotPermittedTests {

	private static final TestRedis redis = TestRedis.start();

	private final Service service;

	FenceNotPermittedTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.client()
			.aclSetuser("loader",
					AclSetuserArgs.Builder.on()
						.addPassword("secret")
						.allKeys()
						.allCommands()
						.removeCommand(CommandType.CLIENT, KILL));
		redis.register(registry);
		registry.add("spring.data.redis.username", () -> "loader");
		registry.add("spring.data.redis.password", () -> "secret");
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@Test
	void whatMayHaveRunStaysUnknownAndTheRestIsSent() throws Exception {
		int records = 500_000;
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service.uploading("/v1/jobs?retries=10",
				Service.NDJSON, Lines.of(records, (i) -> "[\"SET\",\"k" + i + "\",\"v\"]")));
		await().atMost(Duration.ofSeconds(10))
			.pollInterval(Duration.ofMillis(1))
			.until(() -> redis.client().dbsize() > 0);
		// Once is not enough where it falls between two batches.
		await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5)).until(() -> {
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
			return retries() > 0 || upload.isDone();
		});
		JsonNode job = upload.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(job.get("fenced").asBoolean(true)).isFalse();
		assertThat(counts.received()).isEqualTo(records);
		assertThat(counts.unknown()).isPositive();
		assertThat(counts.applied()).isEqualTo(records - counts.unknown());
		this.service.post("/pipeset/100").report();
	}

	@Test
	void whatMayStillBePoppedIsNotHandedOverAndGoesBack() throws Exception {
		this.service.post("/listinput/queue?count=100000").report();
		List<String> before = redis.client().lrange("queue", 0, -1);
		JsonNode job = null;
		for (int attempt = 0; attempt < 50 && job == null; attempt++) {
			CompletableFuture<Answer> pops = this.service.sendAsync(
					this.service.request("/piperpop/100000?key=queue&reliable=true&receiptTtl=2s&flush=buffered:10")
						.POST(BodyPublishers.noBody()));
			await().atMost(Duration.ofSeconds(10))
				.pollInterval(Duration.ofMillis(1))
				.until(() -> pops.isDone() || redis.client().llen("queue") < 99_000);
			// The first may come between two batches, and the last to the handing over.
			await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(1)).until(() -> {
				redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
				return pops.isDone();
			});
			Answer answer = pops.get();
			JsonNode lost = (answer.status() == 502) ? answer.job(502, "redis-lost", "failed") : null;
			job = (lost != null && Answer.counts(lost).unknown() > 0) ? lost : null;
			await().atMost(Duration.ofSeconds(30)).until(() -> redis.client().zcard("pipeset:receipts") == 0);
			assertThat(redis.client().lrange("queue", 0, -1)).isEqualTo(before);
		}
		assertThat(job).isNotNull();
		assertThat(job.get("fenced").asBoolean(true)).isFalse();
		assertThat(job.has("receipt")).isFalse();
	}

	private double retries() {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries");
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	private static final ProtocolKeyword KILL = new ProtocolKeyword() {

		@Override
		public byte[] getBytes() {
			return toString().getBytes(StandardCharsets.US_ASCII);
		}

		@Override
		public String toString() {
			return "KILL";
		}

	};

}
