package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The permit of the only connection: a job that gives up waiting for the connection does
 * not free it for the next job, and a job whose batch goes on hands it on.
 */
@ServiceTest(properties = { "pipeset.pipeline.max-connections=1", "pipeset.pipeline.connect-timeout=60s",
		"pipeset.pipeline.window-commands=2000", "pipeset.defaults.timeout=30s" })
class PermitTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	PermitTests(Service service) {
		this.service = service;
	}

	@Test
	void aPermitComesBackWhenNobodyWaitsForItsConnectionAnyMore() {
		await().atMost(Duration.ofSeconds(20)).until(() -> {
			proxy.resetAll();
			return proxy.links() == 0;
		});
		proxy.stopAll();
		JsonNode first = this.service.post("/pipeset/10?timeout=300ms").job(503, "redis-unreachable", "failed");
		assertThat(Answer.counts(first)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertThat(busy()).isOne();
		Answer second = this.service.post("/pipeset/10?timeout=300ms");
		second.job(503, "redis-unreachable", "failed");
		assertThat(second.json().at("/detail").asString()).contains("None of the 1 connections became free");
		proxy.heal();
		await().atMost(Duration.ofSeconds(20)).until(() -> busy() == 0);
		this.service.post("/pipeset/10?timeout=5s").report();
		assertThat(busy()).isZero();
	}

	@Test
	void theFirstBatchOfAJobIsShortWhereOthersWait() throws Exception {
		TestRedis redis = own.redis();
		redis.client().flushall();
		this.service.post("/pipeset/1").report();
		CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> first = this.service
			.sendAsync(this.service.request("/listinput/mylist9?count=20000&batchSize=100000&flush=buffered:100")
				.POST(BodyPublishers.noBody()));
		CompletableFuture.anyOf(held, first).get(1, TimeUnit.MINUTES);
		assertThat(held).isDone();
		CompletableFuture<Answer> second = this.service.sendAsync(this.service.uploading("/v1/jobs", Service.NDJSON,
				Lines.of(1, (i) -> "[\"LPUSH\",\"mylist9\",\"other\"]")));
		await().until(() -> lanes("waiting") == 1);
		proxy.heal();
		assertThat(Answer.counts(second.get(1, TimeUnit.MINUTES).report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(Answer.counts(first.get(1, TimeUnit.MINUTES).report()))
			.isEqualTo(new Counts(20_000, 20_000, 0, 0, 0, 0));
		assertThat(redis.client().lpos("mylist9", "other")).as("records behind that of the second job").isPositive();
	}

	private int busy() {
		return lanes("busy");
	}

	private int lanes(String member) {
		return this.service.get("/actuator/pipeset").json().at("/lanes/" + member).asInt(-1);
	}

}
