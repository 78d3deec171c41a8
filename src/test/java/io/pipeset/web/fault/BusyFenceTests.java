package io.pipeset.web.fault;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Fences are raised even by a Redis that is busy with a script and answers nothing else.
 */
@ServiceTest
class BusyFenceTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy("busy-reply-threshold 1");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	BusyFenceTests(Service service) {
		this.service = service;
	}

	@Test
	void aConnectionThatWasOpenedMeanwhileIsFencedOffWhenItIsLost() throws Exception {
		await().atMost(Duration.ofSeconds(20)).until(() -> {
			proxy.resetAll();
			return proxy.links() == 0;
		});
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			RedisFuture<String> running = script.async().eval("while true do end", ScriptOutputType.STATUS);
			await().atMost(Duration.ofSeconds(20)).until(BusyFenceTests::isBusy);
			// The place is behind the handshake, in the middle of the only slab.
			CompletableFuture<ProxyLink> written = proxy.stopAt(Way.COMMANDS, 100, 0);
			CompletableFuture<Answer> job = this.service
				.sendAsync(this.service.uploading("/v1/jobs?op=SET&retries=1&timeout=60s&flush=close&coalesce=off",
						Service.NDJSON, Lines.of(1000, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\"}")));
			written.get(20, TimeUnit.SECONDS).reset();
			await().atMost(Duration.ofSeconds(20))
				.until(() -> this.service.get("/actuator/metrics/pipeset.retries").status() == 200);
			redis.client().scriptKill();
			assertThatThrownBy(running::get).hasMessageContaining("killed");
			Answer answer = job.get(60, TimeUnit.SECONDS);
			JsonNode report = (answer.status() == 200) ? answer.report() : answer.json().get("job");
			assertThat(report.path("fenced").asBoolean(false)).isTrue();
			assertThat(Answer.counts(report).unknown()).isZero();
		}
		finally {
			client.shutdown();
		}
	}

	private static boolean isBusy() {
		try {
			redis.client().get("any");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

}
