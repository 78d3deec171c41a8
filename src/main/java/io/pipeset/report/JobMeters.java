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
 * The meters of jobs and batches. Tags are bounded: an operation's name, an outcome, a
 * state, a kind of flush, one of the first servers, the name of a client; never a key, an
 * id or a client's text.
 */
@Component
public class JobMeters {

	private static final Duration[] BATCH_OBJECTIVES = { Duration.ofMillis(1), Duration.ofMillis(2),
			Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(25), Duration.ofMillis(50),
			Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1),
			Duration.ofSeconds(2), Duration.ofSeconds(5) };

	/** The servers that have a tag of their own. The next ones share one. */
	private static final int MOST_NODES = 64;

	private static final String OTHER_NODES = "other";

	private static final String CLIENT = "client";

	private final MeterRegistry registry;

	private final Map<String, NodeMeters> nodes;

	private final String client;

	/** Those of other clients, by their names. */
	private final Map<String, JobMeters> clients;

	private final MeterProvider<LongTaskTimer> active;

	private final MeterProvider<Timer> jobs;

	private final MeterProvider<Timer> batches;

	/** The counters of each operation that was met, by outcome. */
	private final Map<String, Map<Outcome, Counter>> commands = new ConcurrentHashMap<>();

	private final Counter commandsSent;

	private final MeterProvider<Counter> retries;

	private final Map<Phase, Timer> phases = new EnumMap<>(Phase.class);

	private final DistributionSummary batchSize;

	private final DistributionSummary batchBytes;

	/** Meters for jobs that have no client. */
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
			.description("Jobs under way, and for how long")
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
		this.commandsSent = Counter.builder("pipeset.commands.sent")
			.description("Commands on data sent to Redis, each of one record or several")
			.tag(CLIENT, client)
			.register(registry);
		this.retries = Counter.builder("pipeset.retries")
			.description("Losses that a job went on after")
			.withRegistry(registry);
		for (Phase phase : Phase.values()) {
			this.phases.put(phase,
					Timer.builder("pipeset.phase")
						.description("A job's time in one of its phases")
						.tag("phase", phase.name().toLowerCase(Locale.ROOT))
						.register(registry));
		}
		this.batchSize = DistributionSummary.builder("pipeset.batch.size")
			.description("Commands sent in one batch")
			.baseUnit("commands")
			.register(registry);
		this.batchBytes = DistributionSummary.builder("pipeset.batch.bytes")
			.description("Bytes of RESP sent in one batch")
			.baseUnit("bytes")
			.register(registry);
	}

	/**
	 * The meters of a client's jobs.
	 * @param client a name of a bounded set
	 */
	public JobMeters of(String client) {
		return (client.equals(this.client)) ? this : this.clients.computeIfAbsent(client,
				(name) -> new JobMeters(this.registry, name, this.nodes, this.clients));
	}

	/**
	 * A job begins.
	 * @param operation the operation its records have by default, or {@code mixed}
	 * @return to be stopped when the job ends
	 */
	public LongTaskTimer.Sample jobBegins(String operation) {
		return this.active.withTag("op", operation).start();
	}

	/**
	 * A batch has ended.
	 * @param nanos from its first write to its last reply
	 */
	public void batch(String flush, long nanos, long commands, long bytes) {
		this.batches.withTag("flush", flush).record(nanos, TimeUnit.NANOSECONDS);
		this.batchSize.record((double) commands);
		this.batchBytes.record((double) bytes);
	}

	/**
	 * The meters of a server.
	 * @param name its host and port
	 * @return its own meters, or those that all servers beyond the first ones share
	 */
	public NodeMeters node(String name) {
		NodeMeters known = this.nodes.get(name);
		if (known != null) {
			return known;
		}
		synchronized (this.nodes) {
			return this.nodes.computeIfAbsent((this.nodes.size() < MOST_NODES) ? name : OTHER_NODES,
					(tag) -> new NodeMeters(this.registry, tag));
		}
	}

	/**
	 * A job goes on after a loss.
	 * @param reason the kind of loss, one of a few words
	 */
	public void retry(String reason) {
		this.retries.withTag("reason", reason).increment();
	}

	/**
	 * Counts what a job has come to since it was counted last: after each of its batches,
	 * and at its end.
	 */
	public void grow(Account account) {
		Account.Growth growth = account.growth();
		this.commandsSent.increment((double) growth.commandsSent());
		growth.records().forEach((op, outcomes) -> {
			Map<Outcome, Counter> counters = this.commands.computeIfAbsent(op, this::commands);
			outcomes.forEach((outcome, records) -> Objects.requireNonNull(counters.get(outcome)).increment(records));
		});
	}

	/**
	 * All outcomes are there from the first record of an operation on: a counter that
	 * begins with its first unknown record would have no increase to be alarmed by.
	 */
	private Map<Outcome, Counter> commands(String operation) {
		Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);
		for (Outcome outcome : Outcome.values()) {
			counters.put(outcome,
					Counter.builder("pipeset.commands")
						.description("Records by what became of them, refused ones included")
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
	 * A job that is no stream of records has ended.
	 * @param operation its kind, one of a few words
	 */
	public void taskEnds(String operation, JobState state, JobClock clock) {
		this.jobs.withTags("op", operation, "state", state.label()).record(clock.totalNanos(), TimeUnit.NANOSECONDS);
	}

}
