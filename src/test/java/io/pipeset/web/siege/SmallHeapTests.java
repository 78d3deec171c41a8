package io.pipeset.web.siege;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The memory that the service takes does not depend on the size of a job. What the heap
 * has beside the service itself is a quarter of what the image's has, and so are the jobs
 * that do not fit into it.
 */
@ProcessTest
class SmallHeapTests {

	private static final int RECORDS = 300_000;

	private static final int JOBS = 600;

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static ServiceProcess process;

	private static Service service;

	@BeforeAll
	static void start() throws Exception {
		process = ServiceProcess.start(TestRedis.shared(), "-Xmx96m", "--pipeset.limits.max-popped-bytes=1MB",
				"--pipeset.limits.max-async-jobs=" + JOBS, "--pipeset.security.scripts=true");
		service = process.service();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@AfterAll
	static void stop() {
		process.close();
		redis.flushall();
	}

	@Test
	void manyLinesFitIntoASmallHeapAndAreAllAccountedFor() {
		redis.set("k150000", "a string");
		JsonNode report = service
			.upload("/v1/jobs?op=HSET&concurrency=4", Service.NDJSON,
					Lines.of(RECORDS,
							(i) -> (i % 30_000 == 7) ? "bad"
									: "{\"key\":\"k" + i + "\",\"fields\":{\"n\":" + i + "},\"id\":\"" + i + "\"}"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(RECORDS, RECORDS - 11, 0, 11, 0, 0));
		assertThat(report.get("items")).hasSize(11);
		assertThat(report.at("/items/5/index").asInt()).isEqualTo(150_000);
		assertThat(report.at("/items/5/id").asString()).isEqualTo("150000");
		assertThat(redis.dbsize()).isEqualTo(RECORDS - 10);
		assertThat(redis.hget("k299999", "n")).isEqualTo("299999");
		assertHealthy();
	}

	@Test
	void manyLinesOfAnAsynchronousJobFitIntoASmallHeap() {
		Answer answer = service.send(service
			.uploading("/v1/jobs?op=SET&concurrency=4&results=all", Service.NDJSON,
					Lines.of(RECORDS, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"value-" + i + "\"}"))
			.header("Prefer", "respond-async"));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		String job = answer.header("Location");
		await().until(() -> service.get(job).headers().firstValue("Retry-After").isEmpty());
		assertThat(Answer.counts(service.get(job).json())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(RECORDS);
		assertHealthy();
	}

	@Test
	void manyFailuresOfAnAsynchronousJobAreDownloadedFromASmallHeap() throws Exception {
		redis.set("taken", "a string");
		Answer answer = service.send(service
			.uploading("/v1/jobs?op=HSET&coalesce=off", Service.NDJSON,
					Lines.of(RECORDS, (i) -> "{\"key\":\"taken\",\"fields\":{\"n\":" + i + "}}"))
			.header("Prefer", "respond-async"));
		String job = answer.header("Location");
		await().until(() -> service.get(job).headers().firstValue("Retry-After").isEmpty());
		HttpResponse<Stream<String>> items = HttpClient.newHttpClient()
			.send(service.request(job + "/items").GET().build(), HttpResponse.BodyHandlers.ofLines());
		AtomicInteger next = new AtomicInteger();
		items.body().forEach((line) -> {
			String index = "\"index\":" + next.getAndIncrement() + ",";
			if (!line.contains(index) || !line.contains("WRONGTYPE")) {
				assertThat(line).contains(index, "WRONGTYPE");
			}
		});
		assertThat(next).hasValue(RECORDS);
		assertHealthy();
	}

	@Test
	void failuresAheadOfARecordThatDoesNotFitIntoTheHeapAreDownloaded() {
		String job = async(service.uploading("/v1/jobs", Service.NDJSON,
				Lines.of(3, (i) -> (i != 1) ? "bad" : "[\"SET\",\"large\",\"" + "x".repeat(5_000_000) + "\"]")));
		await().until(() -> service.get(job).headers().firstValue("Retry-After").isEmpty());
		assertThat(service.get(job).text()).contains("Record 1 cannot be read");
		Answer items = service.get(job + "/items?status=rejected");
		assertThat(items.status()).as(items.text()).isEqualTo(200);
		assertThat(items.text().lines()).satisfiesExactly(
				(line) -> assertThat(line).contains("MALFORMED", "\"index\":0,"),
				(line) -> assertThat(line).startsWith("{\"error\":{\"status\":\"unprocessed\",\"code\":\"TOO_LARGE\",")
					.contains("The list ends here, because the record takes", "pipeset.memory.budget", "\"index\":1}"));
		assertHealthy();
	}

	@Test
	void manyAsynchronousJobsAtOnceFitIntoASmallHeap() {
		List<String> endless = IntStream.range(0, 64)
			.mapToObj((i) -> async(service.request("/pipeset/100000?rateLimit=1").POST(BodyPublishers.noBody())))
			.toList();
		List<String> waiting = IntStream.range(0, JOBS - endless.size())
			.mapToObj((job) -> async(service.uploading("/v1/jobs?op=SET&rateLimit=1000000", Service.NDJSON,
					Lines.of(100, (i) -> "{\"key\":\"k" + job + ":" + i + "\",\"value\":\"v\"}"))))
			.toList();
		JsonNode jobs = service.get("/v1/jobs?state=queued&limit=" + JOBS).json().get("jobs");
		assertThat(jobs.size()).isGreaterThanOrEqualTo(waiting.size());
		endless.forEach((job) -> assertThat(service.delete(job).status()).isEqualTo(202));
		// Redis is asked at less cost than the service.
		await().atMost(Duration.ofMinutes(5)).until(() -> redis.exists("k" + (waiting.size() - 1) + ":99") == 1);
		await().until(() -> service.get("/v1/jobs?state=queued").json().get("jobs").isEmpty()
				&& service.get("/v1/jobs?state=running").json().get("jobs").isEmpty());
		JsonNode completed = service.get("/v1/jobs?state=completed&limit=" + JOBS).json().get("jobs");
		assertThat(completed.valueStream().filter((job) -> waiting.contains("/v1/jobs/" + job.get("jobId").asString())))
			.hasSize(waiting.size())
			.allSatisfy((job) -> assertThat(Answer.counts(job)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0)));
		for (int job : new int[] { 0, waiting.size() / 2, waiting.size() - 1 }) {
			assertThat(Answer.counts(service.get(waiting.get(job)).json())).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		}
		assertThat(redis.keys("k*:*")).hasSize(100 * waiting.size());
		assertHealthy();
	}

	@Test
	void manyBadLinesFitIntoASmallHeap() {
		Counts counts = Answer
			.counts(service.upload("/v1/jobs", Service.NDJSON, Lines.of(RECORDS, (i) -> "not a record " + i)).report());
		assertThat(counts).isEqualTo(new Counts(RECORDS, 0, 0, RECORDS, 0, 0));
		assertHealthy();
	}

	@Test
	void largeValuesFitIntoASmallHeap() {
		String value = "x".repeat(1_000_000);
		Counts counts = Answer.counts(service
			.upload("/v1/jobs?op=SET&concurrency=8&flush=close&batchSize=100000", Service.NDJSON,
					Lines.of(120, (i) -> "{\"key\":\"big" + (i % 10) + "\",\"value\":\"" + i + value + "\"}"))
			.report());
		assertThat(counts).isEqualTo(new Counts(120, 120, 0, 0, 0, 0));
		assertThat(redis.strlen("big9")).isEqualTo(1_000_003);
		assertHealthy();
	}

	@Test
	void anUploadLargerThanTheHeapWaitsForARedisThatIsPaused() throws Exception {
		String value = "x".repeat(100_000);
		TestRedis.shared().pauseWrites();
		CompletableFuture<Answer> upload = service
			.sendAsync(service.uploading("/v1/jobs?op=SET&concurrency=2&timeout=60s", Service.NDJSON,
					Lines.of(1200, (i) -> "{\"key\":\"k" + (i % 100) + "\",\"value\":\"" + i + value + "\"}")));
		awaitStandstill();
		Counts counts = Answer.counts(upload.get(90, TimeUnit.SECONDS).report());
		assertThat(counts).isEqualTo(new Counts(1200, 1200, 0, 0, 0, 0));
		assertThat(redis.strlen("k99")).isEqualTo(100_004);
		assertHealthy();
	}

	@Test
	void commandsWrittenOneByOneToARedisThatIsPausedFitIntoASmallHeap() throws Exception {
		TestRedis.shared().pauseWrites();
		CompletableFuture<Answer> pushes = service
			.sendAsync(service.request("/listinput/list?count=30000&flush=each&results=none&timeout=60s")
				.POST(BodyPublishers.noBody()));
		awaitStandstill();
		Counts counts = Answer.counts(pushes.get(90, TimeUnit.SECONDS).report());
		assertThat(counts).isEqualTo(new Counts(30_000, 30_000, 0, 0, 0, 0));
		assertThat(redis.llen("list")).isEqualTo(30_000);
		assertHealthy();
	}

	@Test
	void manyUploadsAtOnceFitIntoASmallHeap() {
		new Siege(process, TestRedis.shared()).uploads(30, 100, 10_000, "&concurrency=4");
	}

	@Test
	void largePopsAtOnceFitIntoASmallHeap() {
		new Siege(process, TestRedis.shared()).pops(4, 900, 10_000, "900");
	}

	@Test
	void aListLargerThanTheHeapIsPoppedAsFarAsTheLimitAllows() {
		Siege.push(redis, "queue", 10_200, 10_000);
		Answer answer = service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",\"10200\"]");
		JsonNode job = answer.job(422, "stopped", "stopped");
		int popped = job.at("/items/0/reply").size();
		assertThat(popped).isEqualTo((1 << 20) / 10_000);
		assertThat(redis.llen("queue")).isEqualTo(10_200 - popped);
		assertHealthy();
	}

	@Test
	void errorsLargerThanTheHeapFitIntoIt() {
		String sha = service
			.post("/v1/scripts", "text/plain", "return redis.error_reply('BIG ' .. string.rep('x', 2000000))")
			.json()
			.get("sha")
			.asString();
		Answer answer = service.upload("/v1/jobs?flush=close&timeout=2m", Service.NDJSON,
				Lines.of(25, (i) -> "[\"EVALSHA\",\"" + sha + "\",1,\"k\"]"));
		assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(25, 0, 0, 25, 0, 0));
		assertThat(answer.text()).hasSizeLessThan(100_000);
		assertHealthy();
	}

	private static String async(HttpRequest.Builder request) {
		Answer answer = service.send(request.header("Prefer", "respond-async"));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location");
	}

	/** Holds all writes to Redis back until the service takes in no more. */
	private static void awaitStandstill() {
		service.awaitStandstill();
		TestRedis.shared().resumeWrites();
	}

	private static void assertHealthy() {
		assertThat(process.isAlive()).isTrue();
		assertThat(String.join("\n", process.output())).doesNotContain("OutOfMemoryError");
		service.post("/pipeset/10").report();
	}

}
