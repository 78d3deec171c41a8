package io.pipeset.web;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.OwnThread;
import io.pipeset.control.JobRecords;
import io.pipeset.job.JobRecorder;
import io.pipeset.job.JobRegistry;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Any instance answers for the asynchronous jobs of any other, by their records in the
 * control Redis; without it, jobs run all the same, and say so.
 */
@ServiceTest(properties = "pipeset.jobs.lease=1500ms")
class OtherInstanceTests {

	private static final TestRedis control = TestRedis.start();

	private static final FaultProxy proxy = FaultProxy.open(control);

	private static final String ENDLESS = "/v1/jobs?rateLimit=1";

	private static final String LINES = "[\"SET\",\"k\",\"v\"]\n".repeat(1000);

	private static Replica replica;

	private final RedisCommands<String, String> records = control.client();

	private final Service here;

	private final JobRegistry registry;

	private final JobRecorder recorder;

	OtherInstanceTests(Service service, @Autowired JobRegistry registry, @Autowired JobRecorder recorder) {
		this.here = service;
		this.registry = registry;
		this.recorder = recorder;
	}

	@DynamicPropertySource
	static void control(DynamicPropertyRegistry registry) {
		Replica.properties(control, proxy).forEach((name, value) -> registry.add(name, () -> value));
	}

	@BeforeAll
	static void startOther() {
		replica = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms");
	}

	@AfterAll
	static void end() {
		replica.close();
		proxy.close();
		control.close();
	}

	@BeforeEach
	void empty() {
		this.records.flushall();
		TestRedis.shared().client().flushall();
	}

	@AfterEach
	void heal() {
		proxy.heal();
		replica.proxy().heal();
		for (Service service : List.of(this.here, replica.service())) {
			service.get("/v1/jobs?state=running")
				.json()
				.get("jobs")
				.forEach((job) -> service.delete("/v1/jobs/" + job.get("jobId").asString()));
		}
	}

	@Test
	void aJobCanBeLookedAtFollowedPacedAndCancelledAnywhere() throws Exception {
		Answer taken = async(ENDLESS, LINES);
		String id = id(taken);
		assertThat(there(id).get("state").asString()).as("at once").isIn("queued", "running");
		await().untilAsserted(() -> {
			JsonNode look = there(id);
			assertThat(look.get("state").asString()).isEqualTo("running");
			assertThat(Answer.counts(look).applied()).isPositive();
			assertThat(look.at("/progress/share").asDouble()).isPositive();
			assertThat(look.at("/settings/rateLimit").asInt()).isOne();
			assertThat(look.get("instance").asString()).endsWith(":" + this.here.port());
		});
		Answer paced = replica.service().patch("/v1/jobs/" + id + "?rateLimit=2");
		assertThat(paced.status()).as(paced.text()).isEqualTo(202);
		await().untilAsserted(() -> assertThat(there(id).at("/settings/rateLimit").asInt()).isEqualTo(2));
		Answer running = replica.service().get("/v1/jobs/" + id);
		assertThat(running.header("Retry-After")).isEqualTo("1");
		assertThat(Examples.check(409, "held-elsewhere", replica.service().get("/v1/jobs/" + id + "/items"))
			.refusal(409, "held-elsewhere")).contains(running.json().get("instance").asString());
		Answer cancelled = replica.service().delete("/v1/jobs/" + id);
		assertThat(cancelled.status()).isEqualTo(202);
		assertThat(cancelled.header("Location")).isEqualTo("/v1/jobs/" + id);
		String events = replica.service().get("/v1/jobs/" + id + "/events").text();
		assertThat(events).startsWith("id:").contains("event:end", "\"state\":\"cancelled\"");
		JsonNode own = look(this.here, id);
		assertThat(own.get("state").asString()).isEqualTo("cancelled");
		assertSame(there(id), own);
		replica.service().delete("/v1/jobs/" + id).refusal(409, "ended");
		replica.service().patch("/v1/jobs/" + id + "?rateLimit=2").refusal(409, "ended");
	}

