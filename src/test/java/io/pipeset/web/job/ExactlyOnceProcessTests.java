package io.pipeset.web.job;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

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

/**
 * Jobs with {@code exactlyOnce} are finished after the end of their process or of Redis,
 * by themselves or by a repeat of their request, and run no record twice.
 */
@ProcessTest
class ExactlyOnceProcessTests {

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

	@Test
	void anUploadIsFinishedAfterEachKillOfItsProcess() throws Exception {
		String location = null;
		for (int kill = 1; kill <= 3; kill++) {
			try (ServiceProcess process = start()) {
				location = (location != null) ? location : load(process.service());
				int ran = kill * RECORDS / 4;
				await().until(() -> sum() >= ran);
				process.kill();
			}
		}
		try (ServiceProcess last = start()) {
			String job = String.valueOf(location);
			await().until(() -> state(last.service(), job).equals("completed"));
			JsonNode report = last.service().get(job).json();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(sum()).isEqualTo(RECORDS);
			assertThat(last.service().get(job + "/items").text()).isEmpty();
		}
	}

	@Test
	void aKilledRequestIsFinishedByItsRepeat() throws Exception {
		CompletableFuture<@Nullable Answer> first;
		try (ServiceProcess process = start()) {
			first = send(process.service(), "&rateLimit=5000", records()).exceptionally((ex) -> null);
			await().until(() -> sum() >= RECORDS / 4);
			process.kill();
		}
		assertThat(first.get(1, TimeUnit.MINUTES)).isNull();
		long ran = sum();
		try (ServiceProcess next = start()) {
			await().until(
					() -> send(next.service(), "&rateLimit=5000", records()).get(1, TimeUnit.MINUTES).status() != 409);
			Answer answer = send(next.service(), "&rateLimit=5000", records()).get(1, TimeUnit.MINUTES);
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(answer.header("Idempotency-Replayed")).isEqualTo("true");
			assertThat(sum()).isEqualTo(RECORDS);
			assertThat(ran).isLessThan(RECORDS);
			assertThat(answer.json().at("/warnings/0/code").asString()).isEqualTo("REPLIES_LOST");
		}
	}

	@Test
	void aRepeatWithOtherRecordsIsRefused() throws Exception {
		try (ServiceProcess process = start()) {
			CompletableFuture<@Nullable Answer> unused = send(process.service(), "&rateLimit=5000", records())
				.exceptionally((ex) -> null);
			await().until(() -> sum() >= RECORDS / 4);
			process.kill();
		}
		try (ServiceProcess next = start()) {
			Answer answer = await().until(
					() -> send(next.service(), "&rateLimit=5000",
							Lines.of(RECORDS, (i) -> "[\"INCR\",\"m" + i % 100 + "\"]"))
						.get(1, TimeUnit.MINUTES),
					(repeat) -> repeat.status() != 409);
			assertThat(Answer.counts(answer.job(422, "idempotency-key-reused", "interrupted")).unknown()).isZero();
			assertThat(redis.client().keys("m*")).isEmpty();
			Answer right = send(next.service(), "&rateLimit=5000", records()).get(1, TimeUnit.MINUTES);
			assertThat(right.status()).as(right.text()).isEqualTo(200);
			assertThat(sum()).isEqualTo(RECORDS);
		}
	}

	/**
	 * When the first process wakes up, its connections are closed, and it is no owner.
	 */
	@Test
	void aPausedProcessRunsNothingAfterItsJobWasFinishedElsewhere() throws Exception {
		try (ServiceProcess paused = start(); ServiceProcess other = start()) {
			CompletableFuture<Answer> first = send(paused.service(), "&rateLimit=5000&retries=3", records());
			await().until(() -> sum() >= RECORDS / 4);
			paused.pause();
			Answer answer = await().until(
					() -> send(other.service(), "&rateLimit=5000&retries=3", records()).get(1, TimeUnit.MINUTES),
					(repeat) -> repeat.status() != 409);
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			paused.goOn();
			JsonNode job = first.get(1, TimeUnit.MINUTES).json().get("job");
			assertThat(job.at("/state").asString()).isEqualTo("interrupted");
			assertThat(sum()).isEqualTo(RECORDS);
		}
	}

