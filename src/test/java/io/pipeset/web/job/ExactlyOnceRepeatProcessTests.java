package io.pipeset.web.job;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Several processes meet the repeats of one request with {@code exactlyOnce}. */
@ProcessTest
class ExactlyOnceRepeatProcessTests {

	private static final int RECORDS = 20_000;

	private static TestRedis redis;

	private static TestRedis control;

	@TempDir
	Path spool;

	@BeforeAll
	static void startRedis() {
		redis = TestRedis.start("appendonly yes", "appendfsync always", "save \"\"");
		control = TestRedis.start();
	}

	@AfterAll
	static void endRedis() {
		redis.close();
		control.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		control.client().flushall();
	}

	/** Two repeats at two processes at once. */
	@Test
	void twoRepeatsAtOnceRunNothingTwice() throws Exception {
		ServiceProcess first = start("a", "--pipeset.jobs.lease=1s");
		CompletableFuture<@Nullable Answer> killed = send(first.service()).exceptionally((ex) -> null);
		await().until(() -> sum() >= RECORDS / 4);
		first.kill();
		killed.get(1, TimeUnit.MINUTES);
		try (ServiceProcess second = start("b", "--pipeset.jobs.lease=1s");
				ServiceProcess third = start("c", "--pipeset.jobs.lease=1s")) {
			await().pollDelay(2, TimeUnit.SECONDS).until(() -> true);
			List<CompletableFuture<Answer>> both = List.of(send(second.service()), send(third.service()));
			List<Answer> answers = new ArrayList<>();
			for (CompletableFuture<Answer> one : both) {
				answers.add(one.get(1, TimeUnit.MINUTES));
			}
			Answer last = await().until(() -> send(third.service()).get(1, TimeUnit.MINUTES),
					(answer) -> answer.status() != 409);
			assertThat(sum()).isEqualTo(RECORDS);
			assertThat(Answer.counts(last.json())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			for (Answer answer : answers) {
				JsonNode json = (answer.json().has("job")) ? answer.json().get("job") : answer.json();
				if (json.has("counts")) {
					assertThat(Answer.counts(json).unknown()).as(answer.text()).isZero();
				}
			}
		}
	}

	/** An ordinary upload is shown as ever when its process is terminated. */
	@Test
	void anOrdinaryUploadSaysThatTheServiceShutsDown() throws Exception {
		String location;
		try (ServiceProcess first = start("a", "--pipeset.limits.shutdown-grace=1s")) {
			location = first.service()
				.send(first.service()
					.uploading("/v1/jobs?rateLimit=1000", Service.NDJSON, records())
					.header("Prefer", "respond-async"))
				.header("Location");
			await().until(() -> sum() >= 500);
			first.terminate();
			first.awaitEnd();
		}
		String id = location.substring(location.lastIndexOf('/') + 1);
		String record = control.client().keys("*").toString();
		try (RedisClient client = RedisClient.create(control.controlUri())) {
			for (String key : client.connect().sync().keys("*" + id)) {
				record += client.connect().sync().hgetall(key);
			}
		}
		assertThat(record).contains("shutting down");
	}

	@Test
	void aTerminatedRequestWithAKeyIsFinishedByItsRepeat() throws Exception {
		try (ServiceProcess process = start("a", "--pipeset.limits.shutdown-grace=1s")) {
			CompletableFuture<@Nullable Answer> answer = send(process.service());
			await().until(() -> sum() >= RECORDS / 4);
			process.terminate();
			assertThat(answer.get(1, TimeUnit.MINUTES)).isNotNull();
			process.awaitEnd();
		}
		try (ServiceProcess next = start("b")) {
			Answer last = await().until(() -> send(next.service()).get(1, TimeUnit.MINUTES),
					(answer) -> answer.status() != 409);
			assertThat(last.status()).as(last.text()).isEqualTo(200);
			assertThat(sum()).isEqualTo(RECORDS);
		}
	}

	/** Each lane holds a connection while it notes it with another one. */
	@Test
	void lanesThatHaveAllConnectionsDoNotWaitForEachOther() throws Exception {
		try (ServiceProcess process = start("a", "--pipeset.pipeline.max-connections=1")) {
			Answer answer = process.service()
				.upload("/v1/jobs?exactlyOnce=true&batchSize=50&concurrency=4&timeout=3s", Service.NDJSON, records());
			assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		}
	}

	private ServiceProcess start(String folder, String... properties) throws Exception {
		return ServiceProcess.start(redis,
				Stream
					.concat(Stream.concat(Stream.of("--pipeset.spool.directory=" + this.spool.resolve(folder),
							"--pipeset.jobs.resume=manual"), Stream.of(properties)),
							control.controlProperties().entrySet().stream().map((property) -> "--" + property))
					.toArray(String[]::new));
	}

	private static CompletableFuture<Answer> send(Service service) {
		return service.sendAsync(
				service.uploading("/v1/jobs?exactlyOnce=true&batchSize=50&rateLimit=5000", Service.NDJSON, records())
					.header("Idempotency-Key", "once"));
	}

	private static InputStream records() {
		return Lines.of(RECORDS, (i) -> "[\"INCR\",\"n" + i % 100 + "\"]");
	}

	private static long sum() {
		long sum = 0;
		for (int i = 0; i < 100; i++) {
			String value = redis.client().get("n" + i);
			sum += (value != null) ? Long.parseLong(value) : 0;
		}
		return sum;
	}

}
