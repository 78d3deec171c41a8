package io.pipeset.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.input.Caller;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.Job;
import io.pipeset.keep.JobRegistry;
import io.pipeset.keep.JobRun;
import io.pipeset.keep.QueueEntry;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobClock.Phase;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobRefusedException.Reason;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * No more jobs run or wait than the limits allow, each waiting job gets a permit, and all
 * jobs can be stopped.
 */
class JobQueueTests {

	private static final MemoryBudget memory = new MemoryBudget(new MemoryProperties(null), 1, Duration.ofMinutes(1),
			new SimpleMeterRegistry());

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final Client client = Client.anybody(false);

	private final JobRegistry jobs = new JobRegistry(Duration.ofDays(1), System::currentTimeMillis);

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void end() {
		this.threads.shutdownNow();
	}

	@Test
	void noMoreJobsRunThanTheLimitAllows() throws Exception {
		JobQueue queue = queue(3, 64, "1m");
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		List<CompletableFuture<Void>> jobs = new ArrayList<>();
		for (int thread = 0; thread < 16; thread++) {
			jobs.add(CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 1000; i++) {
					Task job = job();
					queue.enter(job, true, this::accepted);
					most.accumulateAndGet(running.incrementAndGet(), Math::max);
					LockSupport.parkNanos(1);
					running.decrementAndGet();
					queue.leave(job);
				}
			}, this.threads));
		}
		for (CompletableFuture<Void> job : jobs) {
			job.get(1, TimeUnit.MINUTES);
		}
		assertThat(most).hasValueBetween(1, 3);
		assertThat(queue.running()).isZero();
		assertThat(queue.waiting()).isZero();
		assertThat(queue.awaitIdle(0)).isTrue();
	}

	@Test
	void waitingJobsBeginInTheOrderOfTheirRequests() throws Exception {
		JobQueue queue = queue(1, 10, "1m");
		Task first = job();
		queue.enter(first, true, this::accepted);
		ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
		List<CompletableFuture<Void>> jobs = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			int number = i;
			jobs.add(CompletableFuture.runAsync(() -> {
				Task job = job();
				queue.enter(job, true, this::accepted);
				order.add(number);
				queue.leave(job);
			}, this.threads));
			await().until(() -> queue.waiting() == number + 1);
		}
		assertThat(queued()).isEqualTo(10);
		queue.leave(first);
		for (CompletableFuture<Void> job : jobs) {
			job.get(1, TimeUnit.MINUTES);
		}
		assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
		assertThat(queued()).isZero();
	}

	@Test
	void aSmallJobDoesNotWaitForLongOnes() throws Exception {
		JobQueue queue = queue(8, 64, "1h");
		List<JobRun> large = new ArrayList<>();
		for (int i = 0; i < 7; i++) {
			large.add(job());
			queue.enter(large.get(i), true, this::accepted);
		}
		CompletableFuture<Boolean> waiting = CompletableFuture
			.supplyAsync(() -> queue.enter(job(), true, this::accepted), this.threads);
		await().until(() -> queue.waiting() == 1);
		JobRun small = small();
		assertThat(queue.enter(small, true, this::accepted)).isTrue();
		assertThat(queue.running()).isEqualTo(8);
		CompletableFuture<Boolean> next = CompletableFuture
			.supplyAsync(() -> queue.enter(small(), true, this::accepted), this.threads);
		await().until(() -> queue.waiting() == 2);
		queue.leave(small);
		assertThat(next.get(1, TimeUnit.MINUTES)).as("the permit of a small job goes to the next small one").isTrue();
		assertThat(waiting).isNotDone();
		queue.leave(large.get(0));
		assertThat(waiting.get(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void smallJobsDoNotStarveALargeOne() {
		JobQueue queue = queue(8, 64, "1h");
		List<JobRun> running = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			running.add(small());
			queue.enter(running.get(i), true, this::accepted);
		}
		CompletableFuture<Boolean> large = CompletableFuture.supplyAsync(() -> queue.enter(job(), true, this::accepted),
				this.threads);
		await().until(() -> queue.waiting() == 1);
		for (int i = 0; i < 100 && queue.waiting() == 1; i++) {
			JobRun next = small();
			running.add(next);
			CompletableFuture<Boolean> unused = CompletableFuture
				.supplyAsync(() -> queue.enter(next, true, this::accepted), this.threads);
			await().until(() -> queue.waiting() == 2);
			queue.leave(running.remove(0));
			await().until(() -> queue.running() == 8);
			if (large.isDone()) {
				return;
			}
		}
		// The job may have its permit, but its thread may be slow.
		assertThat(large).as("came before 100 small jobs that were asked for later")
			.succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void aWaitIsBoundedAndCounted() {
		JobQueue queue = queue(1, 1, "50ms");
		queue.enter(job(), true, this::accepted);
		Task refused = job();
		assertThatExceptionOfType(JobRefusedException.class)
			.isThrownBy(() -> queue.enter(refused, true, this::accepted))
			.withMessageContaining("pipeset.limits.max-wait=50ms")
			.withMessageContaining("pipeset.limits.max-running-jobs")
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.TOO_MANY));
		assertThat(refused.clock().nanos(Phase.WAIT)).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
		assertThat(queue.waiting()).isZero();
	}

	@Test
	void withoutWaitingPositionsAJobIsRefusedAtOnce() {
		JobQueue queue = queue(2, 0, "1h");
		queue.enter(job(), true, this::accepted);
		queue.enter(job(), true, this::accepted);
		assertThatExceptionOfType(JobRefusedException.class).isThrownBy(() -> queue.enter(job(), true, this::accepted))
			.withMessageContaining("2 jobs are running and 0 are waiting")
			.withMessageContaining("pipeset.limits.max-running-jobs=2")
			.withMessageContaining("pipeset.limits.max-waiting-jobs=0");
	}

	@Test
	void aClosedQueueRefusesWaitingAndNewJobsAndAwaitsRunningOnes() throws Exception {
		JobQueue queue = queue(1, 2, "1h");
		Task first = job();
		queue.enter(first, true, this::accepted);
		CompletableFuture<Reason> waiting = CompletableFuture.supplyAsync(() -> {
			try {
				queue.enter(job(), true, this::accepted);
				throw new IllegalStateException("It entered");
			}
			catch (JobRefusedException ex) {
				return ex.reason();
			}
		}, this.threads);
		await().until(() -> queue.waiting() == 1);
		queue.close();
		assertThat(waiting.get(1, TimeUnit.MINUTES)).isEqualTo(Reason.SHUTTING_DOWN);
		assertThatExceptionOfType(JobRefusedException.class).isThrownBy(() -> queue.enter(job(), true, this::accepted))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.SHUTTING_DOWN));
		assertThat(queue.awaitIdle(TimeUnit.MILLISECONDS.toNanos(1))).isFalse();
		queue.stopAll();
		assertThat(first.stop().ending()).isNotNull();
		assertThat(first.stop().ending().cause()).isEqualTo(Cause.SHUTTING_DOWN);
		Executor soon = CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS, this.threads);
		CompletableFuture<Void> end = CompletableFuture.runAsync(() -> queue.leave(first), soon);
		assertThat(queue.awaitIdle(Duration.ofMinutes(1).toNanos())).isTrue();
		end.get(1, TimeUnit.MINUTES);
	}

	@Test
	void anUploadWithoutAJobTakesAPermitAndIsNotAwaited() throws Exception {
		JobQueue queue = queue(1, 0, "1m");
		QueueEntry read = new QueueEntry() {

			@Override
			public JobStop stop() {
				return new JobStop();
			}

			@Override
			public JobClock clock() {
				return new JobClock();
			}

		};
		queue.enter(read, true, this::accepted);
		assertThat(queue.running()).isOne();
		assertThatExceptionOfType(JobRefusedException.class).isThrownBy(() -> queue.enter(job(), true, this::accepted));
		assertThat(queue.awaitIdle(0)).isTrue();
		queue.leave(read);
		Task job = job();
		queue.enter(job, true, this::accepted);
		assertThat(queue.awaitIdle(0)).isFalse();
		queue.leave(job);
	}

	@Test
	void anAsynchronousJobWaitsWithoutLimitAndDoesNotCountAsWaiting() throws Exception {
		JobQueue queue = queue(1, 1, "50ms");
		Task first = job();
		queue.enter(first, true, this::accepted);
		AtomicInteger accepted = new AtomicInteger();
		List<CompletableFuture<Boolean>> jobs = new ArrayList<>();
		for (int i = 1; i <= 3; i++) {
			int number = i;
			jobs.add(CompletableFuture.supplyAsync(() -> {
				Task job = job();
				boolean hasPermit = queue.enter(job, false, accepted::incrementAndGet);
				queue.leave(job);
				return hasPermit;
			}, this.threads));
			await().until(() -> queue.waiting() == number);
		}
		assertThat(accepted).as("each is accepted before its wait").hasValue(3);
		assertThatExceptionOfType(JobRefusedException.class).as("may wait, but no longer than the limit")
			.isThrownBy(() -> queue.enter(job(), true, this::accepted))
			.withMessageContaining("pipeset.limits.max-wait=50ms");
		queue.leave(first);
		for (CompletableFuture<Boolean> job : jobs) {
			assertThat(job.get(1, TimeUnit.MINUTES)).isTrue();
		}
		assertThat(queue.awaitIdle(0)).isTrue();
	}

	@Test
	void anAcceptedJobIsStoppedAndNotRefusedWhenTheQueueCloses() throws Exception {
		JobQueue queue = queue(1, 1, "1h");
		queue.enter(job(), true, this::accepted);
		Task waits = job();
		CompletableFuture<Boolean> hasPermit = CompletableFuture
			.supplyAsync(() -> queue.enter(waits, false, this::accepted), this.threads);
		await().until(() -> queue.waiting() == 1);
		queue.close();
		assertThat(hasPermit.get(1, TimeUnit.MINUTES)).isFalse();
		assertThat(waits.stop().ending()).isNotNull();
		assertThat(waits.stop().ending().cause()).isEqualTo(Cause.SHUTTING_DOWN);
		assertThatExceptionOfType(JobRefusedException.class).isThrownBy(() -> queue.enter(job(), false, this::accepted))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.SHUTTING_DOWN));
	}

	@Test
	void aRefusedJobIsSeenToEnd() throws Exception {
		JobQueue queue = queue(1, 1, "1h");
		Task first = job();
		queue.enter(first, true, this::accepted);
		CompletableFuture<?> waiting = CompletableFuture
			.runAsync(() -> queue.run(job(), this.client, Caller.SERVICE, () -> {
				throw new IllegalStateException("It began");
			}), this.threads);
		await().until(() -> queue.waiting() == 1);
		Job known = this.jobs.list(this.client, JobState.QUEUED, null, null, 10).get(0);
		queue.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
			.withCauseInstanceOf(JobRefusedException.class);
		assertThat(known.state()).isEqualTo(JobState.STOPPED);
		assertThat(known.status().ending()).isNotNull()
			.satisfies((ending) -> assertThat(ending.type()).isEqualTo("shutting-down"));
		assertThat(known.cancel()).isFalse();
		assertThat(this.jobs.find(known.id())).isEmpty();
	}

	@Test
	void aJobThatFailsBecauseOfADefectIsSeenToEnd() {
		JobQueue queue = queue(1, 1, "1h");
		Job[] known = new Job[1];
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> queue.run(job(), this.client, Caller.SERVICE, () -> {
				known[0] = this.jobs.list(this.client, JobState.RUNNING, null, null, 10).get(0);
				throw new IllegalStateException("A defect");
			}));
		assertThat(known[0].status().ending()).isNotNull()
			.satisfies((ending) -> assertThat(ending.type()).isEqualTo("internal-server-error"));
		assertThat(this.jobs.find(known[0].id())).get().extracting(Job::state).isEqualTo(JobState.FAILED);
	}

	@Test
	void aJobWhoseReportCannotBeKeptFailsAndReleasesItsPermits() throws Exception {
		JobQueue queue = queue(1, 0, "1h");
		Task job = job();
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> queue.run(job, this.client, Caller.SERVICE, () -> {
				job.tallies(() -> {
					job.tallies(() -> Tally.of(0, null));
					throw new OutOfMemoryError("Cannot reserve direct buffer memory");
				});
				return new EndedJob<>(job.id(), "report", Ending.COMPLETED, false, job.memory());
			}));
		assertThat(queue.running()).isZero();
		assertThat(queue.awaitIdle(0)).isTrue();
		assertThat(queue.takeClientPermit(this.client).availablePermits()).isEqualTo(this.client.maxJobs(1) - 1);
		assertThat(this.jobs.find(job.id())).get().extracting(Job::state).isEqualTo(JobState.FAILED);
	}

	@Test
	void onlyRunningJobsAreStopped() {
		JobQueue queue = queue(3, 0, "1h");
		List<Task> jobs = List.of(job(), job(), job());
		jobs.forEach((job) -> queue.enter(job, true, this::accepted));
		assertThat(queue.running()).isEqualTo(3);
		queue.leave(jobs.get(1));
		assertThat(queue.running()).isEqualTo(2);
		queue.stopAll();
		assertThat(jobs).extracting((job) -> job.stop().isSet()).containsExactly(true, false, true);
	}

	private void accepted() {
		// The tests need no notice.
	}

	private static Task job() {
		JobStop stop = new JobStop();
		return new Task(JobKind.ANALYSIS, null, stop, memory.open(stop));
	}

	private static JobRun small() {
		Task task = job();
		return new JobRun() {

			@Override
			public boolean isSmall() {
				return true;
			}

			@Override
			public String id() {
				return task.id();
			}

			@Override
			public JobKind kind() {
				return task.kind();
			}

			@Override
			public String operation() {
				return task.operation();
			}

			@Override
			public JobStop stop() {
				return task.stop();
			}

			@Override
			public JobClock clock() {
				return task.clock();
			}

			@Override
			public MemoryShare memory() {
				return task.memory();
			}

			@Override
			public @Nullable RateLimit rateLimit() {
				return task.rateLimit();
			}

			@Override
			public Tally tally() {
				return task.tally();
			}

			@Override
			public @Nullable JobReport snapshot(JobState state) {
				return task.snapshot(state);
			}

		};
	}

	private double queued() {
		return this.registry.get("pipeset.jobs.queued").gauge().value();
	}

	private JobQueue queue(int running, int waiting, String wait) {
		Map<String, Object> properties = Map.of("pipeset.limits.max-running-jobs", running,
				"pipeset.limits.max-waiting-jobs", waiting, "pipeset.limits.max-wait", wait);
		Binder binder = new Binder(new MapConfigurationPropertySource(properties));
		return new JobQueue(binder.bindOrCreate("pipeset.limits", JobLimits.class), this.jobs, this.registry);
	}

}
