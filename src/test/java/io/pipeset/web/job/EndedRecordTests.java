package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.LeftSpool;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The record of an ended job keeps its whole report, which no later process has.
 */
@ServiceTest(properties = "pipeset.jobs.retention=1m")
class EndedRecordTests {

	private static final TestRedis redis = TestRedis.shared();

	private static final LeftSpool left = new LeftSpool(Path.of("target/spool/ended"), redis.identity());

	private static final RedisClient client = RedisClient.create(redis.controlUri());

	private static final RedisCommands<String, String> control = client.connect().sync();

	private static final String ENDED = left.job("[\"SET\",\"k\",\"v\"]\nbad\n",
			LeftSpool.outcomes(LeftSpool.APPLIED, 1, LeftSpool.FAILURE, 1));

	private final Service service;

	EndedRecordTests(Service service) {
		this.service = service;
	}

	/** Makes the end and its record before the service starts. */
	@DynamicPropertySource
	static void spool(DynamicPropertyRegistry properties) {
		properties.add("pipeset.spool.directory", left::base);
		left.write(ENDED + ".notes",
				(LeftSpool.WRONGTYPE + "\n{\"ended\":" + status(ENDED) + "}\n").getBytes(StandardCharsets.UTF_8));
		control.hset(redis.controlKey("job", ENDED),
				Map.of("client", "none", "status", status(ENDED), "instance", "dead:1", "report", "whole"));
	}

	@AfterAll
	static void end() {
		client.shutdown();
	}

	private static String status(String id) {
		return "{\"jobId\":\"" + id + "\",\"kind\":\"records\",\"op\":\"mixed\",\"state\":\"completed\","
				+ "\"createdMillis\":1,\"endedMillis\":" + System.currentTimeMillis()
				+ ",\"counts\":{\"received\":2,\"applied\":1,\"noop\":0,\"rejected\":1,\"unknown\":0,\"unprocessed\":0},"
				+ "\"progress\":{\"read\":2,\"done\":2,\"perSecond\":0,\"averagePerSecond\":0,\"elapsedMillis\":0}}";
	}

	@Test
	void theNextProcessLeavesTheReportAsItIs() {
		String running = this.service
			.send(this.service.request("/v1/jobs?rateLimit=5")
				.header("Prefer", "respond-async")
				.header("Content-Type", "application/x-ndjson")
				.POST(BodyPublishers.ofString("[\"SET\",\"k\",\"v\"]\n".repeat(400))))
			.json()
			.get("jobId")
			.asString();
		Set<String> written = new HashSet<>();
		// The records of older jobs are written before.
		await().until(() -> {
			written.add(control.hget(redis.controlKey("job", running), "seen"));
			return written.size() > 5;
		});
		this.service.delete("/v1/jobs/" + running);
		assertThat(this.service.get("/v1/jobs/" + ENDED).json().get("state").asString()).isEqualTo("completed");
		assertThat(this.service.get("/v1/jobs/" + ENDED + "/items").text().lines()).hasSize(1);
		assertThat(control.hget(redis.controlKey("job", ENDED), "report")).isEqualTo("whole");
	}

}
