package io.pipeset.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.PipesetApplication;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The size of a job does not decide how much memory the service takes. */
class SmallHeapTests {

	private static final int MILLION = 1_000_000;

	private static final Pattern READY = Pattern.compile("Ready\\. Try: curl -X POST http://localhost:(\\d+)/");

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static final Queue<String> output = new ConcurrentLinkedQueue<>();

	private static Process process;

	private static Service service;

	@BeforeAll
	static void start() throws Exception {
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				PipesetApplication.class.getName(), "--server.port=0", "--logging.level.io.pipeset=info")
			.redirectErrorStream(true);
		TestRedis.shared()
			.properties()
			.forEach(
					(name, value) -> builder.environment().put(name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
		process = builder.start();
		CompletableFuture<Integer> port = new CompletableFuture<>();
		Thread reader = new Thread(() -> read(process, port), "small-heap-output");
		reader.setDaemon(true);
		reader.start();
		service = new Service(port.get(60, TimeUnit.SECONDS));
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@AfterAll
	static void stop() throws InterruptedException {
		process.destroy();
		if (!process.waitFor(20, TimeUnit.SECONDS)) {
			process.destroyForcibly();
		}
		redis.flushall();
	}

	@Test
	void aMillionLinesFitIntoASmallHeap() {
		Counts counts = Answer.counts(service
			.upload("/v1/jobs?op=SET&concurrency=4&results=all", Service.NDJSON,
					Lines.of(MILLION,
							(i) -> "{\"key\":\"k" + i + "\",\"value\":\"value-" + i + "\",\"id\":\"" + i + "\"}"))
			.report());
		assertThat(counts).isEqualTo(new Counts(MILLION, MILLION, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(MILLION);
		assertThat(redis.get("k999999")).isEqualTo("value-999999");
		assertHealthy();
	}

	@Test
	void aMillionBadLinesFitIntoASmallHeap() {
		Counts counts = Answer
			.counts(service.upload("/v1/jobs", Service.NDJSON, Lines.of(MILLION, (i) -> "not a record " + i)).report());
		assertThat(counts).isEqualTo(new Counts(MILLION, 0, 0, MILLION, 0, 0));
		assertHealthy();
	}

	@Test
	void largeValuesFitIntoASmallHeap() {
		String value = "x".repeat(1_000_000);
		Counts counts = Answer.counts(service
			.upload("/v1/jobs?op=SET&concurrency=8&flush=close&batchSize=100000", Service.NDJSON,
					Lines.of(400, (i) -> "{\"key\":\"big" + (i % 10) + "\",\"value\":\"" + i + value + "\"}"))
			.report());
		assertThat(counts).isEqualTo(new Counts(400, 400, 0, 0, 0, 0));
		assertThat(redis.strlen("big9")).isEqualTo(1_000_003);
		assertHealthy();
	}

	@Test
	void anUploadLargerThanTheHeapWaitsForARedisThatIsPaused() throws Exception {
		String value = "x".repeat(100_000);
		CompletableFuture<Answer> upload = service
			.sendAsync(service.uploading("/v1/jobs?op=SET&concurrency=2", Service.NDJSON,
					Lines.of(4000, (i) -> "{\"key\":\"k" + (i % 100) + "\",\"value\":\"" + i + value + "\"}")));
		await().atMost(Duration.ofSeconds(30)).until(() -> redis.dbsize() > 10);
		redis.clientPause(3000);
		Counts counts = Answer.counts(upload.get(90, TimeUnit.SECONDS).report());
		assertThat(counts).isEqualTo(new Counts(4000, 4000, 0, 0, 0, 0));
		assertThat(redis.strlen("k99")).isEqualTo(100_004);
		assertHealthy();
	}

	private static void assertHealthy() {
		assertThat(process.isAlive()).isTrue();
		assertThat(String.join("\n", output)).doesNotContain("OutOfMemoryError");
		service.post("/pipeset/10").report();
	}

	private static void read(Process process, CompletableFuture<Integer> port) {
		try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				output.add(line);
				Matcher ready = READY.matcher(line);
				if (ready.find()) {
					port.complete(Integer.valueOf(ready.group(1)));
				}
			}
		}
		catch (IOException ex) {
			output.add(ex.toString());
		}
		finally {
			port.completeExceptionally(new IllegalStateException("The service ended:\n" + String.join("\n", output)));
		}
	}

}
