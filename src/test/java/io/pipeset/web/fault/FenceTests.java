package io.pipeset.web.fault;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Redis later runs the commands that it has received on a connection that was given up,
 * and so overwrites newer data, unless the connection is fenced off. Nothing else may use
 * the open connections meanwhile.
 */
@ServiceTest
class FenceTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final TestRedis redis = own.redis();

	private static final int KEYS = 500;

	private static final int WRITES = 20_000;

	/** The number of runs. Without the fence the first one fails. */
	private static final int RUNS = Integer.getInteger("campaign.fences", 20);

	private final Service service;

	FenceTests(Service service) {
		this.service = service;
	}

	/** The hazard exists without Pipeset. Otherwise the next test would prove nothing. */
	@Test
	void closingAConnectionDoesNotStopWhatRedisHasReceived() throws Exception {
		try (Socket newer = open()) {
			try (Socket old = open()) {
				// Without this, Redis would notice with its first reply that the client
				// is gone.
				old.getOutputStream().write("CLIENT REPLY OFF\r\n".getBytes(StandardCharsets.UTF_8));
				redis.pause();
				old.getOutputStream().write("SET ghost old\r\n".repeat(WRITES).getBytes(StandardCharsets.UTF_8));
			}
			newer.getOutputStream().write("SET ghost new\r\n".getBytes(StandardCharsets.UTF_8));
			redis.resume();
			assertThat(newer.getInputStream().readNBytes(5)).asString(StandardCharsets.UTF_8).startsWith("+OK");
			await().until(() -> redis.client().get("ghost").equals("old"));
		}
	}

	@Test
	void noLateWriteOverwritesWhatTheNextJobHasWritten() throws Exception {
		String[] keys = IntStream.range(0, KEYS).mapToObj((i) -> "k" + i).toArray(String[]::new);
		int run = 0;
		for (int attempt = 0; run < RUNS && attempt < 10 * RUNS; attempt++) {
			// Without this, the next job would have no open connection to write to at
			// once.
			this.service.post("/pipeset/500?flush=each&concurrency=4").report();
			redis.pause();
			Answer old = write("old", WRITES, "50ms").get(60, TimeUnit.SECONDS);
			if (old.status() == 503) {
				// The job has written nothing, as its connection was a new one.
				redis.resume();
				continue;
			}
			JsonNode lost = old.job(502, "redis-lost", "failed");
			assertThat(Answer.counts(lost).unknown()).isPositive();
			assertThat(lost.get("fenced").asBoolean()).isFalse();
			CompletableFuture<Answer> next = write("new", KEYS, "60s");
			await().until(() -> this.service.get("/actuator/pipeset").json().at("/lanes/busy").asInt() > 0);
			redis.resume();
			assertThat(Answer.counts(next.get(60, TimeUnit.SECONDS).report()))
				.isEqualTo(new Counts(KEYS, KEYS, 0, 0, 0, 0));
			assertThat(redis.client().mget(keys)).as("run %d", run)
				.allSatisfy((key) -> assertThat(key.getValue()).isEqualTo("new"));
			run++;
		}
		assertThat(run).isEqualTo(RUNS);
	}

	private CompletableFuture<Answer> write(String value, int writes, String timeout) {
		return this.service.sendAsync(this.service.uploading("/v1/jobs?op=SET&timeout=" + timeout, Service.NDJSON,
				Lines.of(writes, (i) -> "{\"key\":\"k" + (i % KEYS) + "\",\"value\":\"" + value + "\"}")));
	}

	private static Socket open() throws IOException {
		Socket socket = new Socket(redis.host(), redis.port());
		String password = redis.password();
		if (password != null) {
			socket.getOutputStream().write(("AUTH " + password + "\r\n").getBytes(StandardCharsets.UTF_8));
			assertThat(socket.getInputStream().readNBytes(5)).asString(StandardCharsets.UTF_8).startsWith("+OK");
		}
		return socket;
	}

}
