package io.pipeset.keep;

import io.pipeset.keep.JobEnds.JobEnd;
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
public final class KnownJob {

	/** Larger reports are kept without their lists, because the caller has got them. */
	private static final long LARGEST_REPORT_BYTES = 64 << 10;

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

	/** The interrupted job of an earlier process; {@code null} if there is none. */
	private final @Nullable InterruptedJob interrupted;

	private volatile ProgressMeter meter = new ProgressMeter(0);

	/** The current state, which is replaced as a whole. */
	private volatile Snapshot current;

	KnownJob(QueuedJob job, String client) {
		this.client = client;
		this.id = job.id();
		this.kind = job.kind();
		this.operation = job.operation();
		this.dryRun = job.dryRun();
		this.label = job.label();
		this.callback = job.callback();
		this.createdMillis = System.currentTimeMillis();
		this.interrupted = null;
		this.current = new Snapshot(job, JobState.QUEUED, null);
	}

	/**
	 * Creates a job that ended in an earlier process.
	 * @param items the records that were not applied; {@code null} if none are stored
	 */
	KnownJob(JobEnd end, @Nullable JobItems items) {
		JobStatus status = end.status();
		this.client = end.client();
		this.id = status.jobId();
		this.kind = status.kind();
		this.operation = (status.op() != null) ? status.op() : status.kind().label();
		this.dryRun = status.dryRun();
		this.label = status.label();
		this.callback = end.callback();
		this.createdMillis = status.createdMillis();
		this.interrupted = null;
		this.current = new Snapshot(null, status.state(), new End(status, end.report(), items, end));
	}

	KnownJob(InterruptedJob job) {
		this.client = job.client();
		this.id = job.id();
		this.kind = JobKind.RECORDS;
		this.operation = job.operation();
		this.dryRun = job.dryRun();
		this.label = job.label();
		this.callback = job.callback();
		this.createdMillis = job.createdMillis();
		this.interrupted = job;
		this.current = interruptedSnapshot(job);
	}

	private static Snapshot interruptedSnapshot(InterruptedJob job) {
		return new Snapshot(null, JobState.INTERRUPTED, new End(
				job.status(JobState.INTERRUPTED, null,
						new EndReason("interrupted",
								"The process that had the job ended before the job. " + job.remedy() + ". GET /v1/jobs/"
										+ job.id() + "/items lists the records that did not run or may have run")),
				job.report(JobState.INTERRUPTED), job.items(), null));
	}

	/**
	 * The interrupted job, to resume it.
	 * @return {@code null} if the job is not interrupted, or if only the next process can
	 * resume it
	 */
	public @Nullable InterruptedJob interrupted() {
		Snapshot now = this.current;
		return (now.state == JobState.INTERRUPTED && now.job == null) ? this.interrupted : null;
	}

	/** Shows why an interrupted job is not resumed without a request, or not yet. */
	public void setRemedy(InterruptedJob job, String remedy) {
		job.setRemedy(remedy);
		if (interrupted() == job) {
			this.current = interruptedSnapshot(job);
		}
	}

	/** Marks an interrupted job as resumed. */
	void markResumed(QueuedJob job) {
		this.meter = new ProgressMeter((this.interrupted != null) ? this.interrupted.done() : 0);
		this.current = new Snapshot(job, JobState.QUEUED, null);
	}

