package io.pipeset.web.replica;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.OwnThread;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.JobRecords.Found;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.Progress;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.TwoInstances;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.ReflectionTestUtils;

import static io.pipeset.web.replica.AsyncCalls.ENDLESS;
import static io.pipeset.web.replica.AsyncCalls.LINES;
import static io.pipeset.web.replica.AsyncCalls.async;
import static io.pipeset.web.replica.AsyncCalls.id;
import static io.pipeset.web.replica.AsyncCalls.look;
import static io.pipeset.web.replica.AsyncCalls.preferring;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;
import static org.awaitility.Awaitility.await;

/**
 * Any instance answers for the asynchronous jobs of any other, by their records in the
 * control Redis.
 */
@ServiceTest(properties = "pipeset.jobs.lease=10s")
class OtherInstanceTests {

	@RegisterExtension
	static final TwoInstances two = TwoInstances.share(permitted(TestRedis.start()), "pipeset.jobs.lease=10s",
			"pipeset.control.username=recorder", "pipeset.control.password=password",
			"pipeset.limits.max-running-jobs=1", "pipeset.limits.max-wait=0s");

	private static final TestRedis control = two.control();

	private static final Replica replica = two.replica();

	private final RedisCommands<String, String> records = control.client();

	private final Service here;

	private final JobRecorder recorder;

	OtherInstanceTests(Service service, @Autowired JobRecorder recorder) {
		this.here = service;
		this.recorder = recorder;
	}

	/**
	 * The other instance runs one job at a time, and may do in the control Redis no more
	 * than it needs.
	 */
	private static TestRedis permitted(TestRedis control) {
		Matcher named = Pattern.compile("Its user needs ([A-Z, \\n]+) and PING on", Pattern.DOTALL)
			.matcher(contentOf(new File("docs/instances.md")));
		assertThat(named.find()).isTrue();
		AclSetuserArgs user = AclSetuserArgs.Builder.on().addPassword("password").keyPattern("pipeset:*");
		for (String command : (named.group(1) + ",PING,INFO,SELECT").split("[, \\n]+", -1)) {
			user.addCommand(CommandType.valueOf(command));
		}
		control.client().aclSetuser("recorder", user);
		control.client().aclLogReset();
		return control;
	}

	@AfterAll
	static void end() {
		replica.close();
		assertNothingWasDenied();
	}

	@BeforeEach
	void empty() {
		// A lease that was flushed by a test has all records written once more.
		for (JobRecorder recorder : List.of(this.recorder, replica.bean(JobRecorder.class))) {
			await().until(() -> AsyncCalls.kept(recorder)
				.values()
				.stream()
				.allMatch((kept) -> Boolean.TRUE.equals(ReflectionTestUtils.invokeMethod(kept, "isDone"))));
		}
		this.records.flushall();
	}

	@AfterEach
	void cancelAll() {
		AsyncCalls.cancelAll(this.here, replica.service());
		await("has its one place free")
			.until(() -> replica.service().get("/actuator/pipeset").json().get("jobsRunning").asInt() == 0);
	}

	@Test
	void aJobCanBeLookedAtFollowedPacedAndCancelledAnywhere() throws Exception {
		Answer taken = async(this.here, ENDLESS, LINES);
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
		AsyncCalls.assertSame(there(id), own);
		replica.service().delete("/v1/jobs/" + id).refusal(409, "ended");
		replica.service().patch("/v1/jobs/" + id + "?rateLimit=2").refusal(409, "ended");
	}

