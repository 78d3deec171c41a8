package io.pipeset.keep;

import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress.Tally;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * A job that its client can query and cancel, from its request until it is forgotten. Any
 * thread may call any method.
 */
public final class Job {

	/** A report that may be large is shown without its lists while the job runs. */
	private static final long MOST_SHOWN_BYTES = 64 << 10;

	/** The memory of a report, in addition to that of its lists. */
	static final long REPORT_BYTES = 4 << 10;

	private final String id;

	private final JobKind kind;

	private final String operation;

	/** {@code true} for a dry run, otherwise {@code null}. */
	private final @Nullable Boolean dryRun;

	private final @Nullable String label;

	private final @Nullable String callback;

	/** The name of the client that owns the job. */
	private final String client;

	private final long createdMillis;

	/** What an earlier process has left of it; {@code null} for a job of this process. */
	private volatile @Nullable InterruptedJob former;

	/** The memory of the report of the ended job, and the part of its settings. */
	private volatile long keptBytes;

	private volatile long settingsBytes;

	private volatile boolean recorded;

	private volatile ProgressMeter meter = new ProgressMeter(0);

	/** The current state, which is replaced as a whole. */
	private volatile State current;

	Job(JobRun run, String client) {
		this.client = client;
		this.id = run.id();
		this.kind = run.kind();
		this.operation = run.operation();
		this.dryRun = run.dryRun();
		this.label = run.label();
		this.callback = run.callback();
		this.createdMillis = System.currentTimeMillis();
		this.former = null;
		this.current = new Waiting(run);
	}

	Job(InterruptedJob former) {
		this.client = former.client();
		this.id = former.id();
		this.kind = JobKind.RECORDS;
		this.operation = former.operation();
		this.dryRun = former.dryRun();
		this.label = former.label();
		this.callback = former.callback();
		this.createdMillis = former.createdMillis();
		this.former = former;
		this.current = interrupted(former);
	}

	private static Interrupted interrupted(InterruptedJob job) {
		return new Interrupted(
				job.status(JobState.INTERRUPTED, null,
						new EndReason("interrupted",
								"The process that had the job ended before the job. " + job.remedy() + ". GET /v1/jobs/"
										+ job.id() + "/items lists the records that did not run or may have run")),
				job.report(JobState.INTERRUPTED), job.items(), null);
	}

	/**
	 * What the earlier process has left, to resume it.
	 * @return {@code null} if the job is not interrupted, or if only the next process can
	 * resume it
	 */
	public @Nullable InterruptedJob interrupted() {
		return (this.current instanceof Interrupted now && now.run == null) ? this.former : null;
	}

	/** Shows why an interrupted job is not resumed without a request, or not yet. */
	public void setRemedy(InterruptedJob job, String remedy) {
		job.setRemedy(remedy);
		if (interrupted() == job) {
			this.current = interrupted(job);
		}
	}

	/** The files of a job of this process that is interrupted; {@code null} for none. */
	@Nullable JobItems interruptedItems() {
		return (this.current instanceof Interrupted now && now.run != null) ? now.items : null;
	}

	/** Lets this process resume the job that it has interrupted. */
	void interrupt(InterruptedJob job) {
		this.former = job;
		this.current = interrupted(job);
	}

	/** Marks an interrupted job as resumed. */
	void markResumed(JobRun run) {
		InterruptedJob former = this.former;
		this.meter = new ProgressMeter((former != null) ? former.done() : 0);
		this.current = new Waiting(run);
	}

	/**
	 * Marks a job as interrupted again, because it was not resumed after all.
	 * @return {@code false} if it was never interrupted
	 */
	boolean restoreInterrupted() {
		InterruptedJob former = this.former;
		if (former == null) {
			return false;
		}
		this.current = interrupted(former);
		return true;
	}

