package io.pipeset.keep;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.input.InputProgress;
import io.pipeset.input.JobInput;
import io.pipeset.input.UploadedRecords;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.JobSettings;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * An upload whose process ended before the job. Its files are complete, so that it can be
 * resumed. A request that resumes or cancels it must claim it first, because only one
 * may.
 */
public final class InterruptedJob {

	/** Why a job cannot go on, and what to do, for the caller. */
	static final String LOST = "Its process has ended, and could not store the outcomes of all records before, because"
			+ " its spool was full or failed. Each record without a known outcome may have run, and is unknown:"
			+ " check those that must not run twice, and post the others again";

	private final String id;

	private final String client;

	private final long createdMillis;

	private final @Nullable Long declared;

	private final JobItems items;

	private final Counts counts;

	private final JobReport report;

	private final long foundMillis = System.currentTimeMillis();

	private final long processEndedMillis;

	/** What becomes of the job, or what the caller can do, without a full stop. */
	private volatile String remedy;

	private final AtomicBoolean claimed = new AtomicBoolean();

	/**
	 * Reads from the journal how far the job has come.
	 * @param processEndedMillis when the last process of the job ended, in milliseconds
	 * since 1970
	 * @throws IOException if the journal cannot be read, or is broken
	 */
	InterruptedJob(String id, RedisIdentity redis, SpooledRequest request, long processEndedMillis, JobItems items,
			MemoryBudget memory) throws IOException {
		this.remedy = "It is resumed by itself within seconds, or this text says why it is not";
		this.id = id;
		this.client = request.owner();
		this.createdMillis = request.createdMillis();
		this.declared = request.declared();
		this.items = items;
		JobSettings settings = items.settings();
		Account account = new Account(settings.reporting().results(), 0, false);
		InputProgress progress = new InputProgress();
		OutcomeJournal journal = items.journal();
		try (MemoryShare share = memory.open(new JobStop())) {
			journal.cutOff();
			RequestedChanges asked = journal.asked();
			Long noted = asked.interrupted();
			this.processEndedMillis = (noted != null && noted > 0) ? noted : processEndedMillis;
			JobStatus ended = journal.ended();
			if (ended == null && (noted == null || noted == 0)) {
				// Later processes may take the job over as well.
				journal.noteIfPossible(new RequestedChanges(null, null, processEndedMillis, null));
			}
			if (ended == null) {
				long records = (isLost()) ? items.countRecords(share) : journal.records();
				journal.outcomes(share).count(0, records, account);
				progress.setRead(records);
			}
			JobReport left = new ReportDraft(id, redis, settings, new RateLimit(settings.pace().rateLimit()), account,
					new JobClock(), progress, input())
				.snapshot(JobState.INTERRUPTED)
				.with(items.findRemovals(asked));
			this.report = (ended != null && ended.counts() != null) ? left.with(ended.counts()) : left;
		}
		this.counts = this.report.counts();
	}

	public String id() {
		return this.id;
	}

	/** Whether records ran whose outcomes are not stored, so that it cannot go on. */
	boolean isLost() {
		return this.items.journal().isLost() && settings().writes();
	}

	/** The name of the client that owns the job. */
	public String client() {
		return this.client;
	}

	/** When the job was requested, in milliseconds since 1970. */
	long createdMillis() {
		return this.createdMillis;
	}

	/** When the process that ran the job ended, in milliseconds since 1970. */
	public long processEndedMillis() {
		return this.processEndedMillis;
	}

	String remedy() {
		return this.remedy;
	}

	void setRemedy(String remedy) {
		this.remedy = remedy;
	}

	/** When this process found the job, in milliseconds since 1970. */
	long foundMillis() {
		return this.foundMillis;
	}

	/** The operation of its records, or {@code mixed}. */
	String operation() {
		return settings().operationName();
	}

	/** {@code true} for a dry run, otherwise {@code null}. */
	@Nullable Boolean dryRun() {
		return (settings().check().dryRun()) ? true : null;
	}

	/** The caller's name for the job; {@code null} if the caller gave none. */
	@Nullable String label() {
		return settings().reporting().label();
	}

	/** The URL for the report of the ended job; {@code null} for none. */
	@Nullable String callback() {
		return settings().callbackText();
	}

	public JobSettings settings() {
		return this.items.settings();
	}

	public JobItems items() {
		return this.items;
	}

	/** The records of the job, from the first one. */
	public JobInput input() {
		return UploadedRecords.of(this.id, this.items.body(), this.declared);
	}

	Counts counts() {
		return this.counts;
	}

	/** How many records its former processes had read. */
	long read() {
		return this.counts.received();
	}

	/** Its counts and its progress when its process ended. */
	Tally tally() {
		return new Tally(this.counts, read(), done(), null, Double.NaN);
	}

	/** How many records had an outcome when the process ended. */
	long done() {
		return this.counts.applied() + this.counts.noop() + this.counts.rejected();
	}

	/**
	 * The status of the job.
	 * @param state interrupted or cancelled
	 * @param endedMillis when it was cancelled, in milliseconds since 1970; {@code null}
	 * if it was not
	 */
	JobStatus status(JobState state, @Nullable Long endedMillis, EndReason reason) {
		return new JobStatus(this.id, JobKind.RECORDS, operation(), dryRun(), label(), state, this.createdMillis,
				endedMillis, this.counts, new Progress(this.counts.received(), done(), null, null, 0, 0, 0, null),
				reason);
	}

	/** The report, as far as the journal has its data. */
	JobReport report(JobState state) {
		return this.report.in(state);
	}

	/**
	 * Claims the job.
	 * @return {@code false} if another request has claimed it
	 */
	public boolean claim() {
		return this.claimed.compareAndSet(false, true);
	}

	/** Releases the claim, because nothing was done with the job. */
	public void release() {
		this.claimed.set(false);
	}

}
