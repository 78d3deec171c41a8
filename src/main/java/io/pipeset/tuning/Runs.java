package io.pipeset.tuning;

import java.time.Duration;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.job.EndedJob;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.run.JobPlace;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.run.Task;
import io.pipeset.job.settings.Atomic;
import io.pipeset.job.settings.Coalesce;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.record.Operation;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Slots;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Single runs: each is a job of records that the service makes, against the same state of
 * its keys.
 */
final class Runs {

	/** The records of a run that is not measured. */
	private static final int WARM_UP = 10_000;

	/**
	 * The longest that the removal of all keys takes, because a shutdown may wait for it.
	 */
	private static final Duration REMOVAL_TIME = Duration.ofSeconds(10);

	private static final Choice REMOVAL = new Choice(10_000, FlushPolicy.buffered(1000), 1);

	private static final Logger logger = LoggerFactory.getLogger(Runs.class);

	private final Task task;

	private final JobPlace place;

	private final TuningSettings settings;

	private final TuningKeys keys;

	private final Jobs jobs;

	private final TunedServers servers;

	private final Duration timeout;

	private final LongSupplier clock;

	private boolean begun;

	private boolean written;

	private boolean unfenced;

	Runs(Task task, JobPlace place, TuningSettings settings, TuningKeys keys, Jobs jobs, TunedServers servers,
			Duration timeout, LongSupplier clock) {
		this.task = task;
		this.place = place;
		this.settings = settings;
		this.keys = keys;
		this.jobs = jobs;
		this.servers = servers;
		this.timeout = timeout;
		this.clock = clock;
	}

	/** Whether there may be keys. */
	boolean haveBegun() {
		return this.begun;
	}

	/** Whether any run has changed, or may have changed, a key. */
	boolean haveWritten() {
		return this.written;
	}

	/** Whether commands of a lost connection may still run. */
	boolean areUnfenced() {
		return this.unfenced;
	}

	/** Runs all records by the settings of a row. */
	Run run(Choice choice) {
		return run(choice, Atomic.NONE);
	}

	/** Runs all records in transactions, a batch each. */
	Run runAtomic(int batchSize) {
		return run(new Choice(batchSize, FlushPolicy.close(), 1), Atomic.BATCH);
	}

	private Run run(Choice choice, Atomic atomic) {
		prepare();
		TunedServers.CpuTime before = this.servers.cpuTime();
		JobReport report = load(this.settings.records(), choice, atomic);
		Double redisCpu = this.servers.cpuTime().since(before);
		return new Run(report.timings().totalMillis() / 1000, report.timings().batches().p99Millis(),
				report.sent().writes(), redisCpu);
	}

	/** Runs some of the records by the settings of a row, and measures nothing. */
	void warmUp(Choice choice) {
		prepare();
		load(Math.min(this.settings.records(), WARM_UP), choice, Atomic.NONE);
	}

	private JobReport load(int count, Choice choice, Atomic atomic) {
		TuningRecords records = records(count);
		JobReport report = run(records, count, settings(choice, this.settings.operation(), atomic));
		if (records.isBrokenOff() && report.counts().rejected() == 0) {
			// The budget is used up as well, as the run began within it.
			throw new TuningEndedException(Ending.COMPLETED);
		}
		return requireGood(report);
	}

	/** Lets a run that is no job meet the same keys. */
	void prepare() {
		if (this.keys.arePrepared()) {
			PreparedKeys prepared = new PreparedKeys(this.keys);
			requireGood(run(prepared, prepared.count(),
					settings(new Choice(PreparedKeys.BATCH_SIZE, FlushPolicy.close(), 1), null, Atomic.BATCH)));
		}
		else {
			requireGoingOn();
		}
	}

	/**
	 * The records of a run. It takes no longer than the budget: with small batches far
	 * away it could outlast the expiry of its keys.
	 */
	TuningRecords records(int count) {
		return new TuningRecords(this.keys, this.settings.valueBytes(), count, this.clock,
				this.clock.getAsLong() + this.settings.budget().toNanos());
	}

