package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.SpoolFiles;
import io.pipeset.service.Wire;
import org.assertj.core.api.SoftAssertions;
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

	private static final String BODY = "[\"SET\",\"%s\",\"v\"]\n";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	Path spool;

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aShutdownStopsJobsAndRefusesUploadsAndTheNextProcessKnowsTheJobsByTheirKeys() throws Exception {
		String runs;
		String waits;
		String ran = BODY.formatted("runs").repeat(1000);
		try (ServiceProcess process = start(); Wire uploads = async(process.service())) {
			Service service = process.service();
			runs = id(send(service, "/v1/jobs?rateLimit=1", ran, "runs"));
			await().until(() -> this.redis.exists("runs") == 1);
			waits = id(send(service, "/v1/jobs", BODY.formatted("waits"), "waits"));
			uploads.chunk(BODY.formatted("uploads"));
			await().until(() -> bodies().size() == 3);
			process.terminate();
			await().until(() -> service.post("/pipeset/0").status() == 503);
			uploads.chunk(BODY.formatted("uploads"));
			assertThat(uploads.answer().refusal(503, "shutting-down")).contains("another instance");
			process.awaitEnd();
			for (String job : List.of(runs, waits)) {
				assertThat(process.output())
					.anyMatch((line) -> line.contains("Job " + job + " stopped: client=none op=mixed received="));
			}
			assertThat(process.output()).noneMatch((line) -> line.contains("ERROR"));
			// The next process may go on with them.
			assertThat(bodies()).extracting((body) -> body.getFileName().toString())
				.containsExactlyInAnyOrder(runs + ".body", waits + ".body");
			assertThat(this.redis.exists("waits", "uploads")).isZero();
		}
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
			try (RedisClient control = RedisClient.create(TestRedis.shared().controlUri())) {
				RedisCommands<String, String> records = control.connect().sync();
				await("names whoever has the files").until(
						() -> records.hget("pipeset:job:" + waits, "instance").endsWith(":" + next.service().port()));
			}
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

	private ServiceProcess start() throws Exception {
		return ServiceProcess.start(TestRedis.shared(), "--pipeset.spool.directory=" + this.spool,
				"--pipeset.limits.max-running-jobs=1", "--pipeset.limits.shutdown-grace=500ms",
				"--pipeset.jobs.lease=2s");
	}

	private static Answer send(Service service, String call, String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return service.send(request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body)));
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
		return SpoolFiles.ending(this.spool, ".body");
	}

}
