package io.pipeset.web;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The spool outlives neither its process nor the next start, whatever the process dies
 * of; a disk that fails fails the upload, and nothing else.
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
	void filesOfAProcessThatWasKilledAreRemovedAtTheNextStartAndThoseOfALivingOneAreNot() throws Exception {
		try (ServiceProcess living = start(); ServiceProcess killed = start()) {
			Answer waits = waiting(living.service());
			Answer lost = waiting(killed.service());
			assertThat(bodies()).hasSize(2);
			killed.kill();
			assertThat(bodies()).hasSize(2);
			try (ServiceProcess next = start()) {
				assertThat(bodies()).singleElement().asString().contains(id(waits));
				assertThat(next.output()).anyMatch((line) -> line.contains("WARN")
						&& line.contains("1 files of its spool were") && line.contains(id(lost) + ".body"));
				await().untilAsserted(
						() -> assertThat(next.service().get(lost.header("Location")).json().get("state").asString())
							.isEqualTo("interrupted"));
				assertThat(next.service().get(waits.header("Location")).json().get("state").asString())
					.isEqualTo("queued");
				next.terminate();
				next.awaitEnd();
			}
			assertThat(bodies()).hasSize(1);
			assertThat(living.service().get(waits.header("Location")).json().get("state").asString())
				.isEqualTo("queued");
			living.terminate();
			living.awaitEnd();
			assertThat(bodies()).isEmpty();
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
					.anyMatch((line) -> line.contains("Job " + id(job) + " stopped: received="));
			}
			assertThat(process.output()).noneMatch((line) -> line.contains("ERROR"));
			assertThat(bodies()).isEmpty();
			assertThat(this.redis.exists("waits", "uploads")).isZero();
		}
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
