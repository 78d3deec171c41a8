package io.pipeset.run;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.OwnThread;
import io.pipeset.input.Caller;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.JobRegistry;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A task has a permit, memory, a stop at shutdown and meters, like other jobs. */
class TasksTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final MemoryBudget memory = new MemoryBudget(new MemoryProperties(null), 1, Duration.ofMinutes(1),
			this.registry);

	private final JobQueue queue = new JobQueue(
			new Binder(new MapConfigurationPropertySource(
					Map.of("pipeset.limits.max-running-jobs", "1", "pipeset.limits.max-waiting-jobs", "0")))
				.bindOrCreate("pipeset.limits", JobLimits.class),
			new JobRegistry(Duration.ofDays(1), System::currentTimeMillis), this.registry);

	private final Tasks tasks = new Tasks(this.queue, this.memory, new JobMeters(this.registry), new JobLog());

	@Test
	void aTaskTakesAPermitWhileItRuns() {
		int running = run((task) -> {
			assertThatExceptionOfType(JobRefusedException.class).isThrownBy(() -> run((other) -> 0));
			return this.queue.running();
		});
		assertThat(running).isOne();
		assertThat(this.queue.running()).isZero();
		assertThat(completed("completed")).isOne();
		assertThat(this.registry.get("pipeset.job.active").longTaskTimer().activeTasks()).isZero();
	}

	@Test
	void aTaskStopsWithTheService() {
		CountDownLatch runs = new CountDownLatch(1);
		CompletableFuture<Ending> ending = OwnThread.supply(() -> run((task) -> {
			runs.countDown();
			assertThat(task.stop().await(Duration.ofMinutes(1).toNanos())).isTrue();
			return task.ending();
		}));
		assertThat(runs).satisfies(CountDownLatch::await);
		this.queue.stopAll();
		assertThat(ending.join().cause()).isEqualTo(Cause.SHUTTING_DOWN);
		assertThat(completed("stopped")).isOne();
	}

	@Test
	void aTaskKeepsItsMemoryForItsAnswerButNotAfterADefect() {
		Task ended = run((task) -> {
			task.memory().reserve(1 << 20);
			assertThat(task.memory().takeForReport(1 << 19, 0)).isTrue();
			return task;
		});
		assertThat(this.memory.used()).isPositive();
		ended.memory().close();
		long before = this.memory.used();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> run((task) -> {
			task.memory().reserve(1 << 20);
			throw new IllegalStateException("by intention");
		}));
		assertThat(this.memory.used()).isEqualTo(before);
		assertThat(this.queue.running()).isZero();
		assertThat(completed("failed")).isOne();
	}

	private <T> T run(Function<Task, T> body) {
		return this.tasks
			.run(Client.anybody(false), JobKind.ANALYSIS, null, Caller.SERVICE,
					(task) -> new EndedJob<>(task.id(), body.apply(task), task.ending(), false, task.memory()))
			.report();
	}

	private long completed(String state) {
		return this.registry.get("pipeset.job").tag("op", "analysis").tag("state", state).timer().count();
	}

}
