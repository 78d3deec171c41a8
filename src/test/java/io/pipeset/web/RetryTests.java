package io.pipeset.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** A job with retries goes on after a loss, and runs nothing twice that must not be. */
@ServiceTest(properties = "server.tomcat.connection-timeout=20s")
class RetryTests {

	private static final TestRedis redis = TestRedis.start();

	private static final Duration SOON = Duration.ofSeconds(20);

	private final Service service;

	RetryTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		this.service.post("/pipeset/10?concurrency=4").report();
		redis.client().flushall();
	}

	@AfterEach
	void healRedis() {
		redis.resume();
		await().atMost(SOON).ignoreExceptions().until(() -> redis.client().ping().equals("PONG"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "4" })
	void connectionsThatAreKilledAreSurvivedAndEveryRecordRuns(String concurrency) throws Exception {
		int records = 500_000;
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?retries=10&batchSize=5000&concurrency=" + concurrency,
					Service.NDJSON, Lines.of(records, (i) -> "[\"SET\",\"k" + (i % 1000) + "\",\"" + i + "\"]")));
		for (int kill = 0; kill < 2; kill++) {
			long before = written();
			await().atMost(SOON).pollInterval(Duration.ofMillis(1)).until(() -> written() > before + 50_000);
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		}
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.at("/settings/retries").asInt()).isEqualTo(10);
		assertThat(report.path("fenced").asBoolean(true)).isTrue();
		for (int key = 0; key < 1000; key++) {
			assertThat(redis.client().get("k" + key)).isEqualTo(Integer.toString(records - 1000 + key));
		}
		assertThat(this.service.get("/actuator/metrics/pipeset.retries?tag=reason:connection-lost").status())
			.isEqualTo(200);
	}

	@Test
	void whatMustRunOnlyOnceIsNotSentAgainAndTheOthersGoOn() throws Exception {
		int records = 400_000;
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?retries=10&flush=buffered:100&results=all", Service.NDJSON,
					Lines.of(records, (i) -> "[\"LPUSH\",\"l" + (i % 10) + "\",\"" + i + "\"]")));
		for (int kill = 0; kill < 3; kill++) {
			long before = written();
			await().atMost(SOON)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> upload.isDone() || written() > before + 5_000);
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		}
		Answer answer = upload.get(60, TimeUnit.SECONDS);
		assertThat(answer.status()).isIn(200, 502);
		JsonNode job = (answer.status() == 200) ? answer.report() : answer.job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(records);
		assertThat(counts.applied() + counts.unknown()).isEqualTo(records);
		assertThat(job.at("/inputComplete").asBoolean()).isTrue();
		long pushed = 0;
		for (int list = 0; list < 10; list++) {
			List<String> elements = redis.client().lrange("l" + list, 0, -1);
			List<Integer> order = elements.stream().map(Integer::valueOf).toList();
			// Unique and in order: the last one pushed stands first.
			assertThat(order).isSortedAccordingTo((one, other) -> other - one).doesNotHaveDuplicates();
			pushed += elements.size();
		}
		assertThat(pushed).isBetween(counts.applied(), counts.applied() + counts.unknown());
		if (counts.unknown() > 0) {
			assertThat(job.get("fenced").asBoolean()).isTrue();
			assertThat(answer.json().at("/detail").asString()).contains(counts.unknown() + " records")
				.contains("could not be sent again");
		}
	}

	@Test
	void aRedisThatDiesAndComesBackIsSurvived() throws Exception {
		int records = 500_000;
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?op=SET&retries=3&timeout=30s", Service.NDJSON,
					Lines.of(records, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\"}")));
		await().atMost(SOON).until(() -> redis.client().dbsize() > 2000);
		redis.kill();
		redis.restart();
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.get("fenced").asBoolean()).isTrue();
		// What ran before the end is gone with it; the last records ran after it.
		assertThat(redis.client().exists("k" + (records - 1))).isEqualTo(1);
	}

	@Test
	void aRedisThatStaysDownEndsTheJobAfterItsTimeout() {
		redis.kill();
		try {
			long began = System.nanoTime();
			JsonNode job = this.service.post("/pipeset/1000?retries=10&timeout=1s")
				.job(503, "redis-unreachable", "failed");
			assertThat(Duration.ofNanos(System.nanoTime() - began)).isBetween(Duration.ofSeconds(1), SOON);
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1000, 0, 0, 0, 0, 1000));
		}
		finally {
			redis.restart();
		}
		this.service.post("/pipeset/100").report();
	}

	@Test
	void aRedisThatFallsSilentAndWakesUpIsSurvived() throws Exception {
		int records = 500_000;
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?op=SET&retries=1&timeout=3s", Service.NDJSON,
					Lines.of(records, (i) -> "{\"key\":\"k" + (i % 5000) + "\",\"value\":\"" + i + "\"}")));
		await().atMost(SOON).until(() -> redis.client().dbsize() == 5000);
		redis.pause();
		try {
			await().atMost(SOON).until(() -> retries("timeout") > 0);
		}
		finally {
			redis.resume();
		}
		JsonNode report = upload.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.get("fenced").asBoolean()).isTrue();
		for (int key = 0; key < 5000; key++) {
			assertThat(redis.client().get("k" + key)).isEqualTo(Integer.toString(records - 5000 + key));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 3 })
	void aRedisThatIsBusyIsAskedAgainWhereTheJobHasRetries(int retries) throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			RedisFuture<String> running = script.async().eval("while true do end", ScriptOutputType.STATUS);
			await().atMost(SOON).pollInterval(Duration.ofMillis(1)).until(this::isBusy);
			CompletableFuture<Answer> job = this.service
				.sendAsync(this.service.request("/listinput/list?count=1000&timeout=30s&retries=" + retries)
					.POST(BodyPublishers.noBody()));
			if (retries > 0) {
				await().atMost(SOON).until(() -> retries("busy") > 0 || retries("unreachable") > 0);
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

	private boolean isBusy() {
		try {
			redis.client().get("any");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

	private double retries(String reason) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:" + reason);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	private static long written() {
		return redis.client()
			.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_commands_processed:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
			.findFirst()
			.orElseThrow();
	}

}
