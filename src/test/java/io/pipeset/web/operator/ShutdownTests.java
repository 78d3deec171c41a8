package io.pipeset.web.operator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A service that is told to stop ends its jobs, and each caller reads its report. */
class ShutdownTests {

	private static final Duration SOON = Duration.ofMinutes(1);

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void whatIsNotThroughAfterTheGraceIsStoppedAndReported() throws Exception {
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.limits.shutdown-grace=500ms");
				Wire paused = Wire.upload(process.service(), "/v1/jobs?op=SET");
				Wire large = Wire.upload(process.service(), "/v1/jobs?op=SET&concurrency=2")) {
			Service service = process.service();
			paused.chunk("{\"key\":\"paused1\",\"value\":\"1\"}\n{\"key\":\"paused2\",\"value\":\"2\"}\n{\"key\":");
			AtomicBoolean on = new AtomicBoolean(true);
			CompletableFuture<Void> uploader = OwnThread.run(() -> sendWhile(on, large));
			CompletableFuture<Answer> generated = service
				.sendAsync(service.request("/listinput/generated?count=10000000&flush=each&results=none")
					.POST(BodyPublishers.noBody()));
			List<String> keys = List.of("paused1", "paused2", "large5000", "generated");
			await().untilAsserted(() -> assertThat(keys).allMatch((key) -> this.redis.exists(key) == 1));
			process.terminate();
			Counts counts = stopped(large.answer());
			on.set(false);
			uploader.get(60, TimeUnit.SECONDS);
			assertThat(counts.applied()).isPositive();
			assertThat(counts.applied() + counts.unprocessed()).isEqualTo(counts.received());
			assertThat(stopped(paused.answer())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			Counts pushed = stopped(generated.get(60, TimeUnit.SECONDS));
			assertThat(pushed.received()).isEqualTo(10_000_000);
			assertThat(pushed.unprocessed()).isPositive().isEqualTo(10_000_000 - pushed.applied());
			process.awaitEnd();
			assertThat(this.redis.llen("generated")).isEqualTo(pushed.applied());
			assertThat(this.redis.dbsize()).isEqualTo(2 + counts.applied() + 1);
			assertThat(process.output()).anyMatch((line) -> line.contains("3 jobs still run after"))
				.noneMatch((line) -> line.contains("ERROR"));
		}
	}

