package io.pipeset.job;

import java.util.Map;

import io.pipeset.job.settings.JobSettings;
import io.pipeset.lane.LaneContext;
import io.pipeset.memory.MemoryShare;
import io.pipeset.pop.PopReceipt;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.Outcome;
import io.pipeset.report.Timings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that was admitted, with all that its report is drawn from.
 *
 * @param id the job's name in logs and reports
 * @param settings how to run it
 * @param context its account, its clock, its stop, and the other things that its lanes
 * share
 * @param memory its share of the service's memory
 * @param receipt the receipt of a job that pops reliably; {@code null} for others
 */
record RunningJob(String id, JobSettings settings, LaneContext context, MemoryShare memory,
		@Nullable PopReceipt receipt) {

	private static final Logger logger = LoggerFactory.getLogger(RunningJob.class);

	/**
	 * Draws the report, once nothing of the job is on its way any more.
	 * @param input how its input ended
	 * @return an outcome for every record
	 */
	JobReport report(InputProgress input) {
		balance(input.received());
		Account account = this.context.account();
		Counts counts = account.counts();
		Receipt handedOver = (this.receipt != null) ? this.receipt.handOver(account) : null;
		Map<String, Object> settings = this.settings.toReport();
		if (this.receipt != null) {
			this.receipt.addTo(settings);
		}
		Ending ending = JobEnding.of(this.context.stop().ending(), input.ending(), counts.unknown(),
				account.bytesSent() > 0);
		Timings timings = this.context.clock().timings();
		return new JobReport(this.id, ending, counts, input.isComplete(), (input.isComplete()) ? null : input.read(),
				account.fenced(), input.byteOffset(), timings,
				Math.round(account.replied() * 1000 / Math.max(timings.totalMillis(), 0.001)), account.bytesSent(),
				settings, account.values(), handedOver, account.items(), account.itemsOmitted(),
				this.settings.dryRun());
	}

	/**
	 * Sees to it that every record has an outcome: a record of which nothing is known, by
	 * a defect, may have run.
	 */
	private void balance(long received) {
		Account account = this.context.account();
		long accounted = account.counts().received();
		if (accounted != received) {
			String detail = "The account has outcomes for " + accounted + " of " + received
					+ " records, by a defect of the service; the others are counted as unknown";
			logger.error("Job {}: {}", this.id, detail);
			this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
			account.count(Account.NO_OPERATION, Outcome.UNKNOWN, received - accounted);
		}
	}

}
