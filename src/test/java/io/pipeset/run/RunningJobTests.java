package io.pipeset.run;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneRig;
import io.pipeset.engine.script.ScriptProperties;
import io.pipeset.engine.script.Scripts;
import io.pipeset.input.BodyEncoding;
import io.pipeset.input.Caller;
import io.pipeset.input.InputProgress;
import io.pipeset.input.JobInput;
import io.pipeset.input.UploadedRecords;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.ReportDraft;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.RecordReader;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Outcome;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.Client;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import io.pipeset.request.RateLimit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The report of a running job always accounts for all records read so far. */
class RunningJobTests {

	private static final JobLimits limits = new Binder().bindOrCreate("pipeset.limits", JobLimits.class);

	/** Refuses scripts without asking Redis. */
	private static final Client anybody = Client.anybody(false);

	private static final Scripts scripts = new Scripts(
			new Binder().bindOrCreate("pipeset.scripts", ScriptProperties.class), null);

	private static TestRedis redis;

	private static LaneRig rig;

	private final ExecutorService thread = Executors.newSingleThreadExecutor();

	/** Released to let the input continue. */
	private final CountDownLatch inputContinues = new CountDownLatch(1);

	/** Released when the input is about to wait. */
	private final CountDownLatch inputWaits = new CountDownLatch(1);

	/** The number of records that were read from the input. */
	private int read;

	@BeforeAll
	static void open() {
		redis = TestRedis.start();
		rig = new LaneRig(redis.properties());
	}

	@AfterAll
	static void close() {
		rig.close();
		redis.close();
	}

	@BeforeEach
	void empty() {
		redis.client().flushall();
	}

	@AfterEach
	void end() {
		this.inputContinues.countDown();
		this.thread.shutdown();
	}

	@Test
	void aJobThatWaitsForItsBodyReportsItsOutcomesSoFar() throws Exception {
		TestJob job = new TestJob(1000, false, new UploadedRecords(new HeldBody("""
				["SET","a","1"]
				["SET"]
				["SET","a","2","NX"]
				"""), -1, BodyEncoding.IDENTITY, RecordFormat.NDJSON, StandardCharsets.UTF_8, null));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		JobReport report = await().until(() -> job.running.snapshot(JobState.RUNNING),
				// A lane reports the sent bytes of a batch last.
				(snapshot) -> snapshot.counts().equals(new Counts(3, 1, 1, 1, 0, 0))
						&& snapshot.sent().bytesSent() > 0);
		assertThat(report.jobId()).isEqualTo(job.running.id());
		assertThat(report.state()).isEqualTo(JobState.RUNNING);
		assertThat(report.input().inputComplete()).isFalse();
		assertThat(report.input().nextIndex()).isEqualTo(3);
		assertThat(report.items()).singleElement().satisfies((item) -> assertThat(item.index()).isOne());
		assertThat(report.itemsOmitted()).isZero();
		assertThat(report.timings().totalMillis()).isPositive();
		assertThat(report.settings()).containsEntry("batchSize", 100_000);
		this.inputContinues.countDown();
		EndedJob<JobReport> ended = end.get(1, TimeUnit.MINUTES);
		assertThat(ended.ending().cause()).isEqualTo(Cause.COMPLETED);
		assertThat(ended.report().state()).isEqualTo(JobState.COMPLETED);
		assertThat(ended.report().counts()).isEqualTo(report.counts());
		assertThat(ended.report().input().inputComplete()).isTrue();
	}

	@Test
	void beforeTheFirstBatchRecordsWithoutAnOutcomeAreUnprocessed() throws Exception {
		TestJob job = new TestJob(1000, false, held(5, 10));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		this.inputWaits.await();
		assertThat(job.running.snapshot(JobState.RUNNING).counts()).isEqualTo(new Counts(5, 0, 0, 0, 0, 5));
		this.inputContinues.countDown();
		assertThat(end.get(1, TimeUnit.MINUTES).report().counts()).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
	}

	@Test
	void afterTheFirstBatchRecordsWithoutAnOutcomeAreUnknown() throws Exception {
		TestJob job = new TestJob(2, false, held(5, 10));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		this.inputWaits.await();
		await().untilAsserted(() -> assertThat(job.running.snapshot(JobState.RUNNING).counts())
			.isEqualTo(new Counts(5, 4, 0, 0, 1, 0)));
		this.inputContinues.countDown();
		assertThat(end.get(1, TimeUnit.MINUTES).report().counts()).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
	}

