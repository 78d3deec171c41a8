package io.pipeset.job;

import java.util.List;
import java.util.Map;

import io.pipeset.job.input.JobInput;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.settings.Setting;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Input;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.RedisIdentity;
import io.pipeset.report.Timings;
import org.jspecify.annotations.Nullable;

/**
 * The report of a job of records at any moment: all that it is made of, which grows while
 * the job runs.
 */
public record ReportDraft(String id, RedisIdentity redis, JobSettings settings, RateLimit rateLimit, Account account,
		JobClock clock, InputProgress progress, JobInput input) {

	/** How far the job has come; any thread may ask at any time. */
	public Tally tally() {
		boolean complete = this.progress.isComplete();
		Counts settled = this.account.counts();
		long unread = unread(settled);
		Counts counts = counts(settled, unread);
		long read = counts.received() - unread;
		long done = (this.settings.dryRun()) ? read : settled.received() - unread;
		Long total = (this.settings.untilEmpty()) ? null : this.input.total();
		if (total != null) {
			return new Tally(counts, read, done, total, Progress.share(done, total));
		}
		// The bytes behind the last record are read with it.
		double input = this.input.share() * Progress.share(done, read);
		return new Tally(counts, read, done, null, (complete && done == read && !Double.isNaN(input)) ? 1 : input);
	}

	/**
	 * The report of the job while it runs; any thread may ask for it at any time. Its
	 * outcomes add up to the records read so far.
	 * <p>
	 * A record that was read and has no outcome yet is {@code unprocessed} as long as the
	 * job has certainly written nothing: before its first batch, and in a dry run. After
	 * that it is {@code unknown}, because it may have been written; it gets its real
	 * outcome later. Records that are still to be generated are not in the counts.
	 * <p>
	 * A phase counts in the timings once it has ended. The items are those listed so far;
	 * of records that are settled at this moment some may be counted and not listed, or
	 * listed and not counted. Values in a list of their own, and the receipt for values,
	 * are only in the report of the job that has ended.
	 */
	public JobReport snapshot(JobState state) {
		Counts settled = this.account.counts();
		boolean complete = this.progress.isComplete();
		long unread = unread(settled);
		Counts counts = counts(settled, unread);
		return report(state, counts, unread, this.progress.input(complete, counts.received() - unread), null, null,
				List.of());
	}

	/**
	 * The records that were to be generated and were not, once they are counted, which
	 * comes a moment after they are known.
	 */
	private long unread(Counts settled) {
		long unread = this.progress.unread();
		return (settled.unprocessed() >= unread) ? unread : 0;
	}

	/** Adds the records without an outcome to those that have one. */
	private Counts counts(Counts settled, long unread) {
		// A record is read before it is counted, and a batch begins before it writes. In
		// this order no more records are counted than were read, and none of those read
		// was written if no batch has begun.
		long read = this.progress.read();
		long open = Math.max(0, read + unread - this.account.leftOut() - settled.received());
		boolean written = !this.settings.dryRun() && this.clock.hasBegunBatch();
		return new Counts(settled.received() + open, settled.applied(), settled.noop(), settled.rejected(),
				settled.unknown() + ((written) ? open : 0), settled.unprocessed() + ((written) ? 0 : open));
	}

	/** The report of the job once nothing of it is on its way any more. */
	public JobReport last(JobState state, @Nullable Receipt receipt, List<Warning> warnings) {
		return report(state, this.account.counts(), this.progress.unread(),
				this.progress.input(this.progress.isComplete(), this.progress.read()), this.account.values(), receipt,
				warnings);
	}

	private JobReport report(JobState state, Counts counts, long unread, Input input, @Nullable List<Object> values,
			@Nullable Receipt receipt, List<Warning> warnings) {
		Map<String, Object> settings = this.settings.toReport();
		long perSecond = this.rateLimit.perSecond();
		settings.compute(Setting.RATE_LIMIT.name(), (name, before) -> (perSecond > 0) ? perSecond : null);
		this.input.addTo(settings);
		Timings timings = this.clock.timings();
		Long wouldRun = (this.settings.dryRun()) ? counts.unprocessed() - unread : null;
		return new JobReport(this.id, state, counts, wouldRun, input, this.account.losses().found(), timings,
				this.account.sent(timings.totalMillis()), this.redis.name(), settings, this.input.scan(), values,
				receipt, warnings, this.account.errorCodes().counts(), this.account.items(),
				Math.max(0, this.account.itemsOmitted()), this.settings.dryRun());
	}

}
