package io.pipeset.web.fault;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.KillArgs;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Every record is accounted for, whatever fault Redis has, and the next job works as soon
 * as Redis does.
 */
@ServiceTest(properties = { "pipeset.defaults.timeout=10m", "pipeset.pipeline.window-commands=25000" })
class RedisFaultTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final TestRedis redis = own.redis();

	private static final Duration SOON = Duration.ofMinutes(1);

	/** More lines than four lanes may have on their way. */
	private static final int MORE_THAN_WINDOWS = 300_000;

	private final Service service;

	RedisFaultTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		assertThat(Answer.counts(this.service.post("/pipeset/10").report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
		redis.client().flushall();
	}

	@AfterEach
	void letRedisWrite() {
		redis.client().replicaofNoOne();
		redis.client().configSet("maxmemory", "0");
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/100000, 1", "/pipeset/100000, 4", "/pipeset/5, 1", "/piperpop/100, 1" })
	void aRedisThatIsDownIsUnreachableAndNothingIsProcessed(String path, int concurrency) {
		redis.kill();
		try {
			awaitUnreachable();
			long began = System.nanoTime();
			Answer answer = this.service.post(path + "?concurrency=" + concurrency);
			assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SOON);
			JsonNode job = answer.job(503, "redis-unreachable", "failed");
			long count = Long.parseLong(path.replaceAll("\\D", ""));
			assertThat(Answer.counts(job)).isEqualTo(new Counts(count, 0, 0, 0, 0, count));
			assertThat(answer.header("Retry-After")).matches("[1-9][0-9]*");
			assertThat(job.at("/bytesSent").asLong(-1)).isZero();
		}
		finally {
			redis.restart();
		}
		assertThat(Answer.counts(this.service.post("/pipeset/100").report()))
			.isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(redis.client().dbsize()).isEqualTo(100);
	}

	@Test
	void anUploadToARedisThatIsDownIsNotReadToItsEnd() {
		redis.kill();
		try {
			awaitUnreachable();
			JsonNode job = this.service
				.upload("/v1/jobs?op=SET", Service.NDJSON,
						Lines.of(200_000, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\"}"))
				.job(503, "redis-unreachable", "failed");
			Counts counts = Answer.counts(job);
			assertThat(counts.unprocessed()).isEqualTo(counts.received()).isPositive();
			assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
			assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
		}
		finally {
			redis.restart();
		}
	}

	@Test
	void readinessFollowsRedisAndLivenessDoesNot() {
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200);
		redis.kill();
		try {
			assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(503);
			assertThat(this.service.get("/actuator/health").status()).isEqualTo(503);
			assertThat(this.service.get("/actuator/health/liveness").status()).isEqualTo(200);
		}
		finally {
			redis.restart();
		}
		await().untilAsserted(() -> assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200));
		assertThat(this.service.get("/actuator/health/liveness").status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&concurrency=4&batchSize=500", "&flush=each" })
	void aRedisThatDiesDuringAnUploadIsLostAndEveryRecordIsAccountedFor(String settings) throws Exception {
		CompletableFuture<Void> paused = new CompletableFuture<>();
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service
			.uploading("/v1/jobs?op=SET&timeout=60s" + settings, Service.NDJSON, Lines.of(MORE_THAN_WINDOWS, (i) -> {
				waitAt(i, paused);
				return "{\"key\":\"k" + i + "\",\"value\":\"v\"}";
			})));
		// By then each lane has an open connection.
		await().until(() -> redis.client().dbsize() > 15_000);
		redis.pause();
		paused.complete(null);
		this.service.awaitStandstill();
		redis.kill();
		try {
			Answer answer = upload.get(60, TimeUnit.SECONDS);
			JsonNode job = answer.job(502, "redis-lost", "failed");
			Counts counts = Answer.counts(job);
			assertThat(counts.applied() + counts.unknown()).isGreaterThan(2000);
			assertThat(counts.received()).isLessThan(MORE_THAN_WINDOWS);
			assertThat(counts.rejected()).isZero();
			assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
			for (JsonNode item : job.get("items")) {
				assertThat(item.at("/error/code").asString())
					.isEqualTo((item.at("/status").asString().equals("unknown")) ? "CONNECTION_LOST" : "NOT_SENT");
			}
		}
		finally {
			redis.restart();
		}
		assertThat(Answer.counts(this.service.post("/pipeset/100?concurrency=4").report()))
			.isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "4" })
	void aRedisThatFallsSilentTimesOutAndWhatWasWrittenIsUnknown(String concurrency) throws Exception {
		CompletableFuture<Void> paused = new CompletableFuture<>();
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service.uploading(
				"/v1/jobs?timeout=2s&concurrency=" + concurrency, Service.NDJSON, Lines.of(MORE_THAN_WINDOWS, (i) -> {
					waitAt(i, paused);
					return "[\"LPUSH\",\"l" + (i % 100) + "\",\"" + i + "\"]";
				})));
		await().until(() -> redis.client().dbsize() == 100);
		redis.pause();
		paused.complete(null);
		long began = System.nanoTime();
		Counts counts;
		try {
			JsonNode job = upload.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
			assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SOON);
			counts = Answer.counts(job);
			assertThat(counts.unknown()).isPositive();
			for (JsonNode item : job.get("items")) {
				assertThat(item.at("/error/code").asString())
					.isEqualTo((item.at("/status").asString().equals("unknown")) ? "TIMEOUT" : "NOT_SENT");
			}
			if (concurrency.equals("1")) {
				assertThat(job.at("/items/0/status").asString()).isEqualTo("unknown");
				assertThat(job.at("/items/0/error/retryable").asBoolean(true)).isFalse();
			}
		}
		finally {
			redis.resume();
		}
		assertThat(Answer.counts(this.service.post("/pipeset/100").report()))
			.isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		long pushed = IntStream.range(0, 100).mapToLong((i) -> redis.client().llen("l" + i)).sum();
		assertThat(pushed).isBetween(counts.applied(), counts.applied() + counts.unknown());
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "4" })
	void aRedisThatIsSilentFromTheStartIsGivenUpAfterTheJobsTimeout(String concurrency) throws Exception {
		List<CompletableFuture<Answer>> warmUp = IntStream.range(0, 6)
			.mapToObj((i) -> this.service.sendAsync(this.service.uploading("/v1/jobs?op=SET&concurrency=4&flush=each",
					Service.NDJSON, Lines.of(1000, (record) -> "{\"key\":\"k" + record + "\",\"value\":\"v\"}"))))
			.toList();
		for (CompletableFuture<Answer> job : warmUp) {
			job.get(60, TimeUnit.SECONDS).report();
		}
		redis.pause();
		long began = System.nanoTime();
		Answer answer = this.service.post("/pipeset/1000?timeout=500ms&concurrency=" + concurrency);
		Duration took = Duration.ofNanos(System.nanoTime() - began);
		redis.resume();
		assertThat(answer.status()).isIn(502, 503);
		assertThat(took).isLessThan(SOON);
		Counts counts = Answer.counts(answer.json().get("job"));
		assertThat(counts.received()).isEqualTo(1000);
		assertThat(counts.unknown() + counts.unprocessed()).isEqualTo(1000);
	}

	@Test
	void aRedisWithoutMemoryFromTheStartRefusesTheWholeJob() {
		redis.client().configSet("maxmemory", "1");
		Answer answer = this.service.post("/pipeset/100000?batchSize=500");
		JsonNode job = Examples.check(503, "redis-refuses", answer).job(503, "redis-refuses", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(100_000);
		assertThat(counts.applied()).isZero();
		assertThat(counts.rejected()).isPositive();
		assertThat(counts.unknown()).isZero();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("OOM");
		assertThat(job.at("/items/0/error/retryable").asBoolean()).isTrue();
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aRedisThatRunsOutOfMemoryStopsTheJob() {
		long used = Long.parseLong(redis.client()
			.info("memory")
			.lines()
			.filter((line) -> line.startsWith("used_memory:"))
			.findFirst()
			.orElseThrow()
			.substring("used_memory:".length())
			.strip());
		redis.client().configSet("maxmemory", Long.toString(used + (3 << 20)));
		Answer answer = this.service.post("/pipeset/100000?batchSize=500");
		JsonNode job = Examples.check(502, "redis-refuses", answer).job(502, "redis-refuses", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(100_000);
		assertThat(counts.applied()).isPositive().isEqualTo(redis.client().dbsize());
		assertThat(counts.rejected()).isGreaterThanOrEqualTo(500);
		assertThat(counts.unprocessed()).isPositive();
		assertThat(answer.json().at("/detail").asString()).contains("OOM");
		redis.client().configSet("maxmemory", "0");
		this.service.post("/pipeset/100000?batchSize=500").report();
		assertThat(redis.client().dbsize()).isEqualTo(100_000);
	}

	@Test
	void aReadOnlyReplicaRefusesTheWholeJob() {
		redis.client().replicaof("127.0.0.1", 1);
		Answer answer = this.service.post("/pipeset/1000");
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job).applied()).isZero();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("READONLY");
		assertThat(answer.json().at("/detail").asString()).contains("READONLY");
		redis.client().replicaofNoOne();
		assertThat(redis.client().dbsize()).isZero();
		this.service.post("/pipeset/1000").report();
		assertThat(redis.client().dbsize()).isEqualTo(1000);
	}

	@Test
	void connectionsThatRedisClosesBetweenJobsAreReplaced() {
		for (int i = 0; i < 5; i++) {
			redis.client().flushall();
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
			Answer answer = this.service.post("/pipeset/100?concurrency=4");
			if (answer.status() != 200) {
				// If the end of a connection was not noticed in time, nothing ran.
				Counts counts = Answer.counts(answer.json().get("job"));
				assertThat(counts.applied()).isEqualTo(redis.client().dbsize());
				answer = this.service.post("/pipeset/100?concurrency=4");
			}
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
			assertThat(redis.client().dbsize()).isEqualTo(100);
		}
	}

	@Test
	void connectionsThatWereBeingOpenedWhenRedisFellSilentAreNotTakenForOpenOnes() throws Exception {
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		CompletableFuture<Void> paused = new CompletableFuture<>();
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service
			.uploading("/v1/jobs?timeout=2s&concurrency=8", Service.NDJSON, Lines.of(MORE_THAN_WINDOWS, (i) -> {
				waitAt(i, paused);
				return "[\"LPUSH\",\"l" + (i % 100) + "\",\"" + i + "\"]";
			})));
		await().until(() -> redis.client().dbsize() > 0);
		redis.pause();
		paused.complete(null);
		try {
			assertThat(upload.get(60, TimeUnit.SECONDS).status()).isIn(502, 503);
		}
		finally {
			redis.resume();
		}
		for (int i = 0; i < 5; i++) {
			this.service.post("/pipeset/100").report();
		}
	}

	/** Waits until the service has noticed the ends of its pooled connections. */
	private void awaitUnreachable() {
		await().until(() -> this.service.post("/pipeset/1").status() == 503);
	}

	/** Holds an upload back until Redis is paused. */
	private static void waitAt(long line, CompletableFuture<Void> paused) {
		if (line == 20_000) {
			paused.join();
		}
	}

}
