package io.pipeset.report;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pipeset.report.JobClock.Phase;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * The meters of jobs and batches. All tags have bounded values: operation, outcome,
 * state, kind of flush, one of the first servers, client name. A tag never has a key, an
 * id or text from a request.
 */
@Component
public class JobMeters {

	private static final Duration[] BATCH_OBJECTIVES = { Duration.ofMillis(1), Duration.ofMillis(2),
			Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(25), Duration.ofMillis(50),
			Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1),
			Duration.ofSeconds(2), Duration.ofSeconds(5) };

	/** How many servers have a tag of their own. All others share one. */
	private static final int MAX_NODES = 64;

	private static final String OTHER_NODES = "other";

	private static final String CLIENT = "client";

	private final MeterRegistry registry;

	private final Map<String, NodeMeters> nodes;

	private final String client;

	/** The meters of the other clients, by name. */
	private final Map<String, JobMeters> clients;

	private final MeterProvider<LongTaskTimer> active;

	private final MeterProvider<Timer> jobs;

	private final MeterProvider<Timer> batches;

	/** The counters of each operation so far, by outcome. */
	private final Map<String, Map<Outcome, Counter>> records = new ConcurrentHashMap<>();

	private final Counter commandsSent;

	private final MeterProvider<Counter> retries;

	private final Map<Phase, Timer> phases = new EnumMap<>(Phase.class);

	private final DistributionSummary batchSize;

	private final DistributionSummary batchBytes;

	/** Creates the meters of jobs without a client. */
	@Autowired
	public JobMeters(MeterRegistry registry) {
		this(registry, KeyValue.NONE_VALUE, new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
	}

	private JobMeters(MeterRegistry registry, String client, Map<String, NodeMeters> nodes,
			Map<String, JobMeters> clients) {
		this.client = client;
		this.clients = clients;
		this.nodes = nodes;
		this.registry = registry;
		this.active = LongTaskTimer.builder("pipeset.job.active")
			.description("Jobs that are running, and for how long")
			.tag(CLIENT, client)
			.tag("state", "running")
			.withRegistry(registry);
		this.jobs = Timer.builder("pipeset.job")
			.description("A job, from its first record to its last reply")
			.tag(CLIENT, client)
			.withRegistry(registry);
		this.batches = Timer.builder("pipeset.batch")
			.description("A batch, from its first write to its last reply")
			.serviceLevelObjectives(BATCH_OBJECTIVES)
			.withRegistry(registry);
		this.commandsSent = Counter.builder("pipeset.commands")
			.description("Data commands sent to Redis, each with one record or several")
			.tag(CLIENT, client)
			.register(registry);
		this.retries = Counter.builder("pipeset.retries")
			.description("Losses after which a job continued")
			.withRegistry(registry);
		for (Phase phase : Phase.values()) {
			this.phases.put(phase,
					Timer.builder("pipeset.phase")
						.description("A job's time in one of its phases")
						.tag("phase", phase.name().toLowerCase(Locale.ROOT))
						.register(registry));
		}
		this.batchSize = DistributionSummary.builder("pipeset.batch.size")
			.description("Records sent in one batch")
			.baseUnit("records")
			.register(registry);
		this.batchBytes = DistributionSummary.builder("pipeset.batch.bytes")
			.description("Bytes of RESP sent in one batch")
			.baseUnit("bytes")
			.register(registry);
	}

	/**
	 * The meters of a client's jobs.
	 * @param client its name, from a bounded set
	 */
	public JobMeters of(String client) {
		return (client.equals(this.client)) ? this : this.clients.computeIfAbsent(client,
				(name) -> new JobMeters(this.registry, name, this.nodes, this.clients));
	}

	/**
	 * Notes that a job has begun.
	 * @param operation the default operation of its records, or {@code mixed}
	 * @return a sample to stop when the job ends
	 */
	public LongTaskTimer.Sample startJob(String operation) {
		return this.active.withTag("op", operation).start();
	}

	/**
	 * Records a batch.
	 * @param flush the kind of flush
	 * @param nanos the time from its first write to its last reply
	 */
	public void batch(String flush, long nanos, long records, long bytes) {
		this.batches.withTag("flush", flush).record(nanos, TimeUnit.NANOSECONDS);
		this.batchSize.record((double) records);
		this.batchBytes.record((double) bytes);
	}

	/**
	 * The meters of a server.
	 * @param name its host and port
	 * @return its own meters, or the shared ones if there are too many servers
	 */
	public NodeMeters node(String name) {
		NodeMeters known = this.nodes.get(name);
		if (known != null) {
			return known;
		}
		synchronized (this.nodes) {
			return this.nodes.computeIfAbsent((this.nodes.size() < MAX_NODES) ? name : OTHER_NODES,
					(tag) -> new NodeMeters(this.registry, tag));
		}
	}

	/**
	 * Counts a retry of a job after a loss.
	 * @param reason the kind of loss, from a bounded set
	 */
	public void retry(String reason) {
		this.retries.withTag("reason", reason).increment();
	}

	/**
	 * Adds the outcomes and commands of a job since the previous call. The job calls this
	 * after each batch and at its end.
	 */
	public void grow(Account account) {
		Account.Delta delta = account.nextDelta();
		this.commandsSent.increment((double) delta.commandsSent());
		delta.records().forEach((op, outcomes) -> {
			Map<Outcome, Counter> counters = this.records.computeIfAbsent(op, this::records);
			outcomes.forEach((outcome, records) -> Objects.requireNonNull(counters.get(outcome)).increment(records));
		});
	}

	/**
	 * Creates the counters of all outcomes at the first record of an operation. If a
	 * counter were created with its first unknown record, it would show no increase, so
	 * no alert would fire.
	 */
	private Map<Outcome, Counter> records(String operation) {
		Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);
		for (Outcome outcome : Outcome.values()) {
			counters.put(outcome,
					Counter.builder("pipeset.records")
						.description("Records by outcome, rejected ones included")
						.tags(CLIENT, this.client, "op", operation, "outcome", outcome.label())
						.register(this.registry));
		}
		return counters;
	}

	public void jobEnds(JobState state, Account account, JobClock clock) {
		taskEnds(account.operation(), state, clock);
		this.phases.forEach((phase, timer) -> timer.record(clock.nanos(phase), TimeUnit.NANOSECONDS));
		grow(account);
	}

	/**
	 * Records the end of a job without records.
	 * @param operation its kind, from a bounded set
	 */
	public void taskEnds(String operation, JobState state, JobClock clock) {
		this.jobs.withTags("op", operation, "state", state.label()).record(clock.totalNanos(), TimeUnit.NANOSECONDS);
	}

}