	/**
	 * Claims the job if it is interrupted and was found before a time.
	 * @param millis the time, in milliseconds since 1970
	 */
	boolean claimIfInterruptedBefore(long millis) {
		InterruptedJob job = interrupted();
		return job != null && job.foundMillis() < millis && job.claim();
	}

	/**
	 * Cancels the job if it is interrupted.
	 * @return {@code false} if the job is not interrupted, or another request has claimed
	 * it
	 */
	boolean cancelInterrupted() {
		return endInterrupted(JobState.CANCELLED,
				new EndReason(Cause.CANCELLED.problemType(),
						"The job was interrupted, and then cancelled by DELETE /v1/jobs/" + this.id
								+ ": it wrote nothing more"));
	}

	/**
	 * Ends the job if it is interrupted.
	 * @return {@code false} if the job is not interrupted, or another request has claimed
	 * it
	 */
	boolean endInterrupted(JobState state, EndReason reason) {
		InterruptedJob job = interrupted();
		if (job == null || !job.claim()) {
			return false;
		}
		JobStatus status = job.status(state, System.currentTimeMillis(), reason);
		job.items().ends(false, status);
		this.current = new Ended(status, job.report(state), true, job.items());
		return true;
	}

	/** Marks a job of an earlier process that had ended there. */
	void markEnded(InterruptedJob job, JobStatus status) {
		job.items().markEnded(allApplied(status));
		this.current = new Ended(status, job.report(status.state()), false, job.items());
	}

	private static boolean allApplied(JobStatus status) {
		Counts counts = status.counts();
		return status.state() == JobState.COMPLETED && counts != null && counts.noop() == 0
				&& !JobReport.errors(status.state(), counts, status.dryRun() != null, status.verified());
	}

	public JobKind kind() {
		return this.kind;
	}

	/** Marks the job as running. */
	public void markRunning() {
		JobRun run = this.current.run();
		if (run != null) {
			this.current = new Running(run);
		}
	}

	/** Marks the job as ended, or as interrupted by the shutdown. */
	void markEnded(EndedJob<?> ended) {
		JobRun run = this.current.run();
		JobReport records = (ended.report() instanceof JobReport report) ? report : null;
		JobState state = (records != null) ? records.state() : ended.ending().cause().state();
		EndReason reason = EndReason.of(ended.ending());
		if (state == JobState.INTERRUPTED && run != null) {
			// Callers may still cancel it or change its rate limit.
			this.current = new Interrupted(status(run, state, null, reason), records, run.items(), run);
			return;
		}
		end(status(run, state, System.currentTimeMillis(), reason), ended.report());
	}

	/** Marks the job as ended without a report. */
	void markEnded(Ending ending) {
		end(status(this.current.run(), ending.cause().state(), System.currentTimeMillis(), EndReason.of(ending)), null);
	}

	/** Ends the job. The journal has the end first. */
	private void end(JobStatus status, @Nullable Object report) {
		JobItems items = this.current.items();
		if (items != null) {
			items.ends(report != null && allApplied(status), status);
		}
		this.current = new Ended(status, report, true, items);
	}

	/** The memory that the ended job takes, in bytes. */
	long keptBytes() {
		return REPORT_BYTES + this.keptBytes;
	}

	/**
	 * Sets the memory of the report of the ended job.
	 * @param settings that of the settings, in bytes
	 * @param report that of the settings and the lists, in bytes
	 */
	void setKeptBytes(long settings, long report) {
		this.settingsBytes = settings;
		this.keptBytes = report;
	}

	/**
	 * Drops the lists of the report if they are large.
	 * @param most the most bytes of lists to keep
	 */
	void dropLists(long most) {
		long lists = this.keptBytes - this.settingsBytes;
		if (lists > Math.max(most, REPORT_BYTES) && this.current instanceof Ended now && now.whole) {
			this.current = new Ended(now.status,
					(now.report instanceof JobReport records) ? records.withoutLists() : null, false, now.items);
			this.keptBytes = this.settingsBytes;
		}
	}