	/**
	 * Marks a job as interrupted again, because it was not resumed after all.
	 * @return {@code false} if it was never interrupted
	 */
	boolean restoreInterrupted() {
		if (this.interrupted == null) {
			return false;
		}
		this.current = interruptedSnapshot(this.interrupted);
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
	 * @param ends stores its end on disk; {@code null} to keep it in memory only
	 * @return {@code false} if the job is not interrupted, or another request has claimed
	 * it
	 */
	boolean cancelInterrupted(@Nullable JobEnds ends) {
		return endInterrupted(ends, JobState.CANCELLED,
				new EndReason(Cause.CANCELLED.problemType(),
						"The job was interrupted, and then cancelled by DELETE /v1/jobs/" + this.id
								+ ": it wrote nothing more"));
	}

	/**
	 * Ends the job if it is interrupted.
	 * @param ends stores its end on disk; {@code null} to keep it in memory only
	 * @return {@code false} if the job is not interrupted, or another request has claimed
	 * it
	 */
	boolean endInterrupted(@Nullable JobEnds ends, JobState state, EndReason reason) {
		InterruptedJob job = interrupted();
		if (job == null || !job.claim()) {
			return false;
		}
		JobStatus status = job.status(state, System.currentTimeMillis(), reason);
		end(status, job.report(state), 0, job.items(), false, ends);
		return true;
	}

	public JobKind kind() {
		return this.kind;
	}

	/** Marks the job as running. */
	public void markRunning() {
		QueuedJob job = this.current.job;
		this.current = new Snapshot(job, JobState.RUNNING, null);
	}

	/**
	 * Marks the job as ended, or as interrupted by the shutdown.
	 * @param ends stores the end on disk; {@code null} to keep it in memory only
	 * @return the memory that the job still takes, in bytes
	 */
	long markEnded(EndedJob<?> ended, @Nullable JobEnds ends) {
		QueuedJob job = this.current.job;
		JobReport records = (ended.report() instanceof JobReport report) ? report : null;
		JobState state = (records != null) ? records.state() : ended.ending().cause().state();
		JobItems items = (job != null) ? job.items() : null;
		EndReason reason = EndReason.of(ended.ending());
		if (state == JobState.INTERRUPTED) {
			// Callers may still cancel it or change its rate limit.
			this.current = new Snapshot(job, state, new End(status(job, state, null, reason), records, items, null));
			return REPORT_BYTES;
		}
		long settings = settingsBytes(job);
		boolean ran = state == JobState.COMPLETED && records != null && records.errorCount() == 0
				&& records.counts().noop() == 0;
		return settings + end(status(job, state, System.currentTimeMillis(), reason), ended.report(),
				ended.memory().reportBytes() - settings, items, ran, ends);
	}

	/**
	 * Marks the job as ended without a report.
	 * @param ends stores the end on disk; {@code null} to keep it in memory only
	 * @return the memory that the job still takes, in bytes
	 */
	long markEnded(Ending ending, @Nullable JobEnds ends) {
		QueuedJob job = this.current.job;
		return end(status(job, ending.cause().state(), System.currentTimeMillis(), EndReason.of(ending)), null, 0,
				(job != null) ? job.items() : null, false, ends);
	}

	/**
	 * Ends the job. The end is written to disk first, then needless files are removed.
	 * @param lists the memory of the report's lists, in bytes
	 * @param ran whether every record was applied
	 * @return the memory that the job still takes, in bytes
	 */
	private long end(JobStatus status, @Nullable Object report, long lists, @Nullable JobItems items, boolean ran,
			@Nullable JobEnds ends) {
		// If the job's records stay on disk, so do the lists of its report.
		boolean separate = lists > REPORT_BYTES || (lists > 0 && items != null && !ran);
		JobEnd end = (ends != null) ? ends.write(this.client, status, report, separate, this.callback) : null;
		if (items != null) {
			items.ends(ran, end != null);
		}
		Object kept = report;
		boolean listsInMemory = end == null || !separate;
		if (end != null) {
			kept = end.report();
		}
		else if (lists > LARGEST_REPORT_BYTES) {
			kept = (report instanceof JobReport records) ? records.withoutLists() : null;
			listsInMemory = false;
		}
		this.current = new Snapshot(null, status.state(), new End(status, kept, items, end));
		return REPORT_BYTES + ((listsInMemory) ? lists : 0);
	}

	/** Whether the end of the job is on disk. */
	boolean isOnDisk() {
		End end = this.current.end;
		return end != null && end.disk != null;
	}

	/** Removes the end from disk if the control Redis has all of it. */
	void markRecorded() {
		Snapshot now = this.current;
		if (now.end != null && now.end.disk != null && now.end.disk.reportFile() == null
				&& (now.end.items == null || now.end.items.isEmpty())) {
			now.end.disk.close();
			this.current = new Snapshot(now.job, now.state,
					new End(now.end.status, now.end.report, now.end.items, null));
		}
	}

	/**
	 * The records of the job that were not applied.
	 * @return {@code null} if the job has not ended, or they are not stored
	 */
	public @Nullable JobItems items() {
		End end = this.current.end;
		return (end != null) ? end.items : null;
	}

	/**
	 * Why its records cannot be listed; {@code null} if they can be, or have no files.
	 */
	public @Nullable String missingItems() {
		Snapshot now = this.current;
		JobItems items = (now.end != null) ? now.end.items : (now.job != null) ? now.job.items() : null;
		return (items != null) ? items.missing() : null;
	}

	/** Whether it has files from which another process can resume it. */
	boolean hasFiles() {
		Snapshot now = this.current;
		return interrupted() != null || (now.job != null && now.job.items() != null);
	}

	/** Whether the shutdown of this process interrupted the job. */
	boolean isInterruptedByShutdown() {
		Snapshot now = this.current;
		return now.job != null && now.state == JobState.INTERRUPTED;
	}

	/** Removes the files of the job, the end last. */
	void discard() {
		End end = this.current.end;
		if (end != null && end.items != null) {
			end.items.close();
		}
		if (end != null && end.disk != null) {
			end.disk.close();
		}
	}

	/** Samples the rate of the job. */
	void sample() {
		QueuedJob job = this.current.job;
		if (job != null) {
			InterruptedJob former = former(job);
			this.meter.sample((former != null) ? former.tally() : job.tally(), job.clock().totalNanos());
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
		return this.current.state;
	}

	/**
	 * A consistent view of the status and the report, because the job may end between two
	 * calls. A large report has no lists, because a slow reader of the answer would keep
	 * memory that is not counted.
	 */
	public Look look() {
		Snapshot now = this.current;
		return new Look(status(now), report(now));
	}

	/** The status of the job. Its outcomes add up to the records read. */
	public JobStatus status() {
		return status(this.current);
	}

	private JobStatus status(Snapshot now) {
		return (now.end != null) ? now.end.status : status(now.job, now.state, null, null);
	}

	/**
	 * The job as its former process left it, while it reads again what ran before, so
	 * that its counts never go back.
	 * @return {@code null} once it has read further
	 */
	private @Nullable InterruptedJob former(@Nullable QueuedJob job) {
		InterruptedJob former = this.interrupted;
		return (former != null && job != null && job.tally().read() < former.read()) ? former : null;
	}

	private @Nullable Object report(Snapshot now) {
		if (now.job == null || now.end != null) {
			return (now.end != null) ? now.end.report : null;
		}
		InterruptedJob former = former(now.job);
		JobReport snapshot = now.job.snapshot(now.state);
		JobReport report = (former != null && snapshot != null) ? snapshot.with(former.counts()) : snapshot;
		// The memory of an item is counted before it is listed.
		long lists = now.job.memory().reportBytes() - settingsBytes(now.job);
		return (report == null || lists <= LARGEST_REPORT_BYTES) ? report : report.withoutLists();
	}

	/**
	 * Cancels the job between its batches. The journal has it first, for the next
	 * process.
	 * @return {@code false} if the job has ended
	 */
	public boolean cancel() {
		QueuedJob job = this.current.job;
		if (job != null) {
			writeToJournal(job, new RequestedChanges(System.currentTimeMillis(), null, null, null));
			job.stop()
				.cancel("The job was cancelled by DELETE /v1/jobs/" + this.id
						+ ": it wrote nothing more, and records that the report counts as unprocessed were not run");
		}
		return job != null;
	}

	private static void writeToJournal(QueuedJob job, RequestedChanges changes) {
		JobItems items = job.items();
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
		QueuedJob job = this.current.job;
		RateLimit limit = (job != null) ? job.rateLimit() : null;
		if (job != null && limit != null) {
			writeToJournal(job, new RequestedChanges(null, (perSecond != null) ? perSecond : 0, null, null));
			limit.change(perSecond);
		}
		return job != null;
	}

	private static long settingsBytes(@Nullable QueuedJob job) {
		return (job != null) ? job.settingsBytes() : 0;
	}

	private JobStatus status(@Nullable QueuedJob job, JobState state, @Nullable Long endedMillis,
			@Nullable EndReason ending) {
		InterruptedJob former = former(job);
		Tally tally = (former != null) ? former.tally() : (job != null) ? job.tally() : Tally.of(0, null);
		long nanos = (job != null) ? job.clock().totalNanos() : 0;
		return new JobStatus(this.id, this.kind, (this.kind == JobKind.RECORDS) ? this.operation : null, this.dryRun,
				this.label, state, this.createdMillis, endedMillis, tally.counts(), this.meter.progress(tally, nanos),
				ending);
	}

	/**
	 * The status and the report of a job at one time.
	 *
	 * @param report the report so far, or the final one: an object to write as JSON, a
	 * {@link StoredReport}, or {@code null}
	 */
	public record Look(JobStatus status, @Nullable Object report) {

	}

	/**
	 * The state of a job at one time.
	 *
	 * @param job the waiting or running job; {@code null} if it does not run here
	 * @param end the end of the run; {@code null} before
	 */
	private record Snapshot(@Nullable QueuedJob job, JobState state, @Nullable End end) {

	}

	/**
	 * The end of a run.
	 *
	 * @param disk the end on disk; {@code null} if it is not on disk
	 */
	private record End(JobStatus status, @Nullable Object report, @Nullable JobItems items, @Nullable JobEnd disk) {

	}

}
