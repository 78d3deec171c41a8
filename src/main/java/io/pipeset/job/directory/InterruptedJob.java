package io.pipeset.job.directory;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.job.InputProgress;
import io.pipeset.job.RateLimit;
import io.pipeset.job.ReportDraft;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.input.UploadedRecords;
import io.pipeset.job.journal.JobItems;
import io.pipeset.job.journal.OutcomeJournal;
import io.pipeset.job.journal.SpooledRequest;
import io.pipeset.job.memory.MemoryBudget;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;

/**
 * An upload of a process that has ended, of which everything is there to go on with it.
 * Whoever resumes or cancels it claims it first, as only one may.
 */
public final class InterruptedJob {

	private final String id;

	private final String client;

	private final long createdMillis;

	private final @Nullable Long declared;

	private final JobItems items;

	private final Counts counts;

	private final JobReport report;

	private final long sinceMillis = System.currentTimeMillis();

	private final AtomicBoolean claimed = new AtomicBoolean();

	/**
	 * Finds out how far a job has come.
	 * @throws IOException if its journal cannot be read, or is broken
	 */
	InterruptedJob(String id, RedisIdentity redis, SpooledRequest request, JobItems items, MemoryBudget memory)
			throws IOException {
		this.id = id;
		this.client = request.owner();
		this.createdMillis = request.createdMillis();
		this.declared = request.declared();
		this.items = items;
		JobSettings settings = items.settings();
		Account account = new Account(settings.results(), 0, false);
		InputProgress progress = new InputProgress();
		OutcomeJournal journal = items.journal();
		try (MemoryShare share = memory.open(new JobStop())) {
			journal.cutOff();
			journal.outcomes(share).count(0, journal.records(), account);
			progress.setRead(journal.records());
			this.report = new ReportDraft(id, redis, settings, new RateLimit(settings.rateLimit()), account,
					new JobClock(), progress, input())
				.snapshot(JobState.INTERRUPTED);
		}
		this.counts = this.report.counts();
	}

	/** The job's name. */
	public String id() {
		return this.id;
	}

	/** The name of the client whose job it is. */
	String client() {
		return this.client;
	}

	/** When it was asked for, in milliseconds since 1970. */
	long createdMillis() {
		return this.createdMillis;
	}

	/** When this process has found it, in milliseconds since 1970. */
	long sinceMillis() {
		return this.sinceMillis;
	}

	/** The operation of its records, or {@code mixed}. */
	String operation() {
		return settings().operationName();
	}

	/** {@code true}, or {@code null} for a job that runs. */
	@Nullable Boolean dryRun() {
		return (settings().dryRun()) ? true : null;
	}

	public JobSettings settings() {
		return this.items.settings();
	}

	public JobItems items() {
		return this.items;
	}

	/** The same records once more, from the first one on. */
	public JobInput input() {
		return UploadedRecords.of(this.id, this.items.body(), this.declared);
	}

	/**
	 * The job in a few words.
	 * @param state interrupted or cancelled
	 * @param endedMillis when it was cancelled; {@code null} if it was not
	 */
	JobStatus status(JobState state, @Nullable Long endedMillis, EndReason reason) {
		long done = this.counts.applied() + this.counts.noop() + this.counts.rejected();
		return new JobStatus(this.id, JobKind.RECORDS, operation(), dryRun(), state, this.createdMillis, endedMillis,
				this.counts, new Progress(this.counts.received(), done, null, null, 0, 0, 0, null), reason);
	}

	/** The report, as far as the journal has it. */
	JobReport report(JobState state) {
		return this.report.in(state);
	}

	/**
	 * Claims the job.
	 * @return {@code false} if somebody else has it
	 */
	public boolean claim() {
		return this.claimed.compareAndSet(false, true);
	}

	/** Gives the job back, with which nothing was done. */
	public void release() {
		this.claimed.set(false);
	}

}