	@Test
	void withinTheGraceJobsGoOnAndNobodyElseBegins() throws Exception {
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared());
				Wire wire = Wire.upload(process.service(), "/v1/jobs?op=SET")) {
			Service service = process.service();
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			await().until(() -> this.redis.exists("a") == 1);
			process.terminate();
			await().until(() -> service.get("/actuator/health/readiness").status() == 503);
			await().until(() -> service.post("/pipeset/0").status() == 503);
			Answer refused = service.post("/pipeset/5");
			assertThat(Examples.check(503, "shutting-down", refused).refusal(503, "shutting-down"))
				.contains("another instance");
			assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
			assertThat(service.get("/actuator/health/liveness").status()).isEqualTo(200);
			wire.chunk("{\"key\":\"b\",\"value\":\"2\"}\n").lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			process.awaitEnd();
			assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
			assertThat(process.output()).noneMatch((line) -> line.contains("WARN") || line.contains("ERROR"));
		}
	}

	@Test
	void whoTricklesForNoJobAndWhoDoesNotReadAreNotWaitedFor() throws Exception {
		push(12);
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.security.scripts=true",
				"--spring.lifecycle.timeout-per-shutdown-phase=10m", "--pipeset.limits.body-idle-timeout=10m",
				"--server.tomcat.connection-timeout=10m");
				Wire unread = pop(process.service(), 12);
				Wire refused = Wire.upload(process.service(), "/v1/jobs?batchSize=0");
				Wire script = Wire.upload(process.service(), "/v1/scripts")) {
			AtomicBoolean on = new AtomicBoolean(true);
			CompletableFuture<Void> trickles = CompletableFuture.allOf(OwnThread.run(() -> trickleWhile(on, refused)),
					OwnThread.run(() -> trickleWhile(on, script)));
			await().until(() -> process.service().get("/actuator/health/liveness").status() == 200);
			process.terminate();
			process.awaitEnd();
			unread.awaitEnd();
			on.set(false);
			trickles.get(60, TimeUnit.SECONDS);
			assertThat(process.output()).filteredOn((line) -> line.contains("WARN") || line.contains("ERROR"))
				.isNotEmpty()
				.allMatch((line) -> line.contains("WARN") && line.contains("read too slowly"));
		}
	}

	/** It reads twice as fast as it has to, and would be through after half a minute. */
	@Test
	void whoReadsForTooLongIsNotWaitedForEither() throws Exception {
		push(16);
		ScheduledExecutorService reader = Executors.newSingleThreadScheduledExecutor();
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.limits.shutdown-grace=1s",
				"--spring.lifecycle.timeout-per-shutdown-phase=8s"); Wire wire = pop(process.service(), 16)) {
			Future<?> unused = reader.scheduleAtFixedRate(() -> wire.tryRead(40_000), 0, 100, TimeUnit.MILLISECONDS);
			process.terminate();
			process.awaitEnd();
			assertThat(process.output()).anyMatch((line) -> line.contains("Graceful shutdown complete"))
				.noneMatch((line) -> line.contains("still running after timeout") || line.contains("ERROR"));
		}
		finally {
			reader.shutdownNow();
		}
	}

	@Test
	void aServiceThatIsKilledLeavesNothingButDataInRedis() throws Exception {
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared())) {
			Service service = process.service();
			CompletableFuture<Answer> upload = service.sendAsync(service.uploading("/v1/jobs?op=SET&concurrency=2",
					Service.NDJSON, Lines.of(100_000_000, (i) -> "{\"key\":\"large" + i + "\",\"value\":\"v\"}")));
			await().until(() -> this.redis.dbsize() > 5000);
			process.kill();
			assertThat(upload).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(IOException.class);
			assertThat(this.redis.dbsize()).isGreaterThan(5000);
			assertThat(this.redis.keys("*")).allMatch((key) -> key.startsWith("large"));
		}
	}

	/** Uploads until the answer comes, as curl does. */
	private static void sendWhile(AtomicBoolean on, Wire wire) {
		try {
			for (int i = 0; on.get(); i += 1000) {
				wire.chunk(IntStream.range(i, i + 1000)
					.mapToObj((number) -> "[\"SET\",\"large" + number + "\",\"v\"]\n")
					.collect(Collectors.joining()));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends a little again and again, so that no pause becomes long. */
	private static void trickleWhile(AtomicBoolean on, Wire wire) {
		try {
			while (on.get()) {
				wire.chunk("x");
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
			}
		}
		catch (IOException ex) {
			// The service has closed the connection.
		}
	}

	private void push(int megabytes) {
		String value = "x".repeat(1 << 20);
		for (int i = 0; i < megabytes; i++) {
			this.redis.rpush("list", value);
		}
	}

	/** Pops so much that the answer does not fit into the kernel's buffers. */
	private Wire pop(Service service, int megabytes) throws IOException {
		Wire wire = Wire.unread(service, "POST /piperpop/" + megabytes + "?key=list HTTP/1.1", "Host: localhost",
				"Content-Length: 0");
		await().until(() -> this.redis.exists("list") == 0);
		await().until(() -> service.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1) == 0);
		return wire;
	}

	private static Counts stopped(Answer answer) {
		JsonNode job = answer.job(503, "shutting-down", "stopped");
		assertThat(answer.header("Retry-After")).matches("[1-9][0-9]*");
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.shutdown-grace");
		assertThat(job.at("/settings/results").asString().equals("none") || job.at("/nextIndex").asLong(-1) > 0)
			.isTrue();
		return Answer.counts(job);
	}

}
