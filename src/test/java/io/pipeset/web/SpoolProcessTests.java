package io.pipeset.web;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The spool of a process outlives it, whatever it dies of, for the jobs that have not
 * ended; a disk that fails fails the upload, and nothing else.
 */
class SpoolProcessTests {

	private static final int RECORDS = 20_000;

	private static final String BODY = "[\"SET\",\"%s\",\"v\"]\n";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	Path spool;

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aJobOfAProcessThatWasKilledGoesOnInTheNextOneAndThoseOfALivingOneAreLeftAlone() throws Exception {
		try (FaultProxy proxy = FaultProxy.open(TestRedis.shared());
				ServiceProcess living = start();
				ServiceProcess killed = start("--spring.data.redis.host=127.0.0.1",
						"--spring.data.redis.port=" + proxy.port())) {
			Answer waits = waiting(living.service());
			CompletableFuture<ProxyLink> half = proxy.stopAt(Way.REPLIES, RECORDS / 2, 0);
			String body = IntStream.range(0, RECORDS)
				.mapToObj((i) -> BODY.formatted("k" + i))
				.collect(Collectors.joining());
			String location = send(killed.service(), "/v1/jobs?concurrency=2&coalesce=off", body).header("Location");
			half.get();
			assertThat(bodies()).hasSize(2);
			killed.kill();
			proxy.heal();
			try (ServiceProcess next = start()) {
				assertThat(bodies()).hasSize(2);
				Counts before = Answer.counts(next.service().get(location).json());
				long there = this.redis.keys("k[0-9]*").size();
				assertThat(before.unknown()).isPositive();
				assertThat(there).isBetween(before.applied(), before.applied() + before.unknown());
				assertThat(next.service().post(location + "/resume").status()).isEqualTo(202);
				await().until(() -> next.service().get(location).json().get("state").asString().equals("completed"));
				assertThat(Answer.counts(next.service().get(location).json()))
					.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
				assertThat(this.redis.keys("k[0-9]*")).hasSize(RECORDS);
				assertThat(next.service().get(waits.header("Location")).json().get("state").asString())
					.isEqualTo("queued");
			}
			assertThat(bodies()).hasSize(1);
			assertThat(living.service().get(waits.header("Location")).json().get("state").asString())
				.isEqualTo("queued");
		}
	}

	@Test
	void atShutdownJobsThatRunAndWaitAreStoppedAndUploadsAreRefused() throws Exception {
		try (ServiceProcess process = start(); Wire uploads = async(process.service())) {
			Service service = process.service();
			Answer runs = send(service, "/v1/jobs?rateLimit=1", BODY.formatted("runs").repeat(1000));
			await().until(() -> this.redis.exists("runs") == 1);
			Answer waits = send(service, "/v1/jobs", BODY.formatted("waits"));
			uploads.chunk(BODY.formatted("uploads"));
			await().until(() -> bodies().size() == 3);
			process.terminate();
			await().until(() -> service.post("/pipeset/0").status() == 503);
			uploads.chunk(BODY.formatted("uploads"));
			assertThat(uploads.answer().refusal(503, "shutting-down")).contains("another instance");
			process.awaitEnd();
			for (Answer job : List.of(runs, waits)) {
				assertThat(process.output())
					.anyMatch((line) -> line.contains("Job " + id(job) + " stopped: client=none op=mixed received="));
			}
			assertThat(process.output()).noneMatch((line) -> line.contains("ERROR"));
			// The next process may go on with them.
			assertThat(bodies()).extracting((body) -> body.getFileName().toString())
				.containsExactlyInAnyOrder(id(runs) + ".body", id(waits) + ".body");
			assertThat(this.redis.exists("waits", "uploads")).isZero();
		}
	}

