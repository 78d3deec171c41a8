package io.pipeset.web.operator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
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

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.SpoolFiles;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A service that is told to stop ends its jobs, and each caller reads its report. The
 * next process has those jobs that have not ended and whose callers do not wait.
 */
@ProcessTest
class ShutdownTests {

	private static final String SET = "[\"SET\",\"%s\",\"v\"]\n";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	Path spool;

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	/**
	 * Four jobs run, and one waits. One caller reads twice as fast as it has to, and
	 * would be through after half a minute.
	 */
	@Test
	void whatIsNotThroughAfterTheGraceIsStoppedAndReportedOrIsThereForTheNextProcess() throws Exception {
		push(16);
		String runs;
		String waits;
		ScheduledExecutorService reader = Executors.newSingleThreadScheduledExecutor();
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(),
				"--pipeset.spool.directory=" + this.spool, "--pipeset.limits.max-running-jobs=4",
				"--pipeset.limits.shutdown-grace=2s", "--spring.lifecycle.timeout-per-shutdown-phase=12s",
				"--pipeset.jobs.lease=2s", "--pipeset.limits.body-idle-timeout=10m");
				Wire slow = pop(process.service(), 16);
				Wire paused = Wire.upload(process.service(), "/v1/jobs?op=SET");
				Wire large = Wire.upload(process.service(), "/v1/jobs?op=SET&concurrency=2");
				Wire uploads = Wire.post(process.service(), "/v1/jobs", "Prefer: respond-async",
						"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked");
				Wire silent = Wire.post(process.service(), "/v1/jobs", "Prefer: respond-async",
						"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			Service service = process.service();
			paused.chunk("{\"key\":\"paused1\",\"value\":\"1\"}\n{\"key\":\"paused2\",\"value\":\"2\"}\n{\"key\":");
			AtomicBoolean on = new AtomicBoolean(true);
			CompletableFuture<Void> uploader = OwnThread.run(() -> sendWhile(on, large));
			CompletableFuture<Answer> generated = service
				.sendAsync(service.request("/listinput/generated?count=10000000&flush=each&results=none")
					.POST(BodyPublishers.noBody()));
			runs = id(runs(service));
			List<String> keys = List.of("paused1", "paused2", "large5000", "generated", "runs");
			await().untilAsserted(() -> assertThat(keys).allMatch((key) -> this.redis.exists(key) == 1));
			waits = id(waits(service));
			uploads.chunk(SET.formatted("uploads"));
			silent.chunk(SET.formatted("uploads"));
			await().until(() -> bodies().size() == 4);
			Future<?> unused = reader.scheduleAtFixedRate(() -> slow.tryRead(40_000), 0, 100, TimeUnit.MILLISECONDS);
			process.terminate();
			await().until(() -> service.post("/pipeset/0").status() == 503);
			uploads.chunk(SET.formatted("uploads"));
			Counts counts = stopped(large.answer());
			on.set(false);
			uploader.get(60, TimeUnit.SECONDS);
			assertThat(uploads.answer().refusal(503, "shutting-down")).contains("another instance");
			assertThat(silent.answer().refusal(503, "shutting-down")).contains("another instance");
			assertThat(counts.applied()).isPositive();
			assertThat(counts.applied() + counts.unprocessed()).isEqualTo(counts.received());
			assertThat(stopped(paused.answer())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			Counts pushed = stopped(generated.get(60, TimeUnit.SECONDS));
			assertThat(pushed.received()).isEqualTo(10_000_000);
			assertThat(pushed.unprocessed()).isPositive().isEqualTo(10_000_000 - pushed.applied());
			process.awaitEnd();
			assertThat(this.redis.llen("generated")).isEqualTo(pushed.applied());
			assertThat(this.redis.dbsize()).isEqualTo(2 + counts.applied() + 2);
			assertThat(this.redis.exists("waits", "uploads")).isZero();
			assertThat(process.output()).anyMatch((line) -> line.contains("4 jobs still run after"))
				.anyMatch((line) -> line.contains("Graceful shutdown complete"))
				.noneMatch((line) -> line.contains("still running after timeout") || line.contains("ERROR"));
			for (String job : List.of(runs, waits)) {
				assertThat(process.output())
					.anyMatch((line) -> line.contains("Job " + job + " interrupted: client=none op=mixed received="));
			}
			assertThat(bodies()).extracting((body) -> body.getFileName().toString())
				.containsExactlyInAnyOrder(runs + ".body", waits + ".body");
		}
		finally {
			reader.shutdownNow();
		}
		assertTheNextProcessKnows(runs, waits);
	}

