package io.pipeset.job.run;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/** Counts and lists the valid records of a dry run. */
final class DryRun {

	private final Account account;

	/** Consecutive records of the same operation, which are counted together. */
	private long uncounted;

	private @Nullable Operation operation;

	DryRun(Account account) {
		this.account = account;
		account.setDryRun();
	}

	void add(Record record) {
		if (record.operation() != this.operation) {
			end();
			this.operation = record.operation();
		}
		this.uncounted++;
		if (this.account.wantsReplies()
				&& this.account.claimItem(Outcome.UNPROCESSED, record.itemBytes() + record.commandBytes())) {
			this.account.list(new Item(record.index(), (record.line() > 0) ? record.line() : null, record.id(),
					record.operation().toString(), record.key(), Outcome.UNPROCESSED, null, null, record.commandWords(),
					null));
		}
	}

	/** Counts the records that are not counted yet. */
	void end() {
		if (this.operation != null) {
			this.account.count(this.operation.toString(), Outcome.UNPROCESSED, this.uncounted);
		}
		this.uncounted = 0;
	}

}