	@Test
	void recordsThatRedisHasNotAnsweredAreUnknown() throws Exception {
		TestJob job = new TestJob(2, false, held(2, 4));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		await().until(() -> job.running.snapshot(JobState.RUNNING).counts().applied() == 2);
		redis.pause();
		try {
			this.inputContinues.countDown();
			await().untilAsserted(() -> assertThat(job.running.snapshot(JobState.RUNNING).counts())
				.isEqualTo(new Counts(4, 2, 0, 0, 2, 0)));
			assertThat(end).isNotDone();
		}
		finally {
			redis.resume();
		}
		assertThat(end.get(1, TimeUnit.MINUTES).report().counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
	}

	@Test
	void aDryRunHasNoUnknownRecords() throws Exception {
		TestJob job = new TestJob(2, true, held(5, 10));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		this.inputWaits.await();
		JobReport report = job.running.snapshot(JobState.RUNNING);
		assertThat(report.counts()).isEqualTo(new Counts(5, 0, 0, 0, 0, 5));
		assertThat(report.errors()).isFalse();
		this.inputContinues.countDown();
		assertThat(end.get(1, TimeUnit.MINUTES).report().counts()).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
	}

	@Test
	void aStoppedJobIsRunningUntilItHasEnded() throws Exception {
		TestJob job = new TestJob(1000, false, held(5, 10));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		this.inputWaits.await();
		job.running.stop().stop(Cause.STOPPED, "A test stops it");
		assertThat(job.running.snapshot(JobState.RUNNING).state()).isEqualTo(JobState.RUNNING);
		this.inputContinues.countDown();
		EndedJob<JobReport> ended = end.get(1, TimeUnit.MINUTES);
		assertThat(ended.ending().detail()).isEqualTo("A test stops it");
		assertThat(ended.report().state()).isEqualTo(JobState.STOPPED);
		assertThat(ended.report().counts()).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
	}

	@Test
	void theOutcomesAlwaysAddUpAndNeverDecrease() throws Exception {
		int records = 300_000;
		TestJob job = new TestJob(500, false, held(records / 2, records));
		CompletableFuture<EndedJob<JobReport>> end = job.start();
		Counts before = new Counts(0, 0, 0, 0, 0, 0);
		int between = 0;
		while (!end.isDone()) {
			JobReport report = job.running.snapshot(JobState.RUNNING);
			Counts counts = report.counts();
			assertThat(counts.applied() + counts.unknown() + counts.unprocessed()).isEqualTo(counts.received());
			assertThat(report.input().nextIndex()).isIn(counts.received(), null);
			assertThat(counts.received()).isBetween(before.received(), (long) records);
			assertThat(counts.applied()).isBetween(before.applied(), (long) records);
			between += (counts.applied() > before.applied()) ? 1 : 0;
			if (between > 0) {
				this.inputContinues.countDown();
			}
			before = counts;
		}
		assertThat(between).isPositive();
		assertThat(end.get().report().counts()).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
	}

	@Test
	void unreadRecordsAreNeitherUnknownNorDoneBeforeTheyAreCounted() {
		TestJob job = new TestJob(1000, false, held(0, 1000));
		job.running.clock().beginBatch();
		for (int i = 0; i < 10; i++) {
			job.running.progress().countRead();
		}
		job.running.account().count("SET", Outcome.APPLIED, 8);
		assertThat(job.running.progress().countUnread(1000)).isEqualTo(990);
		assertThat(job.running.tally().done()).isEqualTo(8);
		assertThat(job.running.tally().read()).isEqualTo(10);
		assertThat(job.running.snapshot(JobState.RUNNING).counts()).isEqualTo(new Counts(10, 8, 0, 0, 2, 0));
		job.running.account().count("SET", Outcome.UNPROCESSED, 990);
		assertThat(job.running.tally().done()).isEqualTo(8);
		assertThat(job.running.tally().read()).isEqualTo(10);
		assertThat(job.running.snapshot(JobState.RUNNING).counts()).isEqualTo(new Counts(1000, 8, 0, 0, 2, 990));
		job.running.memory().close();
	}

	/** A file never pauses, and may inflate to a thousand times its size. */
	@Test
	void aStoppedJobDoesNotReadTheRestOfABodyWithoutRecords() throws Exception {
		BlankBody body = new BlankBody();
		TestJob job = new TestJob(1000, false, new UploadedRecords(body, -1, BodyEncoding.IDENTITY, RecordFormat.NDJSON,
				StandardCharsets.UTF_8, null));
		body.atTenthRead = () -> job.running.stop().stop(Cause.STOPPED, "A test stops it");
		EndedJob<JobReport> ended = job.start().get(1, TimeUnit.MINUTES);
		assertThat(ended.ending().detail()).isEqualTo("A test stops it");
		assertThat(ended.report().input().inputComplete()).isFalse();
		assertThat(body.reads).isEqualTo(10);
	}

	/**
	 * Otherwise the Idempotency-Key would be released, and a repeat would run it again.
	 */
	@Test
	void aRejectedRecordThatRanInPartHasChangedData() {
		for (boolean part : new boolean[] { false, true }) {
			TestJob job = new TestJob(1000, false, held(0, 1));
			job.running.progress().countRead();
			job.running.account().count("TS.MADD", Outcome.REJECTED, 1);
			if (part) {
				job.running.account().markRunInPart();
			}
			EndedJob<JobReport> ended = job.running.end(null, null, null, List.of());
			assertThat(ended.report().counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
			assertThat(ended.effective()).isEqualTo(part);
			assertThat(ended.touched()).isEqualTo(part);
			ended.memory().close();
		}
	}

	private JobInput held(int before, int count) {
		RecordReader records = GeneratedRecords.sets(count);
		return new JobInput.Generated((record) -> {
			if (this.read++ == before) {
				hold();
			}
			return records.read(record);
		}, count);
	}

	private void hold() {
		this.inputWaits.countDown();
		try {
			this.inputContinues.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A job that runs without a queue. */
	private final class TestJob {

		private final LaneContext context;

		private final RunningJob running;

		private TestJob(int commandsPerWrite, boolean dryRun, JobInput input) {
			JobSettings settings = new Binder(
					new MapConfigurationPropertySource(Map.of("pipeset.defaults.dry-run", dryRun)))
				.bindOrCreate("pipeset.defaults", JobDefaults.class)
				.toSettings();
			this.context = rig.context(
					LaneRig.settings(settings.batching().batchSize(), commandsPerWrite, 1, Duration.ofMinutes(10)),
					rig.threads());
			ReportDraft draft = new ReportDraft(JobId.next(), new RedisIdentity("localhost:6379/0"), settings,
					new RateLimit(settings.pace().rateLimit()), this.context.account(), this.context.clock(),
					new InputProgress(), input);
			this.running = new RunningJob(draft, this.context.stop(), (MemoryShare) this.context.memory(), null, false);
		}

		private CompletableFuture<EndedJob<JobReport>> start() {
			return CompletableFuture.supplyAsync(() -> {
				try {
					Admission admission = new Admission(this.running.settings(), scripts, limits, anybody, false, true);
					return new JobExecution(this.running, this.context, limits, anybody, admission,
							OperationFinder.TABLE, null)
						.run(Caller.SERVICE);
				}
				finally {
					this.running.memory().close();
				}
			}, RunningJobTests.this.thread);
		}

	}

	/** A body that inputWaits before its end. */
	private final class HeldBody extends ByteArrayInputStream {

		private HeldBody(String text) {
			super(text.getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public synchronized int read(byte[] target, int offset, int length) {
			if (available() == 0) {
				hold();
			}
			return super.read(target, offset, length);
		}

	}

	/** Blank lines that are available at once. */
	private static final class BlankBody extends InputStream {

		private int reads;

		private Runnable atTenthRead = () -> {
		};

		@Override
		public int available() {
			return 1;
		}

		@Override
		public int read() {
			return -1;
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			if (++this.reads == 10) {
				this.atTenthRead.run();
			}
			Arrays.fill(target, offset, offset + length, (byte) '\n');
			return (this.reads < 1000) ? length : -1;
		}

	}

}
