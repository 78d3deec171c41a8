package io.pipeset.input;

import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;

/** Adds a record that is rejected, unknown or unprocessed to the report. */
public final class FailedRecord {

	private FailedRecord() {
	}

	/**
	 * Counts the error code of a record, and lists the record if the report may list
	 * another one.
	 * @param keyed whether to list the record's key
	 * @param unreadable whether the record could not be parsed, so that its text is
	 * listed
	 */
	public static void list(Record record, Outcome outcome, Failure failure, Account account, boolean keyed,
			boolean unreadable) {
		account.errorCodes().add(failure.code(), 1);
		long bytes = failure.message().length() + ((keyed) ? record.itemBytes() : 0)
				+ ((unreadable) ? record.rawBytes() : 0);
		if (account.claimItem(outcome, bytes)) {
			account.list(new Item(record.index(), (record.line() > 0) ? record.line() : null, record.id(),
					(record.hasOperation()) ? record.operation().toString() : null, (keyed) ? record.key() : null,
					outcome, failure, null, null, null, (unreadable) ? record.raw() : null));
		}
	}

}
