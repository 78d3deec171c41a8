package io.pipeset.web.receipt;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A service that is killed (SIGKILL) loses no value that it has popped reliably. */
class ReceiptRestartTests {

	private static final Duration SOON = Duration.ofSeconds(60);

	private static final int VALUES = 100_000;

	@Test
	void theNextOneGivesBackWhatAKilledOneWasPoppingAndWhatItWasGivingBack() throws Exception {
		try (TestRedis server = TestRedis.start()) {
			RedisCommands<String, String> redis = server.client();
			List<String> before;
			try (ServiceProcess first = ServiceProcess.start(server)) {
				first.service().post("/listinput/queue?count=" + VALUES).report();
				before = redis.lrange("queue", 0, -1);
				CompletableFuture<Answer> pops = send(first,
						"/piperpop/" + VALUES + "?key=queue&reliable=true&receiptTtl=1s&flush=each");
				await().atMost(SOON)
					.pollInterval(Duration.ofMillis(1))
					.until(() -> redis.llen("queue") < VALUES - 1000);
				first.kill();
				await().atMost(SOON).until(pops::isDone);
			}
			assertThat(redis.zcard("pipeset:receipts")).isOne();
			try (ServiceProcess second = ServiceProcess.start(server)) {
				await().atMost(SOON).until(() -> redis.zcard("pipeset:receipts") == 0);
				assertThat(redis.lrange("queue", 0, -1)).isEqualTo(before);
				assertThat(second.output()).anyMatch((line) -> line.contains("values went back"));
				JsonNode report = second.service()
					.post("/piperpop/" + VALUES + "?key=queue&reliable=true&receiptTtl=24h")
					.report();
				assertThat(redis.exists("queue")).isZero();
				CompletableFuture<Answer> nack = send(second, "/v1/jobs/" + ReliablePopTests.id(report) + "/nack");
				await().atMost(SOON).pollInterval(Duration.ofMillis(1)).until(() -> redis.llen("queue") > 0);
				second.kill();
				await().atMost(SOON).until(nack::isDone);
			}
			try (ServiceProcess third = ServiceProcess.start(server)) {
				await().atMost(SOON).until(() -> redis.zcard("pipeset:receipts") == 0);
				assertThat(redis.lrange("queue", 0, -1)).isEqualTo(before);
				assertThat(third.isAlive()).isTrue();
			}
		}
	}

	private static CompletableFuture<Answer> send(ServiceProcess process, String path) {
		return process.service().sendAsync(process.service().request(path).POST(BodyPublishers.noBody()));
	}

}
