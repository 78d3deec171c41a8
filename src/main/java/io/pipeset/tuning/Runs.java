package io.pipeset.tuning;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.job.EndedJob;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.run.JobOwner;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.run.Task;
import io.pipeset.job.settings.Atomic;
import io.pipeset.job.settings.Coalesce;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.record.Operation;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobReport;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

/**
 * Executes the single runs of a tuning. Each run is a job with generated records, and
 * finds the keys in the same state.
 */
final class Runs {

	/** The most records of a run that is not measured. */
	private static final int WARM_UP_RECORDS = 10_000;

	private final Task task;

	private final JobOwner owner;

	private final TuningSettings settings;

	private final TuningKeys keys;

	private final Jobs jobs;

	private final TunedServers servers;

	private final Duration timeout;

	private final LongSupplier clock;

	private boolean begun;

	private boolean written;

	private boolean unfenced;

	Runs(Task task, JobOwner owner, TuningSettings settings, TuningKeys keys, Jobs jobs, TunedServers servers,
			Duration timeout, LongSupplier clock) {
		this.task = task;
		this.owner = owner;
		this.settings = settings;
		this.keys = keys;
		this.jobs = jobs;
		this.servers = servers;
		this.timeout = timeout;
		this.clock = clock;
	}

	/** Whether a run has begun, so that the tuning may have keys in Redis. */
	boolean haveBegun() {
		return this.begun;
	}

	/** Whether any run has changed, or may have changed, a key. */
	boolean haveWritten() {
		return this.written;
	}

	/** Whether commands of a lost connection may still run. */
	boolean mayHaveLateCommands() {
		return this.unfenced;
	}

	/** Runs all records with the settings of a row. */
	Run run(RowSettings choice) {
		return run(choice, Atomic.NONE);
	}

	/** Runs all records in transactions, one per batch. */
	Run runAtomic(int batchSize) {
		return run(new RowSettings(batchSize, FlushPolicy.close(), 1), Atomic.BATCH);
	}

	private Run run(RowSettings choice, Atomic atomic) {
		prepare();
		TunedServers.CpuTime before = this.servers.cpuTime();
		JobReport report = load(this.settings.records(), choice, atomic);
		Double redisCpu = this.servers.cpuTime().since(before);
		return new Run(report.timings().totalMillis() / 1000, report.timings().batches().p99Millis(),
				report.sent().writes(), redisCpu);
	}

	/** Runs some of the records with the settings of a row, and measures nothing. */
	void warmUp(RowSettings choice) {
		prepare();
		load(Math.min(this.settings.records(), WARM_UP_RECORDS), choice, Atomic.NONE);
	}

	private JobReport load(int count, RowSettings choice, Atomic atomic) {
		TuningRecords records = records(count);
		JobReport report = run(records, count, settings(choice, this.settings.operation(), atomic));
		if (records.isTimedOut() && report.counts().rejected() == 0) {
			// A run may take as long as the whole budget, so the budget is used up now.
			throw new TuningEndedException(Ending.COMPLETED);
		}
		return requireNoErrors(report);
	}

	/** Resets the keys, so that each run starts from the same state. */
	void prepare() {
		if (this.keys.needPreparation()) {
			PreparedKeys prepared = new PreparedKeys(this.keys);
			requireNoErrors(run(prepared, prepared.count(),
					settings(new RowSettings(PreparedKeys.BATCH_SIZE, FlushPolicy.close(), 1), null, Atomic.BATCH)));
		}
		else {
			requireNotStopped();
		}
	}

	/**
	 * The records of a run. They end when the run has taken as long as the budget: a slow
	 * run could otherwise outlast the expiry of its keys.
	 */
	TuningRecords records(int count) {
		return new TuningRecords(this.keys, this.settings.valueBytes(), count, this.clock,
				this.clock.getAsLong() + this.settings.budget().toNanos());
	}

	/**
	 * Checks that the tuning was not stopped.
	 * @throws TuningEndedException if it was stopped
	 */
	void requireNotStopped() {
		if (this.task.stop().isSet()) {
			throw new TuningEndedException(this.task.ending());
		}
	}

	private JobReport run(RecordReader records, long count, JobSettings settings) {
		requireNotStopped();
		this.begun = true;
		EndedJob<JobReport> job = this.jobs.run(this.owner, new JobInput.Generated(records, count), settings,
				Jobs.Values.IN_ITEMS, Caller.SERVICE);
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

	private static JobReport requireNoErrors(JobReport report) {
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
					// EXECABORT is the error of the other records of the transaction.
					return first;
				}
			}
		}
		return first;
	}

	private JobSettings settings(RowSettings choice, @Nullable Operation operation, Atomic atomic) {
		return new JobSettings(choice.batchSize(), choice.flush(), choice.concurrency(), this.timeout, null, 0, 0,
				Duration.ofSeconds(1), Results.ERRORS, operation, operation != null, RecordDefaults.NONE, Mapping.NONE,
				false, null, null, atomic, Coalesce.OFF, false, false, null, null, null);
	}

}
