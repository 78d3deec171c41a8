package io.pipeset.keep;

import java.util.List;
import java.util.Map;

import io.pipeset.input.InputProgress;
import io.pipeset.input.JobInput;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Estimate;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Input;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Replaced;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.RedisIdentity;
import io.pipeset.report.Timings;
import io.pipeset.report.Verified;
import io.pipeset.request.JobSettings;
import io.pipeset.request.RateLimit;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a job's report, which change while the job runs. It creates the report of
 * the job so far and the final one.
 */
public record ReportDraft(String id, RedisIdentity redis, JobSettings settings, RateLimit rateLimit, Account account,
		JobClock clock, InputProgress progress, JobInput input) {

	/** The counts and the progress so far; any thread may call it at any time. */
	public Tally tally() {
		boolean complete = this.progress.isComplete();
		Counts settled = this.account.counts();
		long unread = unread(settled);
		Counts counts = counts(settled, unread);
		Replaced replaced = this.account.replaced();
		long removed = (replaced != null) ? replaced.removed() : 0;
		long read = counts.received() - unread + removed;
		long done = (this.settings.check().dryRun()) ? read : settled.received() - unread + removed;
		if (this.account.isReplacing()) {
			// It is not known how many keys there are.
			return new Tally(counts, read, done, null, Double.NaN);
		}
		Long total = (this.settings.records().untilEmpty()) ? null : this.input.total();
		if (total != null) {
			return new Tally(counts, read, done, total + removed, Progress.share(done, total + removed));
		}
		// The share includes bytes after the last record that are read but not parsed.
		double input = this.input.share() * Progress.share(done, read);
		return new Tally(counts, read, done, null, (complete && done == read && !Double.isNaN(input)) ? 1 : input);
	}

	/**
	 * The report of the job while it runs; any thread may call it at any time. Its
	 * outcomes add up to the records read so far.
	 * <p>
	 * A record without an outcome yet is {@code unprocessed} before the first batch and
	 * in a dry run, because the job has certainly written nothing. Otherwise it is
	 * {@code unknown}, because it may have been written, and gets its real outcome later.
	 * Records that are still to be generated are not counted.
	 * <p>
	 * The timings include only phases that have ended. A record that gets its outcome at
	 * this time may be counted but not listed, or listed but not counted. Only the final
	 * report has the separate list of values and the receipt for values.
	 */
	public JobReport snapshot(JobState state) {
		Counts settled = this.account.counts();
		boolean complete = this.progress.isComplete();
		long unread = unread(settled);
		Counts counts = counts(settled, unread);
		return report(state, counts, unread, this.progress.input(complete, counts.received() - unread), null, null,
				null, List.of());
	}

	/**
	 * The records that were not generated. 0 until they are in the counts too, which
	 * happens shortly after.
	 */
	private long unread(Counts settled) {
		long unread = this.progress.unread();
		return (settled.unprocessed() >= unread) ? unread : 0;
	}

	/** Adds the records without an outcome to the counts of those that have one. */
	private Counts counts(Counts settled, long unread) {
		// The order matters. A record is read before it is counted, so read the counts
		// first. A batch begins before it writes, so check the clock last: if no batch
		// has begun, none of the records read was written.
		long read = this.progress.read();
		long open = Math.max(0, read + unread - this.account.skippedNoops() - settled.received());
		boolean written = this.settings.writes() && this.clock.hasBegunBatch();
		return new Counts(settled.received() + open, settled.applied(), settled.noop(), settled.rejected(),
				settled.unknown() + ((written) ? open : 0), settled.unprocessed() + ((written) ? 0 : open));
	}

	/** The final report, once the job has no commands in flight. */
	public JobReport finalReport(JobState state, @Nullable Receipt receipt, @Nullable Estimate estimate,
			List<Warning> warnings) {
		return report(state, this.account.counts(), this.progress.unread(),
				this.progress.input(this.progress.isComplete(), this.progress.read()), this.account.values(), receipt,
				estimate, warnings);
	}

	private JobReport report(JobState state, Counts counts, long unread, Input input, @Nullable List<Object> values,
			@Nullable Receipt receipt, @Nullable Estimate estimate, List<Warning> warnings) {
		Map<String, Object> settings = this.settings.toReport();
		long perSecond = this.rateLimit.perSecond();
		settings.compute(Setting.RATE_LIMIT.name(), (name, before) -> (perSecond > 0) ? perSecond : null);
		this.input.addTo(settings);
		Timings timings = this.clock.timings();
		Long wouldRun = (this.settings.check().dryRun()) ? counts.unprocessed() - unread : null;
		Verified verified = this.account.verified();
		return new JobReport(this.id, state, counts, wouldRun,
				(verified != null) ? verified.with(this.account.replaced()) : null, estimate,
				input.leavingOut(this.input.leftOut()), this.account.losses().found(), timings, this.clock.latency(),
				this.account.sent(timings.totalMillis()), this.redis.name(), settings, this.input.scan(),
				(verified != null) ? null : this.account.replaced(), values, receipt, warnings,
				this.account.errorCodes().counts(), this.account.items(), Math.max(0, this.account.itemsOmitted()),
				this.settings.check().dryRun());
	}

}
