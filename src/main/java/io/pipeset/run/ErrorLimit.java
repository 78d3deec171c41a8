package io.pipeset.run;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Stops a job if it has more rejected records than it allows, or if Redis refuses its
 * transactions.
 *
 * @param maxErrors the most rejected records that do not stop the job; {@code null} for
 * no limit
 */
record ErrorLimit(Account account, JobStop stop, @Nullable Long maxErrors) implements Runnable {

	@Override
	public void run() {
		String refusal = this.account.transactionRefusal();
		if (refusal != null) {
			this.stop.stop(Cause.REDIS_REFUSES, refusal + ". " + Requirements.TRANSACTIONS_REMEDY);
		}
		if (this.maxErrors != null && this.account.total(Outcome.REJECTED) > this.maxErrors) {
			this.stop.stop(Cause.STOPPED, "More records were rejected than maxErrors=" + this.maxErrors + " allows");
		}
	}

}