	/**
	 * Whether the report is as it was at the end. Otherwise it may lack its lists, or all
	 * that the journal of an earlier process does not have.
	 */
	public boolean isWhole() {
		return !(this.current instanceof Ended now) || now.whole;
	}

	/**
	 * Removes the files of an ended job that has a record now, if no items can be read
	 * from them. The next process would take files with an incomplete journal for a lost
	 * job.
	 */
	void markRecorded() {
		this.recorded = true;
		if (this.current instanceof Ended now && now.items != null
				&& (now.items.isEmpty() || now.items.missing() != null)) {
			now.items.close();
		}
	}

	/** Whether the control Redis has, or had, its end. */
	boolean isRecorded() {
		return this.recorded;
	}

	/** Whether it has ended, and files are kept. */
	boolean keepsFiles() {
		return this.current instanceof Ended now && now.items != null && !now.items.isClosed();
	}

	/**
	 * The records of the job that were not applied.
	 * @return {@code null} if the job has not ended, or they are not stored
	 */
	public @Nullable JobItems items() {
		State now = this.current;
		return (now.ending() != null) ? now.items() : null;
	}

	/**
	 * Why its records cannot be listed; {@code null} if they can be, or have no files.
	 */
	public @Nullable String missingItems() {
		JobItems items = this.current.items();
		return (items != null) ? items.missing() : null;
	}

	/** Whether it has files from which another process can resume it. */
	boolean hasFiles() {
		State now = this.current;
		return !(now instanceof Ended) && now.items() != null;
	}

	/** Whether the shutdown of this process interrupted the job. */
	boolean isInterruptedByShutdown() {
		return this.current instanceof Interrupted now && now.run != null;
	}

	/** Removes the files of the job. */
	void discard() {
		JobItems items = items();
		if (items != null) {
			items.close();
		}
	}

	/** Samples the rate of the job. */
	void sample() {
		JobRun run = this.current.run();
		if (run != null) {
			this.meter.sample(tally(run), run.clock().totalNanos());
		}
	}

	public String id() {
		return this.id;
	}

	/**
	 * The URL for the report of the ended job, whose query may hold a secret.
	 * @return {@code null} for none
	 */
	public @Nullable String callback() {
		return this.callback;
	}

	/** The name of the client that owns the job. */
	String client() {
		return this.client;
	}

	public JobState state() {
		return this.current.state();
	}

	/**
	 * A consistent view of the status and the report, because the job may end between two
	 * calls. A large report has no lists, because a slow reader of the answer would keep
	 * memory that is not counted.
	 */
	public Look look() {
		State now = this.current;
		return new Look(status(now), report(now));
	}

	/** The status of the job. Its outcomes add up to the records read. */
	public JobStatus status() {
		return status(this.current);
	}

	private JobStatus status(State now) {
		JobStatus ending = now.ending();
		return (ending != null) ? ending : status(now.run(), now.state(), null, null);
	}

	/**
	 * The job as its former process left it, while it reads again what ran before, so
	 * that its counts never go back.
	 * @return {@code null} once it has read further
	 */
	private @Nullable InterruptedJob former(JobRun run) {
		return (this.former != null && run.tally().read() < this.former.read()) ? this.former : null;
	}

	private Tally tally(JobRun run) {
		InterruptedJob former = former(run);
		return (former != null) ? former.tally() : run.tally();
	}

	private @Nullable Object report(State now) {
		JobRun run = now.run();
		if (run == null || now.ending() != null) {
			return now.report();
		}
		InterruptedJob former = former(run);
		JobReport snapshot = run.snapshot(now.state());
		JobReport report = (former != null && snapshot != null) ? snapshot.with(former.counts()) : snapshot;
		// The memory of an item is counted before it is listed.
		long lists = run.memory().reportBytes() - settingsBytes(run);
		return (report == null || lists <= MOST_SHOWN_BYTES) ? report : report.withoutLists();
	}