	@Test
	void jobsOfAllInstancesAreListedInPages() {
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			Answer taken = (i % 2 == 0) ? async("/pipeset/1", null)
					: replica.service().send(preferring(replica.service(), "/pipeset/1", null));
			ids.add(0, id(taken));
		}
		await().untilAsserted(() -> {
			for (Service service : List.of(this.here, replica.service())) {
				List<String> listed = new ArrayList<>();
				String after = "";
				while (after != null) {
					JsonNode found = service.get("/v1/jobs?state=completed&limit=2" + after).json();
					found.get("jobs").forEach((job) -> listed.add(job.get("jobId").asString()));
					after = (found.has("next")) ? "&after=" + found.get("next").asString() : null;
				}
				// Instances know jobs of other tests as well.
				assertThat(listed).containsSubsequence(ids).doesNotHaveDuplicates();
			}
		});
	}

	@Test
	void aStepThatIsUnderWayAtTheEndIsNotBrokenOffAndEachIsTakenOnce() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch goesOn = new CountDownLatch(1);
		AtomicBoolean brokenOff = new AtomicBoolean();
		AtomicInteger first = new AtomicInteger();
		AtomicInteger second = new AtomicInteger();
		Replica ending = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms");
		JobRecorder recorder = ending.bean(JobRecorder.class);
		recorder.later(() -> {
			if (first.getAndIncrement() == 0) {
				entered.countDown();
				try {
					goesOn.await();
				}
				catch (InterruptedException ex) {
					brokenOff.set(true);
				}
			}
		});
		recorder.later(second::incrementAndGet);
		assertThat(entered.await(1, TimeUnit.MINUTES)).isTrue();
		ThreadPoolTaskScheduler scheduler = (ThreadPoolTaskScheduler) ReflectionTestUtils.getField(recorder,
				"scheduler");
		CompletableFuture<Void> end = OwnThread.run(ending::close);
		await().until(() -> scheduler.getScheduledThreadPoolExecutor().isShutdown());
		goesOn.countDown();
		end.get(1, TimeUnit.MINUTES);
		assertThat(brokenOff).isFalse();
		assertThat(first).hasValue(1);
		assertThat(second).hasValue(1);
	}

	@Test
	void aJobWhoseCallerWaitsWritesNoControlKey() throws IOException {
		this.here.post("/pipeset/100").report();
		try (Wire wire = Wire.upload(this.here, "/v1/jobs?op=SET")) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			String id = this.here.awaitJob("running");
			assertThat(look(this.here, id).get("state").asString()).isEqualTo("running");
			replica.service().get("/v1/jobs/" + id).refusal(404, "not-found");
			wire.lastChunk().answer().report();
		}
		assertThat(keys()).isEmpty();
	}

	@Test
	void aReportThatIsSmallWhenCompressedIsRecordedWholeAndALargeOneWithoutItsLists() {
		String bad = "[\"NO\",\"k\"]\n".repeat(1000);
		String id = id(async("/v1/jobs", bad));
		await().untilAsserted(() -> assertThat(there(id).path("items")).hasSize(1000));
		assertSame(there(id), look(this.here, id));
		TestRedis.shared()
			.client()
			.rpush("mylist9", IntStream.range(0, 1000).mapToObj((i) -> random()).toArray(String[]::new));
		String popped = id(async("/piperpop/1000?reliable=true", null));
		await().untilAsserted(() -> assertThat(there(popped).get("state").asString()).isEqualTo("completed"));
		assertThat(look(this.here, popped).get("values")).hasSize(1000);
		assertThat(there(popped).has("values")).isFalse();
		assertThat(Answer.counts(there(popped)).applied()).isEqualTo(1000);
		assertThat(replica.service().post("/v1/jobs/" + popped + "/ack").status()).isEqualTo(204);
	}

	@Test
	void recordsExpire() {
		String id = id(async("/pipeset/1", null));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("completed"));
		assertThat(keys()).isNotEmpty().allMatch((key) -> key.startsWith("pipeset:"));
		for (String key : keys()) {
			assertThat(this.records.pttl(key)).as(key).isBetween(1L, Duration.ofHours(24).toMillis());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aJobBeginsAndEndsWithoutTheControlRedisAndIsRecordedAsSoonAsItIsBack(boolean silent) {
		id(async("/pipeset/1", null));
		if (silent) {
			proxy.stopAll();
		}
		else {
			control.kill();
		}
		Answer taken = async("/v1/jobs", "[\"SET\",\"a\",\"1\"]\n");
		String id = id(taken);
		assertThat(taken.json().at("/warnings/0/code").asString()).as(taken.text()).isEqualTo("NOT_RECORDED");
		await().untilAsserted(() -> {
			JsonNode own = look(this.here, id);
			assertThat(own.get("state").asString()).isEqualTo("completed");
			assertThat(own.at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED");
			assertThat(own.at("/warnings/0/detail").asString()).contains("control Redis at 127.0.0.1:",
					"cannot be reached");
		});
		assertThat(TestRedis.shared().client().get("a")).isEqualTo("1");
		assertThat(this.here.get("/v1/jobs/01a20347-d60e-7000-8000-000000000000").refusal(503, "control-unreachable"))
			.contains("cannot be reached");
		JsonNode list = this.here.get("/v1/jobs").json();
		assertThat(list.at("/jobs/0/jobId").asString()).isEqualTo(id);
		assertThat(list.at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED");
		assertThat(this.here.get("/actuator/pipeset").json().at("/control/state").asString()).isEqualTo("down");
		assertThat(this.here.get("/actuator/health").status()).isEqualTo(200);
		if (silent) {
			proxy.heal();
		}
		else {
			control.restart();
		}
		await().atMost(Duration.ofSeconds(30))
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("completed"));
		await().untilAsserted(() -> assertThat(look(this.here, id).has("warnings")).isFalse());
		assertThat(this.here.get("/actuator/pipeset").json().at("/control/state").asString()).isEqualTo("up");
	}

	@Test
	void aDryRunIsOneForAllInstancesFromItsUploadOn() throws Exception {
		try (Wire upload = Wire.post(this.here, "/v1/jobs?dryRun=true", "Prefer: respond-async", "Idempotency-Key: dry",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			upload.chunk("[");
			await().until(
					() -> replica.service().get("/v1/jobs?state=queued").json().at("/jobs/0/dryRun").asBoolean(false));
		}
		String dry = id(async("/v1/jobs?dryRun=true", LINES));
		String wet = id(async("/v1/jobs", LINES));
		await().untilAsserted(() -> {
			JsonNode jobs = replica.service().get("/v1/jobs?state=completed").json().get("jobs");
			assertThat(jobs.valueStream().map((job) -> job.get("jobId").asString())).startsWith(wet, dry);
			assertThat(jobs.get(0).has("dryRun")).isFalse();
			assertThat(jobs.get(1).get("dryRun").asBoolean()).isTrue();
		});
	}

	@Test
	void aJobWhoseInstanceIsNotHeardOfIsInterruptedUntilItIs() {
		String id = id(replica.service().send(preferring(replica.service(), ENDLESS, LINES)));
		await().untilAsserted(() -> assertThat(Answer.counts(look(this.here, id)).applied()).isPositive());
		replica.proxy().stopAll();
		await().untilAsserted(() -> {
			JsonNode look = look(this.here, id);
			assertThat(look.get("state").asString()).isEqualTo("interrupted");
			assertThat(look.at("/ending/type").asString()).isEqualTo("interrupted");
			assertThat(look.at("/ending/detail").asString()).contains(":" + replica.service().port());
			assertThat(Answer.counts(look).applied()).isPositive();
		});
		assertThat(this.here.get("/v1/jobs?state=interrupted").json().at("/jobs/0/jobId").asString()).isEqualTo(id);
		assertThat(this.here.get("/v1/jobs/" + id + "/events").text()).contains("event:end", "interrupted");
		this.here.delete("/v1/jobs/" + id).refusal(409, "ended");
		JsonNode own = look(replica.service(), id);
		assertThat(own.get("state").asString()).isEqualTo("running");
		await().untilAsserted(() -> assertThat(look(replica.service(), id).at("/warnings/0/code").asString())
			.isEqualTo("NOT_RECORDED"));
		replica.proxy().heal();
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("running"));
		this.here.delete("/v1/jobs/" + id);
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("cancelled"));
	}

	@Test
	void aJobThatEndsWithoutTheControlRedisIsRecordedAsSoonAsItIsBack() {
		String id = id(async(ENDLESS, LINES));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("running"));
		proxy.stopAll();
		this.here.delete("/v1/jobs/" + id);
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("cancelled"));
		await().untilAsserted(
				() -> assertThat(look(this.here, id).at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED"));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("interrupted"));
		proxy.heal();
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("cancelled"));
		await().untilAsserted(() -> assertSame(there(id), look(this.here, id)));
	}

	@Test
	void theRecordsOfAJobThatHadEndedAreGoneWithItsProcess() {
		String items;
		try (Replica ending = Replica.start(control, TestRedis.shared().properties())) {
			items = "/v1/jobs/" + id(ending.service().send(preferring(ending.service(), "/v1/jobs", "bad\n")))
					+ "/items";
			await().until(() -> ending.service().get(items).status() == 200);
			await().untilAsserted(() -> this.here.get(items).refusal(409, "held-elsewhere"));
		}
		assertThat(this.here.get(items).refusal(410, "gone")).contains("have gone with the process");
	}

	@Test
	void aJobThatRunsIsRecordedAnewIfTheControlRedisHasLostEverything() {
		String id = id(async(ENDLESS, LINES));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("running"));
		this.records.flushall();
		await().untilAsserted(() -> {
			Answer look = replica.service().get("/v1/jobs/" + id);
			assertThat(look.status()).isEqualTo(200);
			assertThat(look.json().get("state").asString()).isEqualTo("running");
		});
		replica.service().delete("/v1/jobs/" + id);
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("cancelled"));
	}

	@Test
	void aRecordOfAJobThatHasEndedIsNotWrittenAgainAfterAPause() throws InterruptedException {
		String ended = id(async("/pipeset/1", null));
		await().untilAsserted(() -> assertThat(there(ended).get("state").asString()).isEqualTo("completed"));
		this.records.select(1);
		this.records.pexpire("pipeset:job:" + ended, Duration.ofMinutes(5).toMillis());
		// The lease is over by then, if nobody renews it.
		TimeUnit.SECONDS.sleep(3);
		String next = id(async(ENDLESS, LINES));
		await()
			.untilAsserted(() -> assertThat(Answer.counts(there(next)).applied()).as("by the tick").isGreaterThan(2));
		assertThat(this.records.pttl("pipeset:job:" + ended)).isBetween(1L, Duration.ofMinutes(5).toMillis());
	}

	/** Instances of two versions may run side by side while one replaces the other. */
	@Test
	void aRecordThatThisVersionCannotReadIsLeftOut() {
		String known = id(async("/pipeset/1", null));
		await().untilAsserted(() -> assertThat(there(known).get("state").asString()).isEqualTo("completed"));
		this.records.select(1);
		String unknown = known.substring(0, known.length() - 1) + ((known.endsWith("0")) ? "1" : "0");
		this.records.copy("pipeset:job:" + known, "pipeset:job:" + unknown);
		this.records.zadd("pipeset:jobs", 0, unknown);
		this.records.hset("pipeset:job:" + unknown, "status", "{\"state\":\"hovering\"}");
		assertThat(replica.service().get("/v1/jobs").json().get("jobs").valueStream())
			.extracting((job) -> job.get("jobId").asString())
			.contains(known)
			.doesNotContain(unknown);
		assertThat(replica.service().get("/v1/jobs/" + unknown).status()).isEqualTo(404);
	}

	@Test
	void aRecordThatIsWrittenAsItsJobIsRefusedDoesNotOutliveIt() throws Exception {
		try (Replica full = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms",
				"pipeset.limits.max-running-jobs=1", "pipeset.limits.max-wait=10s");
				Wire runs = Wire.upload(full.service(), "/v1/jobs?op=SET")) {
			runs.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			full.service().awaitJob("running");
			CompletableFuture<Answer> waits = full.service()
				.sendAsync(full.service()
					.request("/pipeset/10000")
					.header("Idempotency-Key", "waits")
					.POST(BodyPublishers.noBody()));
			String id = full.service().awaitJob("queued");
			JobRecorder recorder = full.bean(JobRecorder.class);
			Object kept = ((Map<?, ?>) ReflectionTestUtils.getField(recorder, "jobs")).get(id);
			await("was met by the recorder").until(() -> ReflectionTestUtils.getField(kept, "job") != null);
			synchronized (kept) {
				await("writes it").until(() -> waitsFor(kept, "records-"));
				await("drops it").until(() -> waits.isDone() || waitsFor(kept, "http-"));
			}
			assertThat(waits.get(1, TimeUnit.MINUTES).refusal(429, "limit")).isNotEmpty();
			CountDownLatch later = new CountDownLatch(1);
			recorder.later(later::countDown);
			assertThat(later.await(1, TimeUnit.MINUTES)).isTrue();
			replica.service().get("/v1/jobs/" + id).refusal(404, "not-found");
			runs.lastChunk().answer().report();
		}
	}

	@Test
	void theRecordOfAJobThatWaitsForLongIsKept() throws Exception {
		try (Replica full = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms",
				"pipeset.limits.max-running-jobs=1"); Wire runs = Wire.upload(full.service(), "/v1/jobs?op=SET")) {
			ReflectionTestUtils.setField(full.bean(JobRecords.class), "retention", Duration.ofSeconds(3));
			runs.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			full.service().awaitJob("running");
			String id = id(full.service().send(preferring(full.service(), "/pipeset/10000", null)));
			long began = System.nanoTime();
			await("is known for longer than its record is kept").until(() -> {
				replica.service().get("/v1/jobs/" + id).json();
				assertThat(replica.service().get("/v1/jobs?state=queued").json().at("/jobs/0/jobId").asString())
					.isEqualTo(id);
				return System.nanoTime() - began > Duration.ofSeconds(5).toNanos();
			});
			runs.lastChunk().answer().report();
		}
	}

	@Test
	void whoFollowsAnUploadElsewhereHearsThatItIsGone() throws Exception {
		CompletableFuture<Answer> events;
		try (Wire upload = Wire.post(this.here, "/v1/jobs", "Prefer: respond-async", "Idempotency-Key: followed",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			upload.chunk("[");
			String id = replica.service().awaitJob("queued");
			events = replica.service().sendAsync(replica.service().request("/v1/jobs/" + id + "/events").GET());
			await().until(() -> replica.bean(JobEvents.class).count() == 1);
		}
		assertThat(events.get(1, TimeUnit.MINUTES).text()).contains("event:progress", "event:end",
				"not recorded any more");
	}

	@Test
	void aJobThatHasEndedIsRecordedBeforeTheConnectionIsClosed() throws Exception {
		Replica ending = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms");
		ExecutorService jobs = (ExecutorService) ReflectionTestUtils.getField(ending.bean(AsyncJobs.class), "threads");
		JobRecords there = ending.bean(JobRecords.class);
		there.renewLease();
		CountDownLatch goesOn = new CountDownLatch(1);
		CompletableFuture<Boolean> recorded = new CompletableFuture<>();
		jobs.execute(() -> {
			try {
				goesOn.await();
				recorded.complete(there.renewLease());
			}
			catch (InterruptedException | RuntimeException ex) {
				recorded.completeExceptionally(ex);
			}
		});
		CompletableFuture<Void> end = OwnThread.run(ending::close);
		await().until(() -> end.isDone() || Thread.getAllStackTraces()
			.values()
			.stream()
			.map(Arrays::toString)
			.anyMatch((stack) -> stack.contains("AsyncJobs.shutDown") && stack.contains("awaitTermination")));
		goesOn.countDown();
		assertThat(recorded.get(1, TimeUnit.MINUTES)).isTrue();
		end.get(1, TimeUnit.MINUTES);
	}

	private static boolean waitsFor(Object monitor, String threads) {
		return Stream.of(ManagementFactory.getThreadMXBean().dumpAllThreads(false, false))
			.anyMatch((thread) -> thread.getThreadName().startsWith(threads) && thread.getLockInfo() != null
					&& thread.getLockInfo().getIdentityHashCode() == System.identityHashCode(monitor));
	}

	@Test
	void aJobThatIsForgottenWhileTheControlRedisIsAwayIsForgottenByTheRecorder() {
		id(async("/pipeset/1", null));
		proxy.stopAll();
		String id = id(async("/pipeset/1", null));
		await().until(() -> look(this.here, id).get("state").asString().equals("completed"));
		((Map<?, ?>) ReflectionTestUtils.getField(this.registry, "jobs")).remove(id);
		proxy.heal();
		Map<?, ?> kept = (Map<?, ?>) ReflectionTestUtils.getField(this.recorder, "jobs");
		await().until(() -> !kept.containsKey(id));
	}

	@Test
	void theCommandsThatTheDocumentationNamesAreEnough() throws Exception {
		Matcher named = Pattern.compile("Its user needs ([A-Z, \\n]+) and PING on", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("docs/jobs.md")));
		assertThat(named.find()).isTrue();
		AclSetuserArgs user = AclSetuserArgs.Builder.on().addPassword("password").keyPattern("pipeset:*");
		for (String command : (named.group(1) + ",PING,INFO,SELECT").split("[, \\n]+", -1)) {
			user.addCommand(CommandType.valueOf(command));
		}
		this.records.aclSetuser("recorder", user);
		this.records.aclLogReset();
		try (Replica limited = Replica.start(control, TestRedis.shared().properties(), "pipeset.jobs.lease=1500ms",
				"pipeset.control.username=recorder", "pipeset.control.password=password")) {
			Service service = limited.service();
			String key = UUID.randomUUID().toString();
			for (int i = 0; i < 2; i++) {
				service.send(preferring(service, "/v1/jobs", "[\"SET\",\"k\",\"v\"]\n").header("Idempotency-Key", key));
				await().until(() -> service.get("/v1/jobs?state=completed").json().get("jobs").size() == 1);
			}
			service.send(preferring(service, "/pipeset/1?dryRun=true", null).header("Idempotency-Key", "another"));
			try (Wire broken = Wire.post(service, "/v1/jobs", "Prefer: respond-async", "Idempotency-Key: third",
					"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
				broken.chunk("[");
				await().until(() -> this.here.get("/v1/jobs?state=queued").json().get("jobs").size() == 1);
			}
			await().until(() -> this.here.get("/v1/jobs?state=queued").json().get("jobs").isEmpty());
			String runs = id(service.send(preferring(service, ENDLESS, LINES)));
			this.here.delete("/v1/jobs/" + runs);
			await().until(() -> look(this.here, runs).get("state").asString().equals("cancelled"));
			String asked = id(async(ENDLESS, LINES));
			assertThat(service.delete("/v1/jobs/" + asked).status()).isEqualTo(202);
		}
		assertThat(this.records.aclLog())
			.filteredOn((denied) -> !String.valueOf(denied.get("object")).contains("client"))
			.isEmpty();
	}

	@Test
	void anAnalysisIsRecordedAsWell() {
		String id = id(async("/v1/analyses", null));
		await().untilAsserted(() -> assertThat(there(id).path("keys").asLong(-1)).isZero());
		assertThat(there(id).get("state").asString()).isEqualTo("completed");
		id(async("/pipeset/1", null));
		assertThat(replica.service().get("/v1/jobs?kind=analysis").json().get("jobs").valueStream())
			.allMatch((job) -> job.get("kind").asString().equals("analysis"))
			.extracting((job) -> job.get("jobId").asString())
			.contains(id);
	}

	private Answer async(String call, @Nullable String body) {
		return this.here.send(preferring(this.here, call, body));
	}

	private static HttpRequest.Builder preferring(Service service, String call, @Nullable String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return (body != null) ? request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body))
				: request.POST(BodyPublishers.noBody());
	}

	private static String id(Answer taken) {
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		return taken.json().get("jobId").asString();
	}

	private static JsonNode there(String id) {
		return look(replica.service(), id);
	}

	private static JsonNode look(Service service, String id) {
		Answer answer = service.get("/v1/jobs/" + id);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return answer.json();
	}

	/** The same report, but for the name of the instance. */
	private static void assertSame(JsonNode recorded, JsonNode own) {
		ObjectNode without = (ObjectNode) new JsonMapper().readTree(recorded.toString());
		without.remove("instance");
		assertThat((JsonNode) without).isEqualTo(new JsonMapper().readTree(own.toString()));
	}

	private List<String> keys() {
		this.records.select(1);
		return this.records.keys("*");
	}

	private static String random() {
		return IntStream.range(0, 20).mapToObj((i) -> UUID.randomUUID().toString()).collect(Collectors.joining());
	}

}
