package io.pipeset.job.run;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/** Takes the good records of a job that only checks them. */
final class DryRun {

	private final Account account;

	/** Records in a row of one operation, which are counted at once. */
	private long run;

	private @Nullable Operation runOperation;

	DryRun(Account account) {
		this.account = account;
		account.setDryRun();
	}

	void take(Record record) {
		if (record.operation() != this.runOperation) {
			end();
			this.runOperation = record.operation();
		}
		this.run++;
		if (this.account.wantsReplies()
				&& this.account.claimItem(Outcome.UNPROCESSED, record.itemBytes() + record.commandBytes())) {
			this.account.list(new Item(record.index(), (record.line() > 0) ? record.line() : null, record.id(),
					record.operation().toString(), record.key(), Outcome.UNPROCESSED, null, null, record.commandWords(),
					null));
		}
	}

	/** Counts the records that are not counted yet. */
	void end() {
		if (this.runOperation != null) {
			this.account.count(this.runOperation.toString(), Outcome.UNPROCESSED, this.run);
		}
		this.run = 0;
	}

}
