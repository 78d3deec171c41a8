package io.pipeset.web.receipt;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A service that is killed (SIGKILL) loses no value that it has popped reliably. */
@ProcessTest
class ReceiptRestartTests {

	private static final Duration SOON = Duration.ofSeconds(60);

	private static final int VALUES = 20_000;

	/**
	 * Half of the scripts that give them back; a new connection has few replies beside.
	 */
	private static final int SCRIPTS = 20;

	@Test
	void theNextOneGivesBackWhatAKilledOneWasPoppingAndWhatItWasGivingBack() throws Exception {
		try (TestRedis server = TestRedis.start(); FaultProxy proxy = FaultProxy.open(server)) {
			RedisCommands<String, String> redis = server.client();
			List<String> popped;
			List<String> returned;
			// It does not give back by itself what it still pops.
			try (ServiceProcess killed = ServiceProcess.start(server, "--spring.data.redis.host=127.0.0.1",
					"--spring.data.redis.port=" + proxy.port(), "--pipeset.receipts.sweep-interval=1h")) {
				killed.service().post("/listinput/popped?count=" + VALUES).report();
				killed.service().post("/listinput/returned?count=" + VALUES).report();
				popped = redis.lrange("popped", 0, -1);
				returned = redis.lrange("returned", 0, -1);
				JsonNode report = killed.service()
					.post("/piperpop/" + VALUES + "?key=returned&reliable=true&receiptTtl=24h")
					.report();
				assertThat(redis.exists("returned")).isZero();
				CompletableFuture<ProxyLink> popping = proxy.stopAt(Way.REPLIES, VALUES / 2, 0);
				CompletableFuture<Answer> pops = send(killed,
						"/piperpop/" + VALUES + "?key=popped&reliable=true&receiptTtl=1s&flush=each");
				popping.get(60, TimeUnit.SECONDS);
				CompletableFuture<ProxyLink> returning = proxy.stopAt(Way.REPLIES, SCRIPTS, 0);
				CompletableFuture<Answer> nack = send(killed, "/v1/jobs/" + ReliablePopTests.id(report) + "/nack");
				returning.get(60, TimeUnit.SECONDS);
				assertThat(redis.llen("popped")).isBetween(1L, VALUES - 1L);
				assertThat(redis.llen("returned")).isBetween(1L, VALUES - 1L);
				killed.kill();
				await().atMost(SOON).until(() -> pops.isDone() && nack.isDone());
			}
			assertThat(redis.zcard("pipeset:receipts")).isEqualTo(2);
			try (Replica next = Replica.start(server, server.properties(), "pipeset.receipts.sweep-interval=1s")) {
				next.service().post("/pipeset/0").report();
				await().atMost(SOON).until(() -> redis.zcard("pipeset:receipts") == 0);
				assertThat(redis.lrange("popped", 0, -1)).isEqualTo(popped);
				assertThat(redis.lrange("returned", 0, -1)).isEqualTo(returned);
			}
		}
	}

	private static CompletableFuture<Answer> send(ServiceProcess process, String path) {
		return process.service().sendAsync(process.service().request(path).POST(BodyPublishers.noBody()));
	}

}