	/**
	 * Cancels the job between its batches. The journal has it first, for the next
	 * process.
	 * @return {@code false} if the job has ended
	 */
	public boolean cancel() {
		JobRun run = this.current.run();
		if (run != null) {
			writeToJournal(run, new RequestedChanges(System.currentTimeMillis(), null, null, null));
			run.stop()
				.cancel("The job was cancelled by DELETE /v1/jobs/" + this.id
						+ ": it wrote nothing more, and records that the report counts as unprocessed were not run");
		}
		return run != null;
	}

	private static void writeToJournal(JobRun run, RequestedChanges changes) {
		JobItems items = run.items();
		if (items != null) {
			items.journal().note(changes);
		}
	}

	/**
	 * Changes the rate limit of the job, even while it waits.
	 * @param perSecond records or keys per second; {@code null} for no limit
	 * @return {@code false} if the job has ended
	 */
	public boolean changeRateLimit(@Nullable Long perSecond) {
		JobRun run = this.current.run();
		RateLimit limit = (run != null) ? run.rateLimit() : null;
		if (run != null && limit != null) {
			writeToJournal(run, new RequestedChanges(null, (perSecond != null) ? perSecond : 0, null, null));
			limit.change(perSecond);
		}
		return run != null;
	}

	private static long settingsBytes(@Nullable JobRun run) {
		return (run != null) ? run.settingsBytes() : 0;
	}

	private JobStatus status(@Nullable JobRun run, JobState state, @Nullable Long endedMillis,
			@Nullable EndReason ending) {
		Tally tally = (run != null) ? tally(run) : Tally.of(0, null);
		long nanos = (run != null) ? run.clock().totalNanos() : 0;
		return new JobStatus(this.id, this.kind, (this.kind == JobKind.RECORDS) ? this.operation : null, this.dryRun,
				this.label, state, this.createdMillis, endedMillis, tally.counts(),
				(run != null) ? run.verified() : null, this.meter.progress(tally, nanos), ending);
	}

	/**
	 * The status and the report of a job at one time.
	 *
	 * @param report the report so far, or the final one: an object to write as JSON, or
	 * {@code null}
	 */
	public record Look(JobStatus status, @Nullable Object report) {

	}

	/** The state of a job at one time. */
	private sealed interface State {

		JobState state();

		/** The run in this process; {@code null} if there is none. */
		default @Nullable JobRun run() {
			return null;
		}

		/** The last status; {@code null} while the job waits or runs. */
		default @Nullable JobStatus ending() {
			return null;
		}

		/** The last report; {@code null} if there is none, or not yet. */
		default @Nullable Object report() {
			return null;
		}

		/** The records that are stored on disk; {@code null} if they are not. */
		default @Nullable JobItems items() {
			JobRun run = run();
			return (run != null) ? run.items() : null;
		}

	}

	/** It waits for a permit. */
	private record Waiting(JobRun run) implements State {

		@Override
		public JobState state() {
			return JobState.QUEUED;
		}

	}

	/** It has a permit. */
	private record Running(JobRun run) implements State {

		@Override
		public JobState state() {
			return JobState.RUNNING;
		}

	}

	/** Its process ended, or ends. {@code run} is that of a process that shuts down. */
	private record Interrupted(JobStatus ending, @Nullable Object report, @Nullable JobItems items,
			@Nullable JobRun run) implements State {

		@Override
		public JobState state() {
			return JobState.INTERRUPTED;
		}

	}

	/** {@code whole} says whether the report is as it was at the end. */
	private record Ended(JobStatus status, @Nullable Object report, boolean whole,
			@Nullable JobItems items) implements State {

		@Override
		public JobState state() {
			return this.status.state();
		}

		@Override
		public JobStatus ending() {
			return this.status;
		}

	}

}