	@Test
	void anUploadGoesOnByItselfWhenRedisIsBack() throws Exception {
		try (ServiceProcess process = start()) {
			String location = load(process.service());
			await().until(() -> sum() >= RECORDS / 4);
			redis.kill();
			await().until(() -> state(process.service(), location).equals("interrupted"));
			redis.restart();
			await().until(() -> state(process.service(), location).equals("completed"));
			assertThat(Answer.counts(process.service().get(location).json()))
				.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(sum()).isEqualTo(RECORDS);
		}
	}

	@Test
	void aRepeatOfAnUploadThatWasInterruptedAndWentOnGetsItsReport() throws Exception {
		try (ServiceProcess process = start()) {
			String location = load(process.service());
			await().until(() -> sum() >= RECORDS / 4);
			redis.kill();
			await().until(() -> state(process.service(), location).equals("interrupted"));
			redis.restart();
			await().until(() -> state(process.service(), location).equals("completed"));
			Answer repeat = await().until(() -> accept(process.service()), (answer) -> answer.status() != 409);
			assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
			assertThat(Answer.counts(repeat.report())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(sum()).isEqualTo(RECORDS);
		}
	}

	/** What Redis has lost is run again, because its mark has lost it as well. */
	@Test
	void anUploadThatRedisHasLostInPartIsRunAgain() throws Exception {
		try (TestRedis forgetful = TestRedis.start("save \"\""); ServiceProcess process = start(forgetful)) {
			String location = load(process.service());
			await().until(() -> sum(forgetful) >= RECORDS / 4);
			forgetful.client().save();
			long saved = sum(forgetful);
			await().until(() -> sum(forgetful) >= saved + 1000);
			forgetful.kill();
			forgetful.restart();
			await().untilAsserted(() -> assertThat(process.service().get(location).text()).contains("\"completed\""));
			assertThat(Answer.counts(process.service().get(location).json()))
				.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(sum(forgetful)).isEqualTo(RECORDS);
		}
	}

	private ServiceProcess start() throws Exception {
		return start(redis);
	}

	private ServiceProcess start(TestRedis data) throws Exception {
		return ServiceProcess.start(data,
				Stream
					.concat(Stream.of("--pipeset.spool.directory=" + this.spool, "--pipeset.jobs.resume=auto",
							"--pipeset.jobs.lease=2s"),
							control.controlProperties().entrySet().stream().map((property) -> "--" + property))
					.toArray(String[]::new));
	}

	private static String load(Service service) {
		return accept(service).header("Location");
	}

	private static Answer accept(Service service) {
		return service
			.send(service.uploading("/v1/jobs?exactlyOnce=true&batchSize=50&rateLimit=5000", Service.NDJSON, records())
				.header("Idempotency-Key", "async")
				.header("Prefer", "respond-async"));
	}

	private static CompletableFuture<Answer> send(Service service, String settings, InputStream records) {
		return service
			.sendAsync(service.uploading("/v1/jobs?exactlyOnce=true&batchSize=50" + settings, Service.NDJSON, records)
				.header("Idempotency-Key", "once"));
	}

	private static InputStream records() {
		return Lines.of(RECORDS, (i) -> "[\"INCR\",\"n" + i % 100 + "\"]");
	}

	private static long sum() {
		return sum(redis);
	}

	private static long sum(TestRedis data) {
		long sum = 0;
		for (int i = 0; i < 100; i++) {
			String value = data.client().get("n" + i);
			sum += (value != null) ? Long.parseLong(value) : 0;
		}
		return sum;
	}

	private static String state(Service service, String location) {
		return service.get(location).json().at("/state").asString();
	}

}
