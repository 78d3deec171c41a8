package io.pipeset.web.fault;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.KeyValue;
import io.lettuce.core.KillArgs;
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
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * A job with retries goes on after a loss, and repeats no record that must not run twice.
 */
@ServiceTest
class RetryTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	RetryTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		this.service.post("/pipeset/10?concurrency=4").report();
		redis.client().flushall();
	}

	@ParameterizedTest
	@CsvSource({ "1, off, 12345, 23456", "4, off, 12345, 23456", "1, auto, 123, 234", "4, auto, 123, 234" })
	void connectionsThatAreKilledAreSurvivedAndEveryRecordRuns(String concurrency, String coalesce, int replies,
			int commands) throws Exception {
		int records = 100_000;
		CompletableFuture<Void> killed = new CompletableFuture<>();
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, replies, 0);
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service.uploading(
				"/v1/jobs?retries=2&batchSize=5000&coalesce=" + coalesce + "&concurrency=" + concurrency,
				Service.NDJSON, Lines.of(records, (i) -> {
					// The lanes beside the stopped one leave enough for the second place.
					if (i == records / 2) {
						killed.join();
					}
					return "[\"SET\",\"k" + (i % 1000) + "\",\"" + i + "\"]";
				})));
		// Each kill is one loss, however many lanes meet it.
		place.get(60, TimeUnit.SECONDS);
		CompletableFuture<ProxyLink> next = proxy.stopAt(Way.COMMANDS, commands, 9);
		kill(place.join());
		killed.complete(null);
		kill(next.get(60, TimeUnit.SECONDS));
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.at("/settings/retries").asInt()).isEqualTo(2);
		assertThat(report.get("fenced").asBoolean()).isTrue();
		assertLast(1000, records);
		assertThat(this.service.get("/actuator/metrics/pipeset.retries?tag=reason:connection-lost").status())
			.isEqualTo(200);
	}

	@Test
	void whatMustRunOnlyOnceIsNotSentAgainAndTheOthersGoOn() throws Exception {
		int records = 50_000;
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 5000, 0);
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?retries=10&flush=buffered:100&batchSize=10000&results=all",
					Service.NDJSON, Lines.of(records, (i) -> "[\"LPUSH\",\"l" + (i % 10) + "\",\"" + i + "\"]")));
		for (int kill = 0; kill < 2; kill++) {
			place.get(60, TimeUnit.SECONDS);
			CompletableFuture<ProxyLink> next = proxy.stopAt(Way.COMMANDS, 8000, 9);
			kill(place.join());
			place = next;
		}
		kill(place.get(60, TimeUnit.SECONDS));
		Answer answer = upload.get(60, TimeUnit.SECONDS);
		JsonNode job = answer.job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(records);
		assertThat(counts.unknown()).isPositive();
		assertThat(counts.applied() + counts.unknown()).isEqualTo(records);
		assertThat(job.at("/inputComplete").asBoolean()).isTrue();
		long pushed = 0;
		for (int list = 0; list < 10; list++) {
			List<String> elements = redis.client().lrange("l" + list, 0, -1);
			List<Integer> order = elements.stream().map(Integer::valueOf).toList();
			// The values are unique and in order: the value that was pushed last stands
			// first.
			assertThat(order).isSortedAccordingTo((one, other) -> other - one).doesNotHaveDuplicates();
			pushed += elements.size();
		}
		assertThat(pushed).isBetween(counts.applied(), counts.applied() + counts.unknown());
		assertThat(job.get("fenced").asBoolean()).isTrue();
		assertThat(answer.json().at("/detail").asString()).contains(counts.unknown() + " records")
			.contains("have no certain outcome");
	}

	@Test
	void aRedisThatDiesAndComesBackIsSurvived() throws Exception {
		int records = 100_000;
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 20_000, 9);
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?op=SET&retries=3&timeout=60s&coalesce=off", Service.NDJSON,
					Lines.of(records, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\"}")));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.restart();
		link.goOn();
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.get("fenced").asBoolean()).isTrue();
		// Redis has lost the records that ran before its end. The last ones ran after its
		// restart.
		assertThat(redis.client().exists("k" + (records - 1))).isEqualTo(1);
	}

	@Test
	void aRedisThatStaysDownEndsTheJobAfterItsTimeout() {
		redis.kill();
		try {
			// Waits until the service has noticed the ends of its pooled connections.
			await().until(() -> this.service.post("/pipeset/1").status() == 503);
			long began = System.nanoTime();
			Answer answer = this.service.post("/pipeset/1000?retries=10&timeout=1s");
			JsonNode job = Examples.check(503, "redis-unreachable", answer).job(503, "redis-unreachable", "failed");
			assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1000, 0, 0, 0, 0, 1000));
		}
		finally {
			redis.restart();
		}
		this.service.post("/pipeset/100").report();
	}

	@Test
	void aRedisThatFallsSilentAndWakesUpIsSurvived() throws Exception {
		int records = 100_000;
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 20_000, 0);
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?op=SET&retries=1&timeout=5s&coalesce=off", Service.NDJSON,
					Lines.of(records, (i) -> "{\"key\":\"k" + (i % 5000) + "\",\"value\":\"" + i + "\"}")));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.pause();
		link.goOn();
		try {
			await().until(() -> retries("timeout") > 0);
		}
		finally {
			redis.resume();
		}
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.get("fenced").asBoolean()).isTrue();
		assertLast(5000, records);
	}

	@ParameterizedTest
	@CsvSource({ "off, 1500", "auto, 150" })
	void popsAreNeitherLostNorRunTwiceWhenTheirConnectionIsKilled(String coalesce, int replies) throws Exception {
		int values = 5000;
		this.service.post("/listinput/queue?count=" + values).report();
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, replies, 0);
		CompletableFuture<Answer> pops = this.service
			.sendAsync(this.service.uploading("/v1/jobs?flush=buffered:10&coalesce=" + coalesce, Service.NDJSON,
					Lines.of(values, (i) -> "[\"RPOP\",\"queue\"]")));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		String id = this.service.awaitJob("running");
		// A reset discards replies that were not read yet.
		await().until(() -> Answer.counts(this.service.get("/v1/jobs/" + id).json()).applied() > 0);
		// The place may be the end of a slab: the kill hits pops of the next one.
		await().until(() -> redis.client().llen("queue") < values - 1500);
		kill(link);
		JsonNode job = pops.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(counts.applied()).isPositive();
		assertThat(counts.unknown()).isPositive();
		assertThat(job.get("items")
			.valueStream()
			.filter((item) -> item.has("reply"))
			.map((item) -> item.get("reply").asString())
			.toList()).isEqualTo(Service.generated(0, (int) counts.applied()));
		assertThat(values - redis.client().llen("queue")).isBetween(counts.applied(),
				counts.applied() + counts.unknown());
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 3 })
	void aRedisThatIsBusyIsAskedAgainWhereTheJobHasRetries(int retries) throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			RedisFuture<String> running = script.async().eval("while true do end", ScriptOutputType.STATUS);
			await().until(this::isBusy);
			CompletableFuture<Answer> job = this.service
				.sendAsync(this.service.request("/listinput/list?count=1000&timeout=30s&retries=" + retries)
					.POST(BodyPublishers.noBody()));
			if (retries > 0) {
				await().until(() -> retries("busy") > 0 || retries("unreachable") > 0);
			}
			else {
				job.get(30, TimeUnit.SECONDS);
			}
			redis.client().scriptKill();
			assertThatThrownBy(running::get).hasMessageContaining("killed");
			Answer answer = job.get(30, TimeUnit.SECONDS);
			if (retries > 0) {
				assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
				Set<String> unique = new TreeSet<>(redis.client().lrange("list", 0, -1));
				assertThat(unique).hasSize(1000);
			}
			else {
				JsonNode item = answer.report().at("/items/0");
				assertThat(item.at("/error/code").asString()).isEqualTo("BUSY");
				assertThat(item.at("/error/retryable").asBoolean()).isTrue();
				assertThat(redis.client().exists("list")).isZero();
			}
		}
		finally {
			client.shutdown();
		}
	}

	@Test
	void aLossThatScanAndALaneMeetCostsOneRetry() throws Exception {
		double before = retries("unreachable") + retries("connection-lost");
		this.service.post("/pipeset/20000").report();
		redis.pauseWrites();
		CompletableFuture<Answer> sweep = this.service
			.sendAsync(this.service.request("/v1/jobs?from=scan&match=*&op=UNLINK&retries=1&rateLimit=1000&timeout=1m")
				.POST(BodyPublishers.noBody()));
		await().until(RetryTests::holdsRecordsBack);
		redis.kill();
		await().until(() -> sweep.isDone() || retries("unreachable") + retries("connection-lost") == before + 2);
		redis.restart();
		JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
		assertThat(report.at("/scan/restarts").asInt()).isEqualTo(1);
	}

	/** The last record of each key has run last. */
	private static void assertLast(int keys, int records) {
		assertThat(redis.client().mget(IntStream.range(0, keys).mapToObj((key) -> "k" + key).toArray(String[]::new)))
			.extracting(KeyValue::getValue)
			.isEqualTo(IntStream.range(records - keys, records).mapToObj(Integer::toString).toList());
	}

	private static boolean holdsRecordsBack() {
		return redis.client()
			.clientList()
			.lines()
			.anyMatch((client) -> client.contains("flags=b") && client.contains("cmd=unlink"));
	}

	private boolean isBusy() {
		try {
			redis.client().get("any");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

	/**
	 * Breaks all of the service's connections. The bytes that a stopped one held back are
	 * lost.
	 */
	private static void kill(ProxyLink stopped) {
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		stopped.reset();
	}

	private double retries(String reason) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:" + reason);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

}
