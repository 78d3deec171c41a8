package io.pipeset.web.fault;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * An answer may come late, when nobody waits for it any longer. The next job on that
 * connection must not take it for its own first reply.
 */
@ServiceTest(properties = { "pipeset.security.scripts=true", "spring.data.redis.timeout=2s" })
class LateAnswerTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final RedisConnectionFactory factory;

	LateAnswerTests(Service service, @Autowired RedisConnectionFactory factory) {
		this.service = service;
		this.factory = factory;
	}

	@BeforeEach
	void fillTheList() throws Exception {
		redis.client().flushall();
		// Two connections are open, and a job has run on both. The one that is given back
		// last is lent first. Behind a late answer there is the other one, so that no
		// handshake has to be done in two seconds.
		this.service.connect();
		CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> list = this.service
			.sendAsync(this.service.request("/listinput/mylist9?count=20&timeout=1m").POST(BodyPublishers.noBody()));
		ProxyLink link = held.get(20, TimeUnit.SECONDS);
		this.service.connect();
		link.goOn();
		list.get(20, TimeUnit.SECONDS).report();
	}

	@Test
	void thatOfAHealthCheckIsNoPoppedValue() throws Exception {
		CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
		Answer health = this.service.get("/actuator/health");
		held.get(20, TimeUnit.SECONDS);
		assertThat(health.status()).isEqualTo(503);
		assertThat(health.json().at("/components/redis/status").asString()).isEqualTo("DOWN");
		popsExactlyItsValues();
	}

	@Test
	void thatOfAScriptThatWasLoadedIsNoPoppedValue() throws Exception {
		CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
		this.service.post("/v1/scripts", "text/plain", "return 1").refusal(503, "redis-unreachable");
		held.get(20, TimeUnit.SECONDS);
		popsExactlyItsValues();
	}

	@Test
	void thatOfSomebodyWhoGivesTheConnectionBackWithItIsNoPoppedValue() throws Exception {
		CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
		try (RedisConnection connection = this.factory.getConnection()) {
			assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(connection.serverCommands()::info);
		}
		held.get(20, TimeUnit.SECONDS);
		popsExactlyItsValues();
	}

	@Test
	void healthRecoversWhenRedisDoes() {
		proxy.stopAll();
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(503);
		assertThat(this.service.get("/actuator/health/liveness").status()).isEqualTo(200);
		proxy.heal();
		await().atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200));
	}

	/** Lets the late answer through as soon as the job has written something. */
	private void popsExactlyItsValues() throws Exception {
		CompletableFuture<ProxyLink> written = proxy.stopAt(Way.COMMANDS, 0, 0);
		CompletableFuture<Answer> pops = this.service
			.sendAsync(this.service.request("/piperpop/20?timeout=1m").POST(BodyPublishers.noBody()));
		written.get(20, TimeUnit.SECONDS);
		proxy.heal();
		JsonNode report = pops.get(20, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(20, 20, 0, 0, 0, 0));
		List<String> values = report.get("values").valueStream().map(JsonNode::asString).toList();
		assertThat(values).isEqualTo(IntStream.range(0, 20).mapToObj((i) -> "value-%05d".formatted(i)).toList());
		assertThat(redis.client().exists("mylist9")).isZero();
	}

}