	@Test
	void jobsOfAllInstancesAreListedInPages() {
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			Answer taken = (i % 2 == 0) ? async(this.here, "/pipeset/1", null)
					: async(replica.service(), "/pipeset/1", null);
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

	/** Its jobs are neither read, nor are their ids told. */
	@Test
	void theListOfAClientCostsNothingOfTheJobsOfOthers() {
		JobRecords records = replica.bean(JobRecords.class);
		for (int i = 0; i < 300; i++) {
			records.write("many", status(JobState.RUNNING, i), null, false, true, null, null, null);
		}
		records.write("few: one", status(JobState.COMPLETED, 1000), null, false, true, null, null, null);
		this.records.configResetstat();
		assertThat(records.list("without jobs", null, null, null, 10)).isEqualTo(new Found(List.of(), null));
		assertThat(this.records.info("commandstats")).doesNotContain("cmdstat_hmget");
		Found found = records.list("few: one", JobState.RUNNING, null, null, 10);
		assertThat(found).isEqualTo(new Found(List.of(), null));
		assertThat(this.records.info("commandstats")).contains("cmdstat_hmget:calls=1,");
		assertThat(records.list("few: one", JobState.COMPLETED, null, null, 10).jobs()).hasSize(1);
		assertThat(records.list("many", null, null, null, 1000).jobs()).hasSize(300);
	}

	/** A job may run for days, and one that was resumed may be as old. */
	@Test
	void aJobThatIsOlderThanTheRetentionIsListedForAsLongAsItHasARecord() {
		JobRecords records = replica.bean(JobRecords.class);
		JobStatus old = status(JobState.RUNNING, -Duration.ofDays(3).toMillis());
		JobStatus young = status(JobState.RUNNING, 0);
		records.write("none", old, null, false, true, null, null, null);
		records.write("none", young, null, false, true, null, null, null);
		assertThat(ids(records)).containsExactly(young.jobId(), old.jobId());
		records.write("none", status(JobState.COMPLETED, -Duration.ofDays(3).toMillis()), null, false, true, null, null,
				null);
		records.write("none", status(JobState.COMPLETED, 0), null, false, true, null, null, null);
		assertThat(ids(records)).containsExactly(young.jobId(), old.jobId());
		assertThat(this.here.get("/v1/jobs?state=completed").text()).contains(old.jobId());
	}

	/**
	 * Its process, which may have been a former one of this instance, has kept nothing.
	 */
	@Test
	void aJobOfWhichAllRanHasNoItemsAndIsNotResumed() {
		JobRecords records = replica.bean(JobRecords.class);
		records.write("none", status(JobState.COMPLETED, 7), null, false, true, null, null, null);
		String job = "/v1/jobs/" + status(JobState.COMPLETED, 7).jobId();
		for (Service service : List.of(this.here, replica.service())) {
			Answer items = service.get(job + "/items");
			assertThat(items.status()).as(items.text()).isEqualTo(200);
			assertThat(items.text()).isEmpty();
			assertThat(service.post(job + "/resume").refusal(409, "not-interrupted")).contains("completed");
		}
	}

	@Test
	void anIdLeavesTheListWhenItsRecordHasExpired() {
		JobRecords records = replica.bean(JobRecords.class);
		for (boolean listed : List.of(true, false)) {
			for (int i = 0; i < 4; i++) {
				records.write("none", status(JobState.COMPLETED, i), null, false, true, null, null, null);
			}
			String last = status(JobState.RUNNING, 4).jobId();
			for (int i = 0; i < 4; i++) {
				this.records.del(key("job", status(JobState.COMPLETED, i).jobId()));
			}
			if (listed) {
				assertThat(ids(records)).isEmpty();
				assertThat(this.records.exists(key("jobs", "none"))).isZero();
			}
			else {
				records.write("none", status(JobState.COMPLETED, 4), null, false, true, null, null, null);
				records.tidy();
				assertThat(this.records.zrange(key("jobs", "none"), 0, -1)).containsExactly(last);
			}
		}
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
		String id = id(async(this.here, "/v1/jobs", bad));
		await().untilAsserted(() -> assertThat(there(id).path("items")).hasSize(1000));
		AsyncCalls.assertSame(there(id), look(this.here, id));
		TestRedis.shared()
			.client()
			.rpush("mylist9", IntStream.range(0, 1000).mapToObj((i) -> random()).toArray(String[]::new));
		String popped = id(async(this.here, "/piperpop/1000?reliable=true", null));
		await().untilAsserted(() -> assertThat(there(popped).get("state").asString()).isEqualTo("completed"));
		assertThat(look(this.here, popped).get("values")).hasSize(1000);
		assertThat(there(popped).has("values")).isFalse();
		assertThat(Answer.counts(there(popped)).applied()).isEqualTo(1000);
		assertThat(replica.service().post("/v1/jobs/" + popped + "/ack").status()).isEqualTo(204);
	}

	@Test
	void recordsExpire() {
		String id = id(async(this.here, "/pipeset/1", null));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("completed"));
		assertThat(keys()).isNotEmpty().allMatch((key) -> key.startsWith("pipeset:"));
		for (String key : keys()) {
			int hours = (key.startsWith("pipeset:jobs:")) ? 48 : 24;
			assertThat(this.records.pttl(key)).as(key).isBetween(1L, Duration.ofHours(hours).toMillis());
		}
	}

