package io.pipeset.job.journal;

import java.io.IOException;

import io.pipeset.job.FailedRecord;
import io.pipeset.job.journal.OutcomeJournal.Outcomes;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;

/**
 * The outcomes that a job has from its earlier runs. Its records are read once more from
 * the first one on; those that have their outcome are entered into the account as they
 * are, and not sent again.
 */
public final class EarlierOutcomes {

	/** The account, and so whoever looks, hears of so many records at once. */
	private static final int MOST_IN_A_ROW = 1000;

	private final Outcomes outcomes;

	private final long records;

	/** Records in a row that ran alike, which are counted at once. */
	private long run;

	private String runOperation = Account.NO_OPERATION;

	private Outcome runOutcome = Outcome.APPLIED;

	/**
	 * The outcomes, of which none is read yet.
	 * @param records up to the last record that has one
	 */
	EarlierOutcomes(Outcomes outcomes, long records) {
		this.outcomes = outcomes;
		this.records = records;
	}

	/**
	 * Deals with the next record.
	 * @param keyed whether an item may carry its key
	 * @return {@code false} if it has no outcome, and is to be run
	 * @throws IOException if the journal cannot be read
	 */
	public boolean settles(Record record, Account account, boolean keyed) throws IOException {
		if (record.index() >= this.records) {
			endRun(account);
			return false;
		}
		JournalEntry entry = this.outcomes.next();
		if (entry.equals(JournalEntry.NOT_RUN)) {
			return false;
		}
		if (entry.mayRunAgain()) {
			record.setMayHaveRun();
			return false;
		}
		String operation = (record.hasOperation()) ? record.operation().toString() : Account.NO_OPERATION;
		Failure failure = entry.failure();
		if (failure != null) {
			account.countEarlier(operation, entry.outcome(), 1);
			FailedRecord.list(record, entry.outcome(), failure, account, keyed, record.rejection() != null);
		}
		else {
			if (entry.outcome() != this.runOutcome || !operation.equals(this.runOperation)
					|| this.run == MOST_IN_A_ROW) {
				endRun(account);
				this.runOutcome = entry.outcome();
				this.runOperation = operation;
			}
			this.run++;
		}
		return true;
	}

	private void endRun(Account account) {
		if (this.run > 0) {
			account.countEarlier(this.runOperation, this.runOutcome, this.run);
			this.run = 0;
		}
	}

	/**
	 * The job reads no more: its other records keep the outcomes that they have.
	 * @param read how many were read
	 * @return how many there are with those
	 * @throws IOException if the journal cannot be read
	 */
	public long end(long read, Account account) throws IOException {
		endRun(account);
		if (read >= this.records) {
			return read;
		}
		this.outcomes.count(read, this.records, account);
		return this.records;
	}

}
