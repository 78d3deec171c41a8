package io.pipeset.run;

import java.util.List;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Estimate;
import io.pipeset.report.Item;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/** Counts and lists the valid records of a dry run, and samples them for an estimate. */
final class DryRun {

	private final Account account;

	private final @Nullable MemorySample sample;

	/** Consecutive records of the same operation, which are counted together. */
	private long uncounted;

	private @Nullable Operation operation;

	/**
	 * Begins a dry run.
	 * @param sample takes the records; {@code null} without an estimate
	 */
	DryRun(Account account, @Nullable MemorySample sample) {
		this.account = account;
		this.sample = sample;
		account.setDryRun();
	}

	void add(Record record) {
		if (record.operation() != this.operation) {
			end();
			this.operation = record.operation();
		}
		this.uncounted++;
		if (this.sample != null) {
			this.sample.add(record);
		}
		if (this.account.wantsReplies()
				&& this.account.claimItem(Outcome.UNPROCESSED, record.itemBytes() + record.commandBytes())) {
			this.account.list(new Item(record.index(), (record.line() > 0) ? record.line() : null, record.id(),
					record.operation().toString(), record.key(), Outcome.UNPROCESSED, null, null, null,
					record.commandWords(), null));
		}
	}

	/** Counts the records that are not counted yet. */
	void end() {
		if (this.operation != null) {
			this.account.count(this.operation.toString(), Outcome.UNPROCESSED, this.uncounted);
		}
		this.uncounted = 0;
	}

	/**
	 * Estimates the memory of the records.
	 * @param warnings receives the reason if it is not possible
	 * @return {@code null} if there is no estimate
	 */
	@Nullable Estimate estimate(RedisNodes nodes, List<Warning> warnings) {
		try {
			Estimate estimate = (this.sample != null) ? this.sample.measure(nodes) : null;
			if (this.sample != null && estimate == null) {
				warnings.add(new Warning("NOT_ESTIMATED", null, "The memory of the keys could not be "
						+ "estimated: a sample of them may be wrong by more than 25 %", null));
			}
			return estimate;
		}
		catch (RedisCallException ex) {
			warnings.add(new Warning("NOT_ESTIMATED", null, "The memory of the keys could not be estimated: "
					+ ex.getMessage() + ". The service's user needs EVAL, MEMORY USAGE and the keys pipeset:*", null));
			return null;
		}
	}

}
