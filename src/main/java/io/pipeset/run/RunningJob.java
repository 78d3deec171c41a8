package io.pipeset.run;

import java.util.List;
import java.util.stream.Stream;

import io.pipeset.engine.lane.JobMark;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.input.InputProgress;
import io.pipeset.input.JobInput;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.JobItems;
import io.pipeset.keep.JobRun;
import io.pipeset.keep.ReportDraft;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Estimate;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.Outcome;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.Verified;
import io.pipeset.request.JobSettings;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job of records that waits or runs.
 *
 * @param items the body and outcomes on disk; {@code null} if the body is not spooled
 * @param repeatable whether the caller can finish the job by a repeat of its request
 */
record RunningJob(ReportDraft draft, JobStop stop, MemoryShare memory, @Nullable JobItems items,
		boolean repeatable) implements JobRun {

	private static final Logger logger = LoggerFactory.getLogger(RunningJob.class);

	@Override
	public String id() {
		return this.draft.id();
	}

	@Override
	public JobKind kind() {
		return JobKind.RECORDS;
	}

	@Override
	public String operation() {
		return settings().operationName();
	}

	@Override
	public @Nullable String label() {
		return settings().reporting().label();
	}

	@Override
	public @Nullable String callback() {
		return settings().callbackText();
	}

	@Override
	public @Nullable Boolean dryRun() {
		return (settings().check().dryRun()) ? true : null;
	}

	@Override
	public @Nullable Verified verified() {
		return account().verified();
	}

	@Override
	public long settingsBytes() {
		return settings().records().mapping().bytes();
	}

	@Override
	public boolean isSmall() {
		return input().isSmall() && !isSlow() && settings().records().replace() == null;
	}

	/** Whether a limit may slow the job down. */
	boolean isSlow() {
		return rateLimit().perSecond() > 0 || settings().pace().maxLatency() != null;
	}

	JobSettings settings() {
		return this.draft.settings();
	}

	@Override
	public RateLimit rateLimit() {
		return this.draft.rateLimit();
	}

	Account account() {
		return this.draft.account();
	}

	@Override
	public JobClock clock() {
		return this.draft.clock();
	}

	InputProgress progress() {
		return this.draft.progress();
	}

	JobInput input() {
		return this.draft.input();
	}

	@Override
	public Tally tally() {
		return this.draft.tally();
	}

	@Override
	public JobReport snapshot(JobState state) {
		return this.draft.snapshot(state);
	}

	/**
	 * Creates the final report, once the job has no commands in flight.
	 * @param estimate the memory that the records of a dry run would need, if it was
	 * estimated
	 * @param replacement the last stage of the job; {@code null} for none
	 * @param mark tells what ran; {@code null} without {@code exactlyOnce}
	 */
	EndedJob<JobReport> end(@Nullable Estimate estimate, @Nullable Replacement replacement, @Nullable JobMark mark,
			List<Warning> warnings) {
		boolean open = replacement != null && replacement.isOpen();
		boolean removed = replacement != null && replacement.hasSent();
		countMissing(progress().received() - account().skippedNoops());
		Counts counts = account().counts();
		Receipt receipt = input().handOver(account());
		boolean settled = progress().isComplete() && !open && (settings().check().dryRun()
				|| (counts.unknown() == 0 && counts.unprocessed() == 0) || isVerified(counts));
		Ending stopped = this.stop.ending();
		// A cancelled job did not itself lose the records that an earlier run has lost.
		long unknown = counts.unknown()
				- ((stopped != null && stopped.cause() == Cause.CANCELLED) ? account().unknownEarlier() : 0);
		Ending ending = JobEnding.of(stopped, progress().ending(), unknown, account().losses().unconfirmed(),
				account().bytesSent() > 0 || removed, settled);
		if (open) {
			ending = new Ending(ending.cause(),
					ending.detail().replaceFirst("\\.?$", ".") + " All records have run, but not all keys of replace="
							+ settings().records().replace()
							+ " that they did not write are removed: send the request again");
		}
		JobState state = ending.cause().state();
		if (this.items != null && JobEnding.isInterrupted(stopped, this.stop.isClosing(), settled)
				&& this.items.stay()) {
			ending = new Ending(Cause.SHUTTING_DOWN, "The service is shutting down before the end of the job. The job's"
					+ " files stay in the spool: after the restart, resume it with POST /v1/jobs/" + id() + "/resume");
			state = JobState.INTERRUPTED;
		}
		else if (mark != null && mark.isThere() && isContinuable(ending.cause(), settled, mark)
				&& ((this.items != null) ? this.items.stay() : this.repeatable)) {
			ending = new Ending(ending.cause(), ending.detail().replaceFirst("\\.?$", ".") + ((this.items != null)
					? " The job goes on by itself when Redis answers."
					: " Send the same request with the same Idempotency-Key again: it finishes the job, and runs"
							+ " no record twice."));
			state = JobState.INTERRUPTED;
		}
		if (mark != null && state != JobState.INTERRUPTED) {
			mark.expire();
		}
		JobReport report = this.draft.finalReport(state, receipt, estimate, (replacement != null)
				? Stream.concat(warnings.stream(), replacement.warnings().stream()).toList() : warnings);
		boolean effective = counts.applied() > 0 || account().hasRunInPart() || removed;
		boolean touched = (mark != null && mark.hasBegun()) || effective || counts.unknown() > 0 || hasRunScripts();
		return new EndedJob<>(id(), report, ending, effective, touched, this.memory);
	}

	/** Whether all records that were not rejected were compared. */
	private boolean isVerified(Counts counts) {
		Verified verified = verified();
		return verified != null && verified.compared() + counts.rejected() == counts.received();
	}

	/**
	 * Whether a job with a mark can be continued after this end. What a caller has
	 * cancelled, or Redis refuses, cannot.
	 */
	private boolean isContinuable(Cause cause, boolean settled, JobMark mark) {
		return (!settled || mark.isUnsure()) && switch (cause) {
			case SHUTTING_DOWN, REDIS_LOST, REDIS_UNREACHABLE, CONTROL_UNREACHABLE -> true;
			case STALLED, IDEMPOTENCY_KEY_REUSED -> this.repeatable;
			case CANCELLED -> this.repeatable && !this.stop.isCancelled();
			case STOPPED, COMPLETED -> false;
			// The request before this one was good.
			default -> this.repeatable && mark.isContinued();
		};
	}

	/** Whether scripts ran: even a script that failed may have written. */
	private boolean hasRunScripts() {
		return settings().writes() && account().bytesSent() > 0
				&& account().countsByOperation().containsKey(Operation.EVALSHA.toString());
	}

	/**
	 * Counts records without an outcome as unknown, because they may have run. They exist
	 * only because of a defect of the service.
	 */
	private void countMissing(long received) {
		long accounted = account().counts().received();
		if (accounted != received) {
			String detail = "The account has outcomes for " + accounted + " of " + received
					+ " records because of a defect of the service; the others are counted as unknown";
			logger.error("Job {}: {}", id(), detail);
			this.stop.stop(Cause.INTERNAL_SERVER_ERROR, detail);
			account().count(Account.NO_OPERATION, Outcome.UNKNOWN, received - accounted);
		}
	}

}
