package io.pipeset.keep;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.input.BodyEncoding;
import io.pipeset.input.SpooledBody;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import io.pipeset.run.Task;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.context.properties.bind.Binder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The registry forgets ended jobs after an hour, or earlier if they are many or large.
 */
class JobRegistryTests {

	private static final RedisIdentity REDIS = new RedisIdentity("localhost:6379/0");

	private final MemoryBudget memory = new MemoryBudget(new MemoryProperties(null), 1, Duration.ofMinutes(1),
			new SimpleMeterRegistry());

	private final AtomicLong now = new AtomicLong();

	private final Client client = Client.anybody(false);

	private final JobRegistry registry = new JobRegistry(Duration.ofDays(1), this.now::get);

	@Test
	void theLastThousandEndedJobsAreKnown() {
		Job waiting = this.registry.register(task(), "none");
		Job first = ended(0);
		for (int i = 0; i < 999; i++) {
			ended(0);
		}
		assertThat(this.registry.find(first.id())).isPresent();
		ended(0);
		assertThat(this.registry.find(first.id())).isEmpty();
		assertThat(this.registry.list(this.client, JobState.COMPLETED, null, null, 2000)).hasSize(1000);
		assertThat(this.registry.list(this.client, null, null, null, 2000)).hasSize(1001).last().isSameAs(waiting);
	}

	@Test
	void endedJobsAreKnownForAnHour() {
		Job waiting = this.registry.register(task(), "none");
		Job ended = ended(0);
		this.now.addAndGet(Duration.ofHours(1).toMillis());
		this.registry.sample();
		assertThat(this.registry.find(ended.id())).isPresent();
		this.now.incrementAndGet();
		this.registry.sample();
		assertThat(this.registry.find(ended.id())).isEmpty();
		assertThat(this.registry.find(waiting.id())).containsSame(waiting);
	}

	@Test
	void anInterruptedJobIsKnownForTheRetention(@TempDir Path temporary) throws IOException {
		Spool spool = new Spool(temporary, REDIS, 1000, new SimpleMeterRegistry());
		SpoolFile body = spool.create("a.body", null);
		body.writeAt(0, ByteBuffer.allocate(10));
		JobSettings settings = JobSettings.of(Map.of(), null);
		SpooledBody spooled = new SpooledBody(body, BodyEncoding.IDENTITY, RecordFormat.NDJSON, StandardCharsets.UTF_8,
				null);
		SpooledRequest request = SpooledRequest.of(this.client, spooled, null, settings);
		OutcomeJournal journal = new OutcomeJournal(request.write(spool, "a"), spool.create("a.outcomes", null),
				spool.create("a.notes", null), this.memory.open(new JobStop()));
		JobItems items = new JobItems(spooled, journal, settings,
				new Binder().bindOrCreate("pipeset.limits", JobLimits.class), this.memory, spool, 0,
				OperationFinder.TABLE);
		InterruptedJob job = new InterruptedJob("a", REDIS, request, System.currentTimeMillis(), items, this.memory);
		this.registry.register(job);
		this.now.set(job.foundMillis() + Duration.ofDays(1).toMillis());
		this.registry.sample();
		assertThat(this.registry.list(this.client, JobState.INTERRUPTED, null, null, 10)).hasSize(1);
		assertThat(spool.used()).isPositive();
		this.now.incrementAndGet();
		this.registry.sample();
		assertThat(this.registry.find("a")).isEmpty();
		assertThat(spool.used()).isZero();
		spool.end();
	}

	@Test
	void theReportsOfEndedJobsTakeAtMostFourMegabytes() {
		Job first = ended(60 << 10);
		assertThat(first.look().report()).isEqualTo("report");
		for (int i = 0; i < 70; i++) {
			ended(60 << 10);
		}
		assertThat(this.registry.find(first.id())).isEmpty();
		assertThat(this.registry.list(this.client, null, null, null, 100)).hasSize((4 << 20) / (64 << 10));
	}

	@Test
	void aLargeReportIsNotKept() {
		Job large = ended(65 << 10);
		assertThat(large.look().report()).isNull();
		assertThat(large.status().state()).isEqualTo(JobState.COMPLETED);
	}

	/** Otherwise a view could have the final report with old progress and no reason. */
	@Test
	void aViewOfAJobThatEndsMeanwhileIsConsistent() {
		Task task = task();
		Job known = this.registry.register(task, "none");
		known.markRunning();
		task.tallies(() -> {
			task.tallies(() -> Tally.of(1, null));
			this.registry.recordEnd(known, new EndedJob<>(task.id(), "report", Ending.COMPLETED, false, task.memory()));
			return Tally.of(0, null);
		});
		Job.Look before = known.look();
		assertThat(before.status().state()).isEqualTo(JobState.RUNNING);
		assertThat(before.report()).isNull();
		Job.Look after = known.look();
		assertThat(after.status().state()).isEqualTo(JobState.COMPLETED);
		assertThat(after.report()).isEqualTo("report");
		task.memory().close();
	}

	@Test
	void aJobThatFailsBecauseOfADefectIsKnownAsFailed() {
		Job failed = this.registry.register(task(), "none");
		failed.markRunning();
		this.registry.recordFailure(failed, new Ending(Cause.INTERNAL_SERVER_ERROR, "A defect"), true);
		assertThat(this.registry.find(failed.id())).hasValue(failed);
		assertThat(failed.state()).isEqualTo(JobState.FAILED);
		assertThat(failed.status().ending()).isNotNull();
		assertThat(failed.status().ending().type()).isEqualTo("internal-server-error");
		assertThat(failed.look().report()).isNull();
	}

	@Test
	void aRefusedJobIsForgotten() {
		Job refused = this.registry.register(task(), "none");
		this.registry.recordFailure(refused, new Ending(Cause.LIMIT, "too many"), false);
		assertThat(this.registry.find(refused.id())).isEmpty();
		assertThat(this.registry.list(this.client, null, null, null, 10)).isEmpty();
	}

	private Job ended(long reportBytes) {
		Task task = task();
		Job known = this.registry.register(task, "none");
		known.markRunning();
		assertThat(task.memory().tryTakeForReport(reportBytes)).isTrue();
		this.registry.recordEnd(known, new EndedJob<>(task.id(), "report", Ending.COMPLETED, false, task.memory()));
		this.registry.keepEnded(known, task, true);
		task.memory().close();
		return known;
	}

	private Task task() {
		JobStop stop = new JobStop();
		return new Task(JobKind.ANALYSIS, null, stop, this.memory.open(stop));
	}

}
