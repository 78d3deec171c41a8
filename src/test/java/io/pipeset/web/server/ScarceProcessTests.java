package io.pipeset.web.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.SpoolFiles;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A process with little memory and a disk that fails. Idle connections do not fill its
 * heap or block callers. The failing disk affects only its upload. If the process is
 * killed, it leaves only data in Redis.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ProcessTest
class ScarceProcessTests {

	private static final int CONNECTIONS = 1000;

	/**
	 * More than the connections that are closed at once, so that the test fails if the
	 * service closes uploads as idle connections.
	 */
	private static final int UPLOADS = 40;

	private static final String SET = "[\"SET\",\"%s\",\"v\"]\n";

	private static final Duration SOON = Duration.ofMinutes(1);

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	private static Path spool;

	private static ServiceProcess process;

	private static Service service;

	@BeforeAll
	static void start() throws Exception {
		process = ServiceProcess.startOnFailingDisk(200, TestRedis.shared(), "-Xmx64m", "-XX:+ExitOnOutOfMemoryError",
				"--pipeset.spool.directory=" + spool);
		service = process.service();
	}

	@AfterAll
	static void stop() {
		process.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@Test
	void moreIdleConnectionsThanTheHeapHoldsBlockNoCaller() throws Exception {
		List<Wire> uploads = new ArrayList<>();
		List<Socket> idle = new ArrayList<>();
		try {
			for (int i = 0; i < UPLOADS; i++) {
				uploads.add(Wire.post(service, "/v1/jobs", "Content-Type: application/x-ndjson", "Content-Length: 15")
					.send("[\"SET\",\"u\",\"1\""));
			}
			for (int i = 0; i < CONNECTIONS; i++) {
				idle.add(new Socket(InetAddress.getLoopbackAddress(), service.port()));
			}
			try (Wire job = Wire.upload(service, "/v1/jobs")) {
				job.chunk("[\"SET\",\"a\",\"1\"]\n").lastChunk();
				assertThat(Answer.counts(job.answer().report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			}
			for (Wire upload : uploads) {
				assertThat(upload.send("]").answer().status()).isEqualTo(200);
			}
			assertThat(process.isAlive()).isTrue();
			assertThat(idle.get(0).getInputStream().read()).as("the one that was idle longest").isEqualTo(-1);
		}
		finally {
			for (Socket socket : idle) {
				close(socket);
			}
			for (Wire upload : uploads) {
				upload.close();
			}
		}
	}

	@Test
	void aFailingDiskAffectsOnlyItsUpload() throws Exception {
		String large = SET.formatted("large").repeat(20_000);
		assertThat(send(service, "/v1/jobs", large).refusal(507, "insufficient-storage"))
			.contains("its disk is full or fails (pipeset.spool.directory)", "Nothing was run", "without Prefer")
			.doesNotContain(spool.toString());
		assertThat(bodies()).isEmpty();
		assertThat(redis.dbsize()).isZero();
		await()
			.untilAsserted(() -> assertThat(process.output()).anyMatch((line) -> line.contains("cannot be written")));
		service.post("/v1/jobs", Service.NDJSON, large).report();
		Answer small = send(service, "/v1/jobs", SET.formatted("small"));
		await().until(() -> redis.exists("small") == 1);
		await().until(() -> service.get(small.header("Location")).headers().firstValue("Retry-After").isEmpty());
		await().until(() -> bodies().isEmpty());
	}

	@Test
	@Order(Integer.MAX_VALUE)
	void aKilledServiceLeavesOnlyDataInRedis() throws Exception {
		CompletableFuture<Answer> upload = service.sendAsync(service.uploading("/v1/jobs?op=SET&concurrency=2",
				Service.NDJSON, Lines.of(100_000_000, (i) -> "{\"key\":\"large" + i + "\",\"value\":\"v\"}")));
		await().until(() -> redis.dbsize() > 5000);
		process.kill();
		assertThat(upload).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(IOException.class);
		assertThat(redis.dbsize()).isGreaterThan(5000);
		assertThat(redis.keys("*")).allMatch((key) -> key.startsWith("large"));
	}

	private static Answer send(Service service, String call, String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return service.send(request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body)));
	}

	private static List<Path> bodies() throws IOException {
		return SpoolFiles.ending(spool, ".body");
	}

	private static void close(Socket socket) throws IOException {
		socket.setSoLinger(true, 0);
		socket.close();
	}

}