	@Test
	void anUploadThatStaysForTheNextProcessKeepsItsIdempotencyKey() throws Exception {
		String runs;
		String waits;
		String ran = BODY.formatted("runs").repeat(1000);
		try (ServiceProcess process = start()) {
			Service service = process.service();
			runs = id(send(service, "/v1/jobs?rateLimit=1", ran, "runs"));
			await().until(() -> this.redis.exists("runs") == 1);
			waits = id(send(service, "/v1/jobs", BODY.formatted("waits"), "waits"));
			process.terminate();
			process.awaitEnd();
		}
		assertThat(bodies()).hasSize(2);
		SoftAssertions softly = new SoftAssertions();
		try (RedisClient control = RedisClient.create(TestRedis.shared().controlUri())) {
			for (String id : List.of(runs, waits)) {
				softly.assertThat(control.connect().sync().hget("pipeset:job:" + id, "status"))
					.as("others are not told that it has ended")
					.contains(id)
					.doesNotContain("stopped");
			}
		}
		try (ServiceProcess next = start()) {
			Answer one = send(next.service(), "/v1/jobs?rateLimit=1", ran, "runs");
			softly.assertThat(one.status() + " " + one.text()).startsWith("409 ");
			Answer two = send(next.service(), "/v1/jobs", BODY.formatted("waits"), "waits");
			softly.assertThat(two.status() + " " + two.text()).startsWith("409 ").contains("interrupted", waits);
			softly.assertThat(one.text()).contains("interrupted", runs);
			softly.assertThat(next.service().post("/v1/jobs/" + waits + "/resume").status()).isEqualTo(202);
			await().until(() -> next.service().get("/v1/jobs/" + waits).headers().firstValue("Retry-After").isEmpty());
			softly.assertThat(next.service().get("/v1/jobs?state=completed").json().get("jobs").size())
				.as("jobs that ran the one request")
				.isOne();
		}
		softly.assertAll();
	}

	@Test
	void aDiskThatFailsFailsTheUploadAndNothingElse() throws Exception {
		try (ServiceProcess process = ServiceProcess.startOnFailingDisk(200, TestRedis.shared(),
				"--pipeset.spool.directory=" + this.spool)) {
			Service service = process.service();
			String large = BODY.formatted("large").repeat(20_000);
			assertThat(send(service, "/v1/jobs", large).refusal(507, "insufficient-storage"))
				.contains("its disk is full or fails (pipeset.spool.directory)", "Nothing was run", "without Prefer")
				.doesNotContain(this.spool.toString());
			assertThat(bodies()).isEmpty();
			assertThat(this.redis.dbsize()).isZero();
			assertThat(process.output()).anyMatch((line) -> line.contains("cannot be written"));
			service.post("/v1/jobs", Service.NDJSON, large).report();
			Answer small = send(service, "/v1/jobs", BODY.formatted("small"));
			await().until(() -> this.redis.exists("small") == 1);
			await().until(() -> service.get(small.header("Location")).headers().firstValue("Retry-After").isEmpty());
			await().until(() -> bodies().isEmpty());
		}
	}

	private ServiceProcess start(String... more) throws Exception {
		return ServiceProcess.start(TestRedis.shared(),
				Stream
					.concat(Stream.of("--pipeset.spool.directory=" + this.spool, "--pipeset.limits.max-running-jobs=1",
							"--pipeset.limits.shutdown-grace=500ms", "--pipeset.jobs.lease=2s"), Stream.of(more))
					.toArray(String[]::new));
	}

	/** Has a job run that never ends, and another wait for it. */
	private static Answer waiting(Service service) {
		String first = send(service, "/pipeset/1000000?rateLimit=1", null).header("Location");
		await().until(() -> service.get(first).json().get("state").asString().equals("running"));
		return send(service, "/v1/jobs", BODY.formatted("waits"));
	}

	private static Answer send(Service service, String call, @Nullable String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return service
			.send((body != null) ? request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body))
					: request.POST(BodyPublishers.noBody()));
	}

	private static Answer send(Service service, String call, String body, String key) {
		return service.send(service.request(call)
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", key)
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
	}

	private static Wire async(Service service) throws IOException {
		return Wire.post(service, "/v1/jobs", "Prefer: respond-async", "Content-Type: application/x-ndjson",
				"Transfer-Encoding: chunked");
	}

	private static String id(Answer answer) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.json().get("jobId").asString();
	}

	private List<Path> bodies() throws IOException {
		try (Stream<Path> files = Files.walk(this.spool)) {
			return files.filter((file) -> file.toString().endsWith(".body")).toList();
		}
	}

}
