package io.pipeset.web.receipt;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.KillArgs;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A reliable pop whose connection is lost still reports all values that it has popped.
 */
@ServiceTest
class ReliablePopFaultTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static final Duration SOON = Duration.ofSeconds(30);

	private static final int VALUES = 40_000;

	/**
	 * The number of replies after which a job has popped some values, has more commands
	 * on their way, and is not through.
	 */
	private static final int SOME = 12_000;

	private final Service service;

	private List<String> before = List.of();

	ReliablePopFaultTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void fillQueue() {
		redis.client().flushall();
		this.service.post("/listinput/queue?count=" + VALUES).report();
		this.before = redis.client().lrange("queue", 0, -1);
	}

	@ParameterizedTest
	@CsvSource({ "0, off, 12000", "10, off, 12000", "0, auto, 2400", "10, auto, 2400" })
	void killedConnectionsLeaveNothingUnknownAndNothingLost(int retries, String coalesce, int replies)
			throws Exception {
		this.service.post("/pipeset/1000?concurrency=16&flush=each").report();
		CompletableFuture<ProxyLink> reached = proxy.stopAt(Way.REPLIES, replies, 0);
		CompletableFuture<Answer> pops = pop("&flush=buffered:10&coalesce=" + coalesce + "&retries=" + retries);
		ProxyLink link = reached.get(60, TimeUnit.SECONDS);
		// The place may be the end of a slab: the kill hits pops of the next one.
		await().until(() -> redis.client().llen("queue") < VALUES - 12_000);
		assertThat(redis.client().clientKill(KillArgs.Builder.typeNormal().skipme())).isGreaterThan(1);
		link.reset();
		Answer answer = pops.get(60, TimeUnit.SECONDS);
		JsonNode job = (retries > 0) ? answer.report() : answer.job(502, "redis-lost", "failed");
		assertThat(job.get("fenced").asBoolean()).isTrue();
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(VALUES);
		assertThat(counts.unknown()).isZero();
		assertThat(counts.applied() + counts.unprocessed()).isEqualTo(VALUES);
		if (retries > 0) {
			assertThat(counts.applied()).isEqualTo(VALUES);
		}
		assertThat(ReliablePopTests.values(job)).isEqualTo(Service.generated(0, (int) counts.applied()));
		assertThat(redis.client().llen("queue")).isEqualTo(VALUES - counts.applied());
		String id = ReliablePopTests.id(job);
		assertThat(redis.client().llen("pipeset:pop:" + id)).isEqualTo(counts.applied());
		assertThat(job.at("/receipt/deadlineMillis").asLong()).isPositive();
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(redis.client().lrange("queue", 0, -1)).isEqualTo(this.before);
	}

	@Test
	void whatCannotBeFoundOutIsNotHandedOverAndGoesBack() throws Exception {
		CompletableFuture<ProxyLink> reached = proxy.stopAt(Way.REPLIES, SOME, 0);
		CompletableFuture<Answer> pops = pop("&flush=each&timeout=2s");
		ProxyLink link = reached.get(60, TimeUnit.SECONDS);
		redis.pause();
		link.goOn();
		JsonNode job = pops.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		assertThat(job.get("fenced").asBoolean(true)).isFalse();
		assertThat(job.has("receipt")).isFalse();
		assertThat(Answer.counts(job).unknown()).isPositive();
		redis.resume();
		String id = ReliablePopTests.id(job);
		this.service.post("/v1/jobs/" + id + "/ack").refusal(409, "receipt-pending");
		// A nack does the same as the deadline, which would come in a minute.
		await().atMost(SOON).until(() -> this.service.post("/v1/jobs/" + id + "/nack").status() == 204);
		assertThat(redis.client().lrange("queue", 0, -1)).isEqualTo(this.before);
	}

	@Test
	void aJobWhoseReceiptIsClaimedWhileItPopsLosesNothing() throws Exception {
		CompletableFuture<ProxyLink> reached = proxy.stopAt(Way.REPLIES, SOME, 0);
		CompletableFuture<Answer> pops = pop("&flush=each");
		ProxyLink link = reached.get(60, TimeUnit.SECONDS);
		String id = redis.client().zrange("pipeset:receipts", 0, 0).get(0);
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		link.goOn();
		Answer answer = pops.get(60, TimeUnit.SECONDS);
		JsonNode job = answer.job(422, "stopped", "stopped");
		assertThat(job.has("receipt")).isFalse();
		assertThat(answer.json().at("/detail").asString()).contains("receiptTtl=60s");
		this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone");
		assertThat(redis.client().lrange("queue", 0, -1)).isEqualTo(this.before);
	}

	@Test
	void aRedisThatIsDownGetsNoReceiptAndNothingIsPopped() {
		redis.kill();
		try {
			JsonNode job = this.service.post("/piperpop/10?key=queue&reliable=true")
				.job(503, "redis-unreachable", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
			assertThat(job.has("receipt")).isFalse();
			Answer answer = this.service.post("/v1/jobs/" + ReliablePopTests.id(job) + "/ack");
			answer.refusal(503, "redis-unreachable");
			assertThat(answer.header("Retry-After")).matches("[1-9][0-9]*");
		}
		finally {
			redis.restart();
		}
	}

	@Test
	void aRedisWithoutMemoryForAReceiptRefusesTheJob() {
		redis.client().configSet("maxmemory", "1");
		try {
			JsonNode job = this.service.post("/piperpop/10?key=queue&reliable=true")
				.job(503, "redis-refuses", "stopped");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		}
		finally {
			redis.client().configSet("maxmemory", "0");
		}
		assertThat(redis.client().llen("queue")).isEqualTo(VALUES);
	}

	private CompletableFuture<Answer> pop(String settings) {
		return this.service
			.sendAsync(this.service.request("/piperpop/" + VALUES + "?key=queue&reliable=true" + settings)
				.POST(BodyPublishers.noBody()));
	}

}