	private void assertTheNextProcessKnows(String runs, String waits) {
		SoftAssertions softly = new SoftAssertions();
		try (RedisClient control = RedisClient.create(TestRedis.shared().controlUri())) {
			RedisCommands<String, String> records = control.connect().sync();
			for (String id : List.of(runs, waits)) {
				softly.assertThat(records.hget(TestRedis.shared().controlKey("job", id), "status"))
					.as("others are not told that it has ended")
					.contains(id)
					.doesNotContain("stopped");
			}
			try (Replica next = Replica.start(TestRedis.shared(), TestRedis.shared().properties(),
					"pipeset.spool.directory=" + this.spool, "pipeset.limits.max-running-jobs=1",
					"pipeset.limits.shutdown-grace=500ms", "pipeset.jobs.lease=2s")) {
				Service service = next.service();
				await("names whoever has the files")
					.until(() -> records.hget(TestRedis.shared().controlKey("job", waits), "instance")
						.endsWith(":" + service.port()));
				Answer one = runs(service);
				softly.assertThat(one.status() + " " + one.text()).startsWith("409 ").contains("interrupted", runs);
				Answer two = waits(service);
				softly.assertThat(two.status() + " " + two.text()).startsWith("409 ").contains("interrupted", waits);
				softly.assertThat(service.post("/v1/jobs/" + waits + "/resume").status()).isEqualTo(202);
				await().until(() -> service.get("/v1/jobs/" + waits).headers().firstValue("Retry-After").isEmpty());
				softly.assertThat(service.get("/v1/jobs?state=completed").json().get("jobs").valueStream())
					.extracting((job) -> job.get("jobId").asString())
					.as("jobs that ran the one request")
					.filteredOn((id) -> id.compareTo(runs) >= 0)
					.containsExactly(waits);
			}
		}
		softly.assertAll();
	}

	@Test
	void withinTheGraceJobsGoOnAndNobodyElseBeginsOrIsWaitedFor() throws Exception {
		push(12);
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.security.scripts=true",
				"--pipeset.limits.shutdown-grace=5m", "--spring.lifecycle.timeout-per-shutdown-phase=10m",
				"--pipeset.limits.body-idle-timeout=10m", "--server.tomcat.connection-timeout=10m",
				"--logging.structured.format.console=gelf");
				Wire unread = pop(process.service(), 12);
				Wire refused = Wire.upload(process.service(), "/v1/jobs?batchSize=0");
				Wire script = Wire.upload(process.service(), "/v1/scripts");
				Wire repeat = repeat(process.service());
				Wire wire = Wire.upload(process.service(), "/v1/jobs?op=SET")) {
			Service service = process.service();
			AtomicBoolean on = new AtomicBoolean(true);
			CompletableFuture<Void> trickles = CompletableFuture.allOf(OwnThread.run(() -> trickleWhile(on, refused)),
					OwnThread.run(() -> trickleWhile(on, script)));
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			await().until(() -> this.redis.exists("a") == 1);
			await().until(() -> service.get("/actuator/health/liveness").status() == 200);
			process.terminate();
			await().until(() -> service.get("/actuator/health/readiness").status() == 503);
			await().until(() -> service.post("/pipeset/0").status() == 503);
			Answer late = service.post("/pipeset/5");
			assertThat(Examples.check(503, "shutting-down", late).refusal(503, "shutting-down"))
				.contains("another instance");
			assertThat(late.header("Retry-After")).matches("[1-9][0-9]*");
			assertThat(service.get("/actuator/health/liveness").status()).isEqualTo(200);
			repeat.chunk("x").answer().refusal(503, "shutting-down");
			wire.chunk("{\"key\":\"b\",\"value\":\"2\"}\n").lastChunk();
			JsonNode report = wire.answer().report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			process.awaitEnd();
			unread.awaitEnd();
			on.set(false);
			trickles.get(60, TimeUnit.SECONDS);
			assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
			assertThat(process.output()).filteredOn((line) -> line.contains("WARN") || line.contains("ERROR"))
				.filteredOn((line) -> !line.contains("(appendonly no)"))
				.isNotEmpty()
				.allMatch((line) -> line.contains("WARN") && line.contains("read too slowly"));
			LogTests.assertCompleted(process.output(), "/_jobId", report.get("jobId").asString(), "/short_message",
					"received=2 applied=2 ");
		}
	}

	/** Begins a request once more that has run under its key. */
	private Wire repeat(Service service) throws IOException {
		String[] head = { "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked",
				"Idempotency-Key: repeated" };
		try (Wire first = Wire.post(service, "/v1/jobs", head)) {
			first.chunk(SET.formatted("a")).lastChunk().answer().report();
		}
		this.redis.del("a");
		Wire repeat = Wire.post(service, "/v1/jobs", head).chunk("[");
		await().until(() -> service.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1) == 1);
		return repeat;
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

	private static Answer runs(Service service) {
		return send(service, "/v1/jobs?rateLimit=1", SET.formatted("runs").repeat(1000), "runs");
	}

	private static Answer waits(Service service) {
		return send(service, "/v1/jobs", SET.formatted("waits"), "waits");
	}

	private static Answer send(Service service, String call, String body, String key) {
		return service.send(service.request(call)
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", key)
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
	}

	private static String id(Answer answer) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.json().get("jobId").asString();
	}

	private List<Path> bodies() throws IOException {
		return SpoolFiles.ending(this.spool, ".body");
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
