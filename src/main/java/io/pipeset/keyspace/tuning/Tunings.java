package io.pipeset.keyspace.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjIntConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.input.Caller;
import io.pipeset.input.JobInput;
import io.pipeset.keep.EndedJob;
import io.pipeset.keyspace.tuning.Candidate.Run;
import io.pipeset.keyspace.tuning.TuningReport.Row;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.Results;
import io.pipeset.request.Atomic;
import io.pipeset.request.Client;
import io.pipeset.request.Coalesce;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobRefusedException.Reason;
import io.pipeset.request.JobSettings;
import io.pipeset.request.JobSettings.Batching;
import io.pipeset.request.JobSettings.Check;
import io.pipeset.request.JobSettings.Pace;
import io.pipeset.request.JobSettings.Records;
import io.pipeset.request.JobSettings.Reliability;
import io.pipeset.request.JobSettings.Reporting;
import io.pipeset.run.JobOwner;
import io.pipeset.run.JobRequest;
import io.pipeset.run.Jobs;
import io.pipeset.run.Task;
import io.pipeset.run.Tasks;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/**
 * Runs tunings: each row of a grid is a job with generated records, run several times.
 * Only one tuning at a time runs in this instance of the service.
 */
@Component
@EnableConfigurationProperties(TuningProperties.class)
public class Tunings {

	private static final int PINGS = 51;

	/** The most records of a run that is not measured, except for the first. */
	private static final int WARM_UP_RECORDS = 10_000;

	private static final RowSettings ONE_BY_ONE = new RowSettings(1, FlushPolicy.close(), 1);

	/**
	 * How many records are read between two checks of the clock, because a check takes
	 * time. As many as a transaction has, so that none is cut short.
	 */
	private static final int BETWEEN_CHECKS = 300 * TuningKeys.PREPARING;

	/** Transactions block Redis's other clients, so they are small. */
	private static final RowSettings TRANSACTIONS = new RowSettings(BETWEEN_CHECKS, FlushPolicy.close(), 1);

	private static final RowSettings FLUSH_EACH = new RowSettings(10_000, FlushPolicy.each(), 1);

	private static final RowSettings REMOVALS = new RowSettings(100_000, FlushPolicy.buffered(1_000), 1);

	/** The most time for the removal of keys at each server. */
	private static final Duration REMOVAL = Duration.ofSeconds(10);

	private final Tasks tasks;

	private final Jobs jobs;

	private final RedisNodes nodes;

	private final MemoryBudget memory;

	/** The default settings of jobs, with which the recommendation is compared. */
	private final RowSettings defaults;

	private final Duration timeout;

	/**
	 * The meters of the runs. They are separate because the runs are not jobs of callers,
	 * and of the same kind so that the same code is measured.
	 */
	private final JobMeters meters = new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

	private final AtomicBoolean busy = new AtomicBoolean();

	Tunings(Tasks tasks, Jobs jobs, RedisNodes nodes, MemoryBudget memory, JobDefaults defaults) {
		this.tasks = tasks;
		this.jobs = jobs;
		this.nodes = nodes;
		this.memory = memory;
		this.defaults = RowSettings.of(defaults);
		this.timeout = defaults.toSettings().reliability().timeout();
	}

	/**
	 * Runs a tuning to its end in the calling thread. It has one position in the queue of
	 * jobs.
	 * @param client the client whose tuning it is
	 * @param caller the caller whose thread this is
	 * @throws JobRefusedException if another one runs or waits, or if it may not begin
	 */
	public EndedJob<?> run(Client client, TuningSettings settings, Caller caller) {
		if (!this.busy.compareAndSet(false, true)) {
			throw new JobRefusedException(Reason.TOO_MANY,
					"Another tuning runs, and two at once would distort each other's measurements: send this one again after it has ended");
		}
		try {
			return this.tasks.run(client, JobKind.TUNING, null, caller, (task) -> new Execution(task, settings).run());
		}
		finally {
			this.busy.set(false);
		}
	}

	/**
	 * Runs generated records as a job. They end early, after a whole transaction, if the
	 * job takes too long.
	 * @param task the task whose permit, memory and stop the job has
	 * @param fill fills the record of a number
	 * @param chosen leaves out some of the records
	 */
	private EndedJob<JobReport> run(Task task, int count, ObjIntConsumer<Record> fill, Predicate<Record> chosen,
			RowSettings row, Atomic atomic, Duration most) {
		long begun = System.nanoTime();
		AtomicInteger next = new AtomicInteger();
		RecordReader records = (record) -> {
			while (next.get() < count
					&& (next.get() % BETWEEN_CHECKS != 0 || System.nanoTime() - begun < most.toNanos())) {
				fill.accept(record, next.getAndIncrement());
				if (chosen.test(record)) {
					return true;
				}
			}
			return false;
		};
		JobSettings settings = new JobSettings(
				new Batching(row.batchSize(), row.flush(), row.concurrency(), atomic, Coalesce.OFF, false),
				new Reliability(this.timeout, 0, 0, Duration.ofSeconds(1)), Pace.UNLIMITED,
				new Reporting(Results.ERRORS, null, null, null),
				new Records(null, false, RecordDefaults.NONE, Mapping.NONE, false, null), Check.NONE);
		return this.jobs.run(new JobRequest(new JobOwner(this.meters, Client.SERVICE, task),
				new JobInput.Generated(records, count), settings, JobRequest.Values.IN_ITEMS), Caller.SERVICE);
	}