	@Test
	void aDryRunIsOneForAllInstancesFromItsUploadOn() throws Exception {
		try (Wire upload = Wire.post(this.here, "/v1/jobs?dryRun=true", "Prefer: respond-async", "Idempotency-Key: dry",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			upload.chunk("[");
			await().until(
					() -> replica.service().get("/v1/jobs?state=queued").json().at("/jobs/0/dryRun").asBoolean(false));
		}
		String dry = id(async(this.here, "/v1/jobs?dryRun=true", LINES));
		String wet = id(async(this.here, "/v1/jobs", LINES));
		await().untilAsserted(() -> {
			JsonNode jobs = replica.service().get("/v1/jobs?state=completed").json().get("jobs");
			assertThat(jobs.valueStream().map((job) -> job.get("jobId").asString())).startsWith(wet, dry);
			assertThat(jobs.get(0).has("dryRun")).isFalse();
			assertThat(jobs.get(1).get("dryRun").asBoolean()).isTrue();
		});
	}

	/** Instances of two versions may run side by side while one replaces the other. */
	@Test
	void aRecordThatThisVersionCannotReadIsLeftOut() {
		String known = id(async(this.here, "/pipeset/1", null));
		await().untilAsserted(() -> assertThat(there(known).get("state").asString()).isEqualTo("completed"));
		String unknown = known.substring(0, known.length() - 1) + ((known.endsWith("0")) ? "1" : "0");
		this.records.copy(key("job", known), key("job", unknown));
		this.records.zadd(key("jobs", "none"), 0, unknown);
		this.records.hset(key("job", unknown), "status", "{\"state\":\"hovering\"}");
		assertThat(replica.service().get("/v1/jobs").json().get("jobs").valueStream())
			.extracting((job) -> job.get("jobId").asString())
			.contains(known)
			.doesNotContain(unknown);
		assertThat(replica.service().get("/v1/jobs/" + unknown).status()).isEqualTo(404);
	}

	@Test
	void aRecordThatIsWrittenAsItsJobIsRefusedDoesNotOutliveIt() throws Exception {
		Service full = replica.service();
		ReentrantLock queue = (ReentrantLock) ReflectionTestUtils.getField(replica.bean("jobQueue"), "lock");
		try (Wire runs = Wire.upload(full, "/v1/jobs?op=SET")) {
			runs.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			full.awaitJob("running");
			CompletableFuture<Answer> refused;
			String id;
			// It is refused as soon as it reaches the queue.
			queue.lock();
			try {
				refused = full.sendAsync(full.request("/pipeset/10000")
					.header("Idempotency-Key", "refused")
					.POST(BodyPublishers.noBody()));
				id = full.awaitJob("queued");
				Object kept = AsyncCalls.kept(replica.bean(JobRecorder.class)).get(id);
				await("was met by the recorder").until(() -> ReflectionTestUtils.getField(kept, "job") != null);
				synchronized (kept) {
					await("writes it").until(() -> waitsFor(kept, "scheduling-"));
					queue.unlock();
					await("drops it").until(() -> refused.isDone() || waitsFor(kept, "http-"));
				}
			}
			finally {
				if (queue.isHeldByCurrentThread()) {
					queue.unlock();
				}
			}
			assertThat(refused.get(1, TimeUnit.MINUTES).refusal(429, "limit")).isNotEmpty();
			CountDownLatch later = new CountDownLatch(1);
			replica.bean(JobRecorder.class).later(later::countDown);
			assertThat(later.await(1, TimeUnit.MINUTES)).isTrue();
			this.here.get("/v1/jobs/" + id).refusal(404, "not-found");
			runs.lastChunk().answer().report();
		}
	}

	@Test
	void theRecordOfAJobThatWaitsForLongIsKept() throws Exception {
		try (Wire runs = Wire.upload(replica.service(), "/v1/jobs?op=SET")) {
			runs.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			replica.service().awaitJob("running");
			String id = id(async(replica.service(), "/pipeset/10000", null));
			Object kept = AsyncCalls.kept(replica.bean(JobRecorder.class)).get(id);
			for (int days = 0; days < 2; days++) {
				// As if most of a day had passed, and the list had lost what is older.
				this.records.expire(key("job", id), Duration.ofHours(11));
				this.records.zrem(key("jobs", "none"), id);
				synchronized (kept) {
					ReflectionTestUtils.setField(kept, "enteredNanos",
							System.nanoTime() - Duration.ofHours(13).toNanos());
				}
				await().untilAsserted(() -> {
					assertThat(this.records.ttl(key("job", id))).isGreaterThan(Duration.ofHours(23).toSeconds());
					assertThat(this.here.get("/v1/jobs?state=queued").json().at("/jobs/0/jobId").asString())
						.isEqualTo(id);
				});
				assertThat(look(this.here, id).get("state").asString()).isEqualTo("queued");
			}
			runs.lastChunk().answer().report();
		}
	}

	/** However many come while a body is on its way, they take no more memory. */
	@Test
	void ofTheChangesToAnUploadTheLastCounts() throws Exception {
		Service service = replica.service();
		try (Wire upload = Wire.post(service, ENDLESS, "Prefer: respond-async", "Idempotency-Key: paced",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			upload.chunk(LINES);
			String id = this.here.awaitJob("queued");
			for (int pace = 1; pace <= 20; pace++) {
				assertThat(this.here.patch("/v1/jobs/" + id + "?rateLimit=" + pace).status()).isEqualTo(202);
			}
			assertThat(this.records.hget(TestRedis.shared().controlKey("job", id), "pace")).isEqualTo("20");
			assertThat(upload.lastChunk().answer().status()).isEqualTo(202);
			await().untilAsserted(() -> assertThat(there(id).at("/settings/rateLimit").asInt()).isEqualTo(20));
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
			await().until(() -> Integer.valueOf(1)
				.equals(ReflectionTestUtils.invokeMethod(replica.bean("jobEvents"), "count")));
		}
		assertThat(events.get(1, TimeUnit.MINUTES).text()).contains("event:progress", "event:end",
				"not recorded any more");
	}

	/**
	 * The records of a job that had ended are gone with its process. One that ends only
	 * now is recorded before the connection is closed. A step that is under way is not
	 * broken off, and each is taken once.
	 */
	@Test
	void anInstanceThatEndsWaitsForItsJobsAndStepsAndTheRecordsOfItsJobsAreGone() throws Exception {
		Replica ending = Replica.start(control, TestRedis.shared().properties());
		String items = "/v1/jobs/" + id(async(ending.service(), "/v1/jobs", "bad\n")) + "/items";
		await().until(() -> ending.service().get(items).status() == 200);
		await().untilAsserted(() -> this.here.get(items).refusal(409, "held-elsewhere"));
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch stepGoesOn = new CountDownLatch(1);
		AtomicBoolean brokenOff = new AtomicBoolean();
		AtomicInteger first = new AtomicInteger();
		AtomicInteger second = new AtomicInteger();
		JobRecorder recorder = ending.bean(JobRecorder.class);
		recorder.later(() -> {
			if (first.getAndIncrement() == 0) {
				entered.countDown();
				try {
					stepGoesOn.await();
				}
				catch (InterruptedException ex) {
					brokenOff.set(true);
				}
			}
		});
		recorder.later(second::incrementAndGet);
		assertThat(entered.await(1, TimeUnit.MINUTES)).isTrue();
		ExecutorService jobs = (ExecutorService) ReflectionTestUtils.getField(ending.bean("asyncJobs"), "threads");
		JobRecords there = ending.bean(JobRecords.class);
		CountDownLatch jobGoesOn = new CountDownLatch(1);
		CompletableFuture<Boolean> recorded = new CompletableFuture<>();
		jobs.execute(() -> {
			try {
				jobGoesOn.await();
				there.exists("any");
				recorded.complete(true);
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
		jobGoesOn.countDown();
		assertThat(recorded.get(1, TimeUnit.MINUTES)).isTrue();
		await().until(() -> end.isDone() || Thread.getAllStackTraces()
			.values()
			.stream()
			.map(Arrays::toString)
			.anyMatch((stack) -> stack.contains("JobRecorder.shutDown") && stack.contains("JobRecorder.tick")));
		stepGoesOn.countDown();
		end.get(1, TimeUnit.MINUTES);
		assertThat(brokenOff).isFalse();
		assertThat(first).hasValue(1);
		assertThat(second).hasValue(1);
		assertThat(this.here.get(items).refusal(409, "held-elsewhere")).contains("pipeset.spool.directory", "DELETE");
	}

	private static boolean waitsFor(Object monitor, String threads) {
		return Stream.of(ManagementFactory.getThreadMXBean().dumpAllThreads(false, false))
			.anyMatch((thread) -> thread.getThreadName().startsWith(threads) && thread.getLockInfo() != null
					&& thread.getLockInfo().getIdentityHashCode() == System.identityHashCode(monitor));
	}

	@Test
	void theCommandsThatTheDocumentationNamesAreEnough() throws Exception {
		Service service = replica.service();
		String key = UUID.randomUUID().toString();
		Supplier<Answer> call = () -> service
			.send(preferring(service, "/v1/jobs", "[\"SET\",\"k\",\"v\"]\n").header("Idempotency-Key", key));
		String first = id(call.get());
		await().until(() -> look(service, first).get("state").asString().equals("completed"));
		await().untilAsserted(() -> assertThat(call.get().header("Idempotency-Replayed")).isEqualTo("true"));
		service.send(preferring(service, "/pipeset/1?dryRun=true", null).header("Idempotency-Key", "another"));
		try (Wire broken = Wire.post(service, "/v1/jobs", "Prefer: respond-async", "Idempotency-Key: third",
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			broken.chunk("[");
			await().until(() -> this.here.get("/v1/jobs?state=queued").json().get("jobs").size() == 1);
		}
		await().until(() -> this.here.get("/v1/jobs?state=queued").json().get("jobs").isEmpty());
		String runs = id(async(service, ENDLESS, LINES));
		this.here.delete("/v1/jobs/" + runs);
		await().until(() -> look(this.here, runs).get("state").asString().equals("cancelled"));
		String asked = id(async(this.here, ENDLESS, LINES));
		assertThat(service.delete("/v1/jobs/" + asked).status()).isEqualTo(202);
		assertNothingWasDenied();
	}

	@Test
	void anAnalysisIsRecordedAsWell() {
		String id = id(async(this.here, "/v1/analyses", null));
		await().untilAsserted(() -> assertThat(there(id).path("keys").asLong(-1)).isZero());
		assertThat(there(id).get("state").asString()).isEqualTo("completed");
		id(async(this.here, "/pipeset/1", null));
		assertThat(replica.service().get("/v1/jobs?kind=analysis").json().get("jobs").valueStream())
			.allMatch((job) -> job.get("kind").asString().equals("analysis"))
			.extracting((job) -> job.get("jobId").asString())
			.contains(id);
	}

	private static void assertNothingWasDenied() {
		assertThat(control.client().aclLog())
			.filteredOn((denied) -> !String.valueOf(denied.get("object")).contains("client"))
			.isEmpty();
	}

	private static JsonNode there(String id) {
		return look(replica.service(), id);
	}

	private List<String> keys() {
		return this.records.keys("*");
	}

	private static String key(String kind, String name) {
		return TestRedis.shared().controlKey(kind, name);
	}

	/** A job that was made some milliseconds after the others. */
	private static JobStatus status(JobState state, long millis) {
		long createdMillis = 1_795_386_361_749L + millis;
		String id = new UUID((createdMillis << 16) | 0x7000, 0x8000000000000000L).toString();
		boolean ended = !state.isActive();
		return new JobStatus(id, JobKind.RECORDS, "SET", null, null, state, createdMillis,
				(ended) ? (Long) System.currentTimeMillis() : null, new Counts(0, 0, 0, 0, 0, 0),
				new Progress(0, 0, null, null, 0, 0, 0, null), null);
	}

	private static List<String> ids(JobRecords records) {
		return records.list("none", null, null, null, 10)
			.jobs()
			.stream()
			.map((record) -> record.status().jobId())
			.toList();
	}

	private static String random() {
		return IntStream.range(0, 20).mapToObj((i) -> UUID.randomUUID().toString()).collect(Collectors.joining());
	}

}
