package io.pipeset.keep;

import java.io.IOException;

import io.pipeset.input.FailedRecord;
import io.pipeset.keep.OutcomeJournal.Outcomes;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of a resumed job from its earlier runs. The job reads its records again
 * from the first one. A record that already has an outcome is counted, and not sent
 * again.
 */
public final class EarlierOutcomes {

	/** The most records that are counted at once, to show progress. */
	private static final int MAX_RUN = 1000;

	private final Outcomes outcomes;

	private final long records;

	/** Consecutive records with the same operation and outcome, not counted yet. */
	private long runLength;

	private String runOperation = Account.NO_OPERATION;

	private Outcome runOutcome = Outcome.APPLIED;

	/** The outcome of the last record, if the journal says that it ran. */
	private @Nullable Outcome ran;

	/**
	 * The outcomes of a job.
	 * @param records the number of records up to the last one with an outcome
	 */
	EarlierOutcomes(Outcomes outcomes, long records) {
		this.outcomes = outcomes;
		this.records = records;
	}

	/**
	 * Counts the next record if it has an outcome.
	 * @param keyed whether the items of the report may have keys
	 * @return {@code false} if it has no outcome, and must be run
	 * @throws IOException if the journal cannot be read
	 */
	public boolean settles(Record record, Account account, boolean keyed) throws IOException {
		if (record.index() >= this.records) {
			countRun(account);
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
					|| this.runLength == MAX_RUN) {
				countRun(account);
				this.runOutcome = entry.outcome();
				this.runOperation = operation;
			}
			this.runLength++;
		}
		return true;
	}

	private void countRun(Account account) {
		if (this.runLength > 0) {
			account.countEarlier(this.runOperation, this.runOutcome, this.runLength);
			this.runLength = 0;
		}
	}

	/**
	 * Counts the next record if it did not run and never will, by a job with a mark,
	 * which tells what ran.
	 * @param keyed whether the items of the report may have keys
	 * @return {@code false} if the mark has to tell whether it ran
	 * @throws IOException if the journal cannot be read
	 */
	public boolean settlesRejected(Record record, Account account, boolean keyed) throws IOException {
		this.ran = null;
		if (record.index() >= this.records) {
			return false;
		}
		JournalEntry entry = this.outcomes.next();
		Failure failure = entry.failure();
		if (failure == null) {
			this.ran = entry.outcome();
		}
		if (failure == null || entry.outcome() != Outcome.REJECTED) {
			return false;
		}
		account.countEarlier((record.hasOperation()) ? record.operation().toString() : Account.NO_OPERATION,
				Outcome.REJECTED, 1);
		FailedRecord.list(record, Outcome.REJECTED, failure, account, keyed, record.rejection() != null);
		return true;
	}

	/**
	 * The outcome of the last record.
	 * @return applied or noop; {@code null} if the journal does not have its reply
	 */
	public @Nullable Outcome ran() {
		return this.ran;
	}

	/**
	 * Counts the outcomes of the records that the job does not read any more.
	 * @param read how many records were read
	 * @return how many records there are, those not read included
	 * @throws IOException if the journal cannot be read
	 */
	public long end(long read, Account account) throws IOException {
		countRun(account);
		if (read >= this.records) {
			return read;
		}
		this.outcomes.count(read, this.records, account);
		return this.records;
	}

}
