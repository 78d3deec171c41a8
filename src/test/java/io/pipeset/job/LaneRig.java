package io.pipeset.job;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.lettuce.core.resource.ClientResources;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.PipesetApplication;
import io.pipeset.pipeline.FlushPolicy;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.Pipelines;
import io.pipeset.record.Encoding;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/** Runs lanes against a Redis without HTTP. */
final class LaneRig implements AutoCloseable {

	private final ConfigurableApplicationContext service;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final LaneCapacity capacity;

	/**
	 * Opens a rig.
	 * @param redis the properties that name the Redis
	 * @param properties further ones, each {@code name=value}
	 */
	LaneRig(Map<String, ? extends Object> redis, String... properties) {
		this.service = new SpringApplicationBuilder(PipesetApplication.class).web(WebApplicationType.NONE)
			.properties(Map.copyOf(redis))
			.properties(properties)
			.run();
		// Its calls would be counted by a proxy.
		this.service.getBean("receiptSweeper", SmartLifecycle.class).stop();
		this.capacity = new LaneCapacity(bean(PipelineProperties.class), bean(JobLimits.class),
				new SimpleMeterRegistry());
	}

	LaneCapacity capacity() {
		return this.capacity;
	}

	Executor threads() {
		return this.threads;
	}

	MemoryBudget memory() {
		return bean(MemoryBudget.class);
	}

	JobLimits limits() {
		return bean(JobLimits.class);
	}

	ClientResources clientResources() {
		return bean(ClientResources.class);
	}

	static JobSettings settings(int batchSize, int commandsPerWrite, int concurrency, Duration timeout) {
		return settings(batchSize, commandsPerWrite, concurrency, timeout, 0);
	}

	static JobSettings settings(int batchSize, int commandsPerWrite, int concurrency, Duration timeout, int retries) {
		return new JobSettings(batchSize, FlushPolicy.buffered(commandsPerWrite), concurrency, timeout, null, retries,
				Results.ERRORS, null, false, null, Encoding.UTF8, null, Atomic.NONE, false);
	}

	/** What the parts of a job share, of a job with nothing but lanes. */
	JobContext context(JobSettings settings, Executor executor) {
		JobStop stop = new JobStop();
		return new JobContext(settings, new Account(settings.results(), 100, false), new JobClock(), stop,
				new Retries(settings.retries()), this.capacity, bean(Pipelines.class), bean(PipelineProperties.class),
				bean(JobMeters.class), executor, null, memory().open(stop));
	}

	private <T> T bean(Class<T> type) {
		return this.service.getBean(type);
	}

	@Override
	public void close() {
		this.service.close();
		this.threads.shutdownNow();
	}

}
