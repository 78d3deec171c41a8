package io.pipeset.web.fault;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.SmartLifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * If the service's user of Redis may not CLIENT KILL, there is no fence, and the report
 * says so.
 */
@ServiceTest(properties = "pipeset.receipts.sweep-interval=1s")
class FenceNotPermittedTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy().as("loader");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final SmartLifecycle sweeper;

	FenceNotPermittedTests(Service service, @Autowired @Qualifier("receiptSweeper") SmartLifecycle sweeper) {
		this.service = service;
		this.sweeper = sweeper;
	}

	@BeforeAll
	static void forbidToKill() {
		own.permit(AclSetuserArgs.Builder.removeCommand(CommandType.CLIENT, KILL));
	}

	/** The sweeper's messages would be counted as well. */
	@BeforeEach
	void stopTheSweeper() {
		this.sweeper.stop();
		this.service.post("/pipeset/1").report();
	}

	@Test
	void whatMayHaveRunStaysUnknownAndTheRestIsSent() throws Exception {
		int records = 20_000;
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 1500, 0);
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?retries=1&batchSize=5000&coalesce=off", Service.NDJSON,
					Lines.of(records, (i) -> "[\"SET\",\"k" + i + "\",\"v\"]")));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		await().until(() -> redis.client().dbsize() > 2000);
		link.reset();
		JsonNode job = upload.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(job.get("fenced").asBoolean(true)).isFalse();
		assertThat(counts.received()).isEqualTo(records);
		// Only the batch is unknown of which Redis answered a part.
		assertThat(counts.unknown()).isBetween(500L, 5000L);
		assertThat(counts.applied()).isEqualTo(records - counts.unknown());
		this.service.post("/pipeset/100").report();
	}

	@Test
	void whatMayStillBePoppedIsNotHandedOverAndGoesBack() throws Exception {
		this.service.post("/listinput/queue?count=5000").report();
		List<String> before = redis.client().lrange("queue", 0, -1);
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 1500, 0);
		CompletableFuture<Answer> pops = this.service.sendAsync(this.service
			.request("/piperpop/5000?key=queue&reliable=true&receiptTtl=1s&flush=buffered:10&coalesce=off")
			.POST(BodyPublishers.noBody()));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		await().until(() -> redis.client().llen("queue") < 3000);
		link.reset();
		JsonNode job = pops.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job).unknown()).isPositive();
		assertThat(job.get("fenced").asBoolean(true)).isFalse();
		assertThat(job.has("receipt")).isFalse();
		assertThat(redis.client().zcard("pipeset:receipts")).isOne();
		this.sweeper.start();
		await().until(() -> redis.client().zcard("pipeset:receipts") == 0);
		assertThat(redis.client().lrange("queue", 0, -1)).isEqualTo(before);
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
