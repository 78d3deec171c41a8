package io.pipeset.engine.lane;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.lettuce.core.resource.ClientResources;
import io.micrometer.observation.Observation;
import io.netty.util.concurrent.EventExecutor;
import io.pipeset.PipesetApplication;
import io.pipeset.engine.pipeline.ConnectionPermits;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.FirstSweep;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs lanes against a Redis without HTTP. */
public final class LaneRig implements AutoCloseable {

	private final ConfigurableApplicationContext service;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	/**
	 * Opens a rig.
	 * @param redis the properties that name the Redis
	 * @param properties further ones, each {@code name=value}
	 */
	public LaneRig(Map<String, ? extends Object> redis, String... properties) {
		this.service = new SpringApplicationBuilder(PipesetApplication.class).web(WebApplicationType.NONE)
			.properties(Map.copyOf(redis))
			.properties(properties)
			.run();
		// A proxy would count the sweeper's calls, and the sweeper's end does not wait
		// for them.
		FirstSweep.awaitEnd(this.service);
		this.service.getBean("receiptSweeper", SmartLifecycle.class).stop();
	}

	public ConnectionPermits permits() {
		return bean(RedisNodes.class).named().get(0).permits();
	}

	public InFlightBytes inFlight() {
		return bean(InFlightBytes.class);
	}

	public Executor threads() {
		return this.threads;
	}

	public MemoryBudget memory() {
		return bean(MemoryBudget.class);
	}

	public ClientResources clientResources() {
		return bean(ClientResources.class);
	}

	public static LaneSettings settings(int batchSize, int commandsPerWrite, int concurrency, Duration timeout) {
		return settings(batchSize, commandsPerWrite, concurrency, timeout, 0);
	}

	public static LaneSettings settings(int batchSize, int commandsPerWrite, int concurrency, Duration timeout,
			int retries) {
		return new LaneSettings(batchSize, FlushPolicy.buffered(commandsPerWrite), concurrency, timeout, retries, 0,
				Duration.ofSeconds(1), false, false);
	}

	/** The context of a job that consists only of its lanes. */
	public LaneContext context(LaneSettings settings, Executor executor) {
		return context(settings, executor, bean(PipelineProperties.class));
	}

	/** The context of a job whose connections close within half a second. */
	LaneContext closingSoon(LaneSettings settings) {
		PipelineProperties service = bean(PipelineProperties.class);
		return context(settings, threads(), new PipelineProperties(service.maxConnections(), service.windowCommands(),
				service.windowBytes(), Duration.ofMillis(500), service.memoryWarnings()));
	}

	private LaneContext context(LaneSettings settings, Executor executor, PipelineProperties pipeline) {
		JobStop stop = new JobStop();
		return new LaneContext(settings, new Account(Results.ERRORS, 100, false), new JobClock(), stop,
				new Retries(settings.retries()), inFlight(), bean(RedisNodes.class), pipeline, bean(JobMeters.class),
				Observation.NOOP, executor, null, memory().open(stop), () -> {
				});
	}

	/** Prepares a valid record. */
	public static void prepare(Record record, Operation operation, String... arguments) {
		record.begin(0);
		record.operation(operation);
		for (String argument : arguments) {
			byte[] bytes = argument.getBytes(StandardCharsets.UTF_8);
			record.argument(bytes, 0, bytes.length);
		}
		record.check();
		assertThat(record.rejection()).isNull();
	}

	/** Adds a valid record to lanes. */
	static void add(Lanes lanes, Record record, Operation operation, String... arguments) {
		prepare(record, operation, arguments);
		lanes.add(record);
	}

	/** Blocks an event loop until it is released. */
	public static void hold(EventExecutor loop, CountDownLatch release) {
		loop.execute(() -> {
			try {
				release.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
	}

	public <T> T bean(Class<T> type) {
		return this.service.getBean(type);
	}

	@Override
	public void close() {
		this.service.close();
		this.threads.shutdownNow();
	}

}
