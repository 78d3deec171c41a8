package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.SpoolFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A disk that fails fails the upload, and nothing else. A service that is killed leaves
 * nothing but data in Redis.
 */
class SpoolProcessTests {

	private static final String BODY = "[\"SET\",\"%s\",\"v\"]\n";

	private static final Duration SOON = Duration.ofMinutes(1);

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	Path spool;

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aDiskThatFailsFailsTheUploadAndNothingElseAndAKillLeavesNothingButData() throws Exception {
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
			assertKillLeavesData(process);
		}
	}

	private void assertKillLeavesData(ServiceProcess process) throws Exception {
		this.redis.flushall();
		Service service = process.service();
		CompletableFuture<Answer> upload = service.sendAsync(service.uploading("/v1/jobs?op=SET&concurrency=2",
				Service.NDJSON, Lines.of(100_000_000, (i) -> "{\"key\":\"large" + i + "\",\"value\":\"v\"}")));
		await().until(() -> this.redis.dbsize() > 5000);
		process.kill();
		assertThat(upload).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(IOException.class);
		assertThat(this.redis.dbsize()).isGreaterThan(5000);
		assertThat(this.redis.keys("*")).allMatch((key) -> key.startsWith("large"));
	}

	private static Answer send(Service service, String call, String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return service.send(request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body)));
	}

	private List<Path> bodies() throws IOException {
		return SpoolFiles.ending(this.spool, ".body");
	}

}