	/** Ends the tuning if it was stopped. */
	void requireGoingOn() {
		if (this.task.stop().isSet()) {
			throw new TuningEndedException(this.task.ending());
		}
	}

	/**
	 * Removes the keys, also those of a tuning that was stopped. Each master has a job of
	 * its own, so that one that does not answer keeps no key at the others.
	 * @return how many may be left, and expire by themselves
	 */
	long removeKeys() {
		long end = this.clock.getAsLong() + REMOVAL_TIME.toNanos();
		Map<RedisNode, BitSet> keys = new LinkedHashMap<>();
		long left = 0;
		for (int number = 0; number < this.keys.count(); number++) {
			byte[] key = this.keys.key(number);
			RedisNode owner = this.servers.owner(Slots.of(key, 0, key.length));
			if (owner != null) {
				keys.computeIfAbsent(owner, (any) -> new BitSet()).set(number);
			}
			else {
				left++;
			}
		}
		for (BitSet numbers : keys.values()) {
			left += removeKeys(numbers, end);
		}
		return left;
	}

	private long removeKeys(BitSet numbers, long end) {
		Task removal = new Task(JobKind.TUNING, null, new JobStop(), this.task.memory());
		EndedJob<JobReport> job = this.jobs.run(new JobPlace(this.place.meters(), this.place.client(), removal),
				new JobInput.Generated(new KeyRemoval(this.keys, numbers, this.clock, end), numbers.cardinality()),
				settings(REMOVAL, Operation.UNLINK, Atomic.NONE, Coalesce.AUTO), Jobs.Values.IN_ITEMS, Caller.NOBODY);
		Counts counts = job.report().counts();
		long left = numbers.cardinality() - counts.applied() - counts.noop();
		if (left > 0) {
			logger.warn("{} keys {}* could not be removed, and expire by themselves within an hour: {}", left,
					this.keys.prefix(),
					(job.ending().cause() != Cause.COMPLETED) ? job.ending().detail() : error(job.report()));
		}
		return left;
	}

	private JobReport run(RecordReader records, long count, JobSettings settings) {
		requireGoingOn();
		this.begun = true;
		EndedJob<JobReport> job = this.jobs.run(this.place, new JobInput.Generated(records, count), settings,
				Jobs.Values.IN_ITEMS, Caller.NOBODY);
		boolean writtenBefore = this.written;
		this.written |= job.report().counts().applied() + job.report().counts().unknown() > 0;
		this.unfenced |= Boolean.FALSE.equals(job.report().losses().fenced());
		Ending ending = job.ending();
		if (ending.cause() != Cause.COMPLETED) {
			throw new TuningEndedException((ending.cause() == Cause.REDIS_UNREACHABLE && writtenBefore)
					? new Ending(Cause.REDIS_LOST, ending.detail()) : ending);
		}
		return job.report();
	}

	private static JobReport requireGood(JobReport report) {
		if (report.errorCount() > 0) {
			throw new TuningEndedException(
					new Ending(Cause.REDIS_REFUSES, "Redis refused a record of the tuning: " + error(report)));
		}
		return report;
	}

	private static String error(JobReport report) {
		String first = "it gave no reason";
		for (Item item : report.items()) {
			Failure error = item.error();
			if (error != null) {
				first = item.op() + ": " + error.message();
				if (!error.code().equals("EXECABORT")) {
					// The culprit, and no other record of its transaction.
					return first;
				}
			}
		}
		return first;
	}

	private JobSettings settings(Choice choice, @Nullable Operation operation, Atomic atomic) {
		return settings(choice, operation, atomic, Coalesce.OFF);
	}

	private JobSettings settings(Choice choice, @Nullable Operation operation, Atomic atomic, Coalesce coalesce) {
		return new JobSettings(choice.batchSize(), choice.flush(), choice.concurrency(), this.timeout, null, 0, 0,
				Duration.ofSeconds(1), Results.ERRORS, operation, operation != null, RecordDefaults.NONE, Mapping.NONE,
				false, null, atomic, coalesce, false);
	}

}