	/** One tuning. Its runs take its stop, so that a run that fails ends it. */
	private final class Execution {

		private final Task task;

		private final TuningSettings settings;

		private final TuningKeys keys;

		private final List<Candidate> candidates = new ArrayList<>();

		private List<RedisNode> masters = List.of();

		private @Nullable Topology owners;

		private @Nullable Long roundTripMicros;

		/** The runs so far, with those that are not measured. */
		private final AtomicInteger done = new AtomicInteger();

		private boolean written;

		/** Whether commands of a lost connection may still run. */
		private boolean unfenced;

		private Execution(Task task, TuningSettings settings) {
			this.task = task;
			this.settings = settings;
			this.keys = new TuningKeys(task.id(), settings);
			settings.grid().forEach((row) -> add(null, row, Atomic.NONE, settings.records()));
		}

		private void add(@Nullable String how, RowSettings row, Atomic atomic, int records) {
			this.candidates.add(new Candidate(how, row, atomic, records, new ArrayList<>()));
		}

		private EndedJob<TuningReport> run() {
			long keysLeft;
			try {
				this.masters = Tunings.this.nodes.masters();
				this.owners = Tunings.this.nodes.owners();
				requireMemory();
				addBaselines();
				measure();
			}
			catch (NoConnectionException ex) {
				this.task.stop().stop(ex, "send the request again");
			}
			catch (RedisCallException ex) {
				stop((ex.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
						ex.getMessage() + ". Send the request again once Redis answers.");
			}
			finally {
				keysLeft = removeKeys();
			}
			return report(keysLeft);
		}

		/** Stops the tuning if its keys could evict others. */
		private void requireMemory() {
			// Slots and keys are not spread evenly.
			long share = Math.min(this.keys.bytes(), 2 * this.keys.bytes() / this.masters.size());
			for (RedisNode master : this.masters) {
				ServerMemory memory = master.calls().memory();
				Long free = (memory != null) ? memory.freeBytes() : null;
				if (free != null && share > free) {
					stop(Cause.REDIS_REFUSES,
							"The keys of the tuning take about " + share + " bytes, and Redis at " + master.name()
									+ " has " + Math.max(0, free)
									+ " left of its maxmemory: set a smaller 'records' or 'valueBytes'");
				}
			}
		}

		/**
		 * Adds the ways without a good pipeline. A run without any pipeline has as many
		 * records as fit into about a second.
		 */
		private void addBaselines() {
			long micros = 1_000;
			try {
				micros = this.masters.stream()
					.mapToLong((master) -> master.calls().roundTripNanos(PINGS) / 1_000)
					.max()
					.orElse(micros);
				this.roundTripMicros = micros;
			}
			catch (RedisCallException ex) {
				// The user may lack the permission for PING, which jobs do not need.
			}
			int records = this.settings.records();
			add("one by one", ONE_BY_ONE, Atomic.NONE,
					(int) Math.min(records, Math.max(10, 1_000_000 / Math.max(500, micros))));
			try {
				this.masters.forEach((master) -> master.facts().checkTransactions());
				add("MULTI/EXEC", TRANSACTIONS, Atomic.BATCH, records);
			}
			catch (RedisCallException ex) {
				// The user may lack the permission for MULTI, which SETs do not need.
			}
			add("pipeline, flush each", FLUSH_EACH, Atomic.NONE, records);
		}

		/**
		 * Runs all candidates in turns, so that noise on the machine affects all of them
		 * alike. Each round begins with another one. Each row runs once before,
		 * unmeasured: then all find open connections, existing keys and compiled code.
		 */
		private void measure() {
			int rows = this.settings.grid().size();
			int size = this.candidates.size();
			int all = rows + this.settings.runs() * size;
			this.task.tallies(() -> Tally.of(Math.max(0, this.done.get() - rows), (long) all - rows));
			long begun = System.nanoTime();
			while (this.done.get() < all && !this.task.stop().isSet()
					&& System.nanoTime() - begun < this.settings.budget().toNanos()) {
				int turn = this.done.get() - rows;
				Candidate candidate = this.candidates
					.get((turn < 0) ? this.done.get() : (turn + turn / size * size / this.settings.runs()) % size);
				measure(candidate, (turn < 0 && this.done.get() > 0) ? WARM_UP_RECORDS : candidate.records());
				if (turn < 0) {
					candidate.runs().clear();
				}
				this.done.incrementAndGet();
			}
		}

		private void measure(Candidate candidate, int most) {
			if (this.keys.needPreparation() && run(TuningKeys.PREPARING * this.keys.count(), this.keys::prepare,
					TRANSACTIONS, Atomic.BATCH) == null) {
				// A run could create a key without an expiry.
				return;
			}
			Double before = cpuSeconds();
			JobReport report = run(Math.min(most, candidate.records()), this.keys::write, candidate.settings(),
					candidate.atomic());
			Double after = cpuSeconds();
			if (report != null) {
				candidate.runs()
					.add(new Run(report.timings().totalMillis() / 1000, report.timings().batches().p99Millis(),
							report.sent().writes(), (before != null && after != null) ? after - before : null));
			}
		}

		/** The CPU time of all masters so far; {@code null} if one does not report it. */
		private @Nullable Double cpuSeconds() {
			List<Double> seconds = this.masters.stream()
				.flatMap((master) -> Stream.ofNullable(master.calls().cpuSeconds()))
				.toList();
			return (seconds.size() == this.masters.size()) ? seconds.stream().mapToDouble(Double::doubleValue).sum()
					: null;
		}

		/**
		 * Runs records. They may take as long as the budget: a slow run could otherwise
		 * outlast the expiry of its keys.
		 */
		private @Nullable JobReport run(int count, ObjIntConsumer<Record> fill, RowSettings row, Atomic atomic) {
			EndedJob<JobReport> job = Tunings.this.run(this.task, count, fill, (record) -> true, row, atomic,
					this.settings.budget());
			JobReport report = job.report();
			Counts counts = report.counts();
			this.written |= counts.applied() + counts.unknown() > 0;
			this.unfenced |= Boolean.FALSE.equals(report.losses().fenced());
			if (job.ending().cause() != Cause.COMPLETED) {
				stop(job.ending().cause(), job.ending().detail());
				return null;
			}
			if (counts.rejected() > 0) {
				stop(Cause.REDIS_REFUSES, "Redis refused a record of the tuning: " + error(report));
			}
			return (counts.errors() > 0) ? null : report;
		}

		/** The first error. EXECABORT is that of the others of a transaction. */
		private static String error(JobReport report) {
			return report.items()
				.stream()
				.flatMap((item) -> Stream.ofNullable(item.error()))
				.filter((error) -> !error.code().equals("EXECABORT"))
				.findFirst()
				.map(Failure::message)
				.orElse("it gave no reason");
		}

		private void stop(Cause cause, String detail) {
			this.task.stop().stop(cause, detail);
		}

		/**
		 * Removes the keys, by a job for each master with a stop of its own, because one
		 * of them may not answer. Returns how many may remain. A command of a lost
		 * connection may still run and create a removed key again: a SET with an expiry,
		 * but a hash or a list without one. In that case hashes and lists are not removed
		 * but left to expire.
		 */
		private long removeKeys() {
			int count = (this.written) ? this.keys.count() : 0;
			long left = count;
			Topology owners = this.owners;
			if (count == 0 || owners == null || (this.unfenced && this.keys.needPreparation())) {
				return count;
			}
			for (RedisNode master : this.masters) {
				JobStop stop = new JobStop();
				try (MemoryShare memory = Tunings.this.memory.open(stop)) {
					Counts counts = Tunings.this
						.run(new Task(JobKind.TUNING, null, stop, memory), count, this.keys::remove,
								(key) -> owners.owner(key.slot()) == master, REMOVALS, Atomic.NONE, REMOVAL)
						.report()
						.counts();
					left -= counts.applied() + counts.noop();
				}
			}
			return (this.unfenced) ? count : left;
		}

		private EndedJob<TuningReport> report(long keysLeft) {
			List<Row> rows = rows((candidate) -> candidate.how() == null);
			Recommendation recommendation = Recommendation.of(rows, this.settings, Tunings.this.defaults);
			Ending ending = this.task.ending();
			Cause cause = (ending.cause() == Cause.REDIS_UNREACHABLE && this.written) ? Cause.REDIS_LOST
					: ending.cause();
			String detail = (keysLeft == 0) ? ending.detail() : (ending.detail() + " " + keysLeft + " keys under '"
					+ this.keys.prefix() + "' may remain; they expire within an hour.")
				.strip();
			TuningReport report = new TuningReport(this.task.id(), cause.state(), this.settings.toReport(),
					this.roundTripMicros, rows, rows((candidate) -> candidate.how() != null), recommendation.choice(),
					recommendation.because(), (keysLeft > 0) ? keysLeft : null);
			return new EndedJob<>(this.task.id(), report, new Ending(cause, detail), this.written, this.task.memory());
		}

		private List<Row> rows(Predicate<Candidate> which) {
			return this.candidates.stream()
				.filter(which)
				.map((candidate) -> Row.of(candidate, this.settings.records()))
				.toList();
		}

	}

}
