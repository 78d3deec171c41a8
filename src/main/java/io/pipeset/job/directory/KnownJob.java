package io.pipeset.job.directory;

import io.pipeset.job.EndedJob;
import io.pipeset.job.RateLimit;
import io.pipeset.job.directory.JobEnds.JobEnd;
import io.pipeset.job.journal.JobItems;
import io.pipeset.job.journal.RequestedChanges;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress.Tally;
import org.jspecify.annotations.Nullable;

/**
 * A job that callers may look at and cancel, from when it is asked for until it is
 * forgotten. Any thread may call any method.
 */
public final class KnownJob {

	/** A larger report stays without its lists: its caller has had it. */
	private static final long LARGEST_REPORT_BYTES = 64 << 10;

	/** The memory of a report, beside what its job has taken for it. */
	static final long REPORT_BYTES = 4 << 10;

	private final String id;

	private final JobKind kind;

	private final String operation;

	/** {@code true}, or {@code null} for a job that runs. */
	private final @Nullable Boolean dryRun;

	/** The name of the client whose job it is. */
	private final String client;

	private final long createdMillis;

	/** The job as another process has left it; {@code null} if none has. */
	private final @Nullable InterruptedJob interrupted;

	private volatile ProgressMeter meter = new ProgressMeter();

	/** Either waits or runs, or has ended. */
	private volatile Life life;

	KnownJob(QueuedJob job, String client) {
		this.client = client;
		this.id = job.id();
		this.kind = job.kind();
		this.operation = job.operation();
		this.dryRun = job.dryRun();
		this.createdMillis = System.currentTimeMillis();
		this.interrupted = null;
		this.life = new Life(job, JobState.QUEUED, null);
	}

	/**
	 * A job that has ended with another process.
	 * @param items the records that did not run; {@code null} if none are kept
	 */
	KnownJob(JobEnd end, @Nullable JobItems items) {
		JobStatus status = end.status();
		this.client = end.client();
		this.id = status.jobId();
		this.kind = status.kind();
		this.operation = (status.op() != null) ? status.op() : status.kind().label();
		this.dryRun = status.dryRun();
		this.createdMillis = status.createdMillis();
		this.interrupted = null;
		this.life = new Life(null, status.state(), new End(status, end.report(), items, end));
	}

	KnownJob(InterruptedJob job) {
		this.client = job.client();
		this.id = job.id();
		this.kind = JobKind.RECORDS;
		this.operation = job.operation();
		this.dryRun = job.dryRun();
		this.createdMillis = job.createdMillis();
		this.interrupted = job;
		this.life = life(job);
	}

	private static Life life(InterruptedJob job) {
		return new Life(null, JobState.INTERRUPTED,
				new End(job.status(JobState.INTERRUPTED, null, new EndReason("interrupted",
						"The process that had the job ended before the job did: resume it by POST /v1/jobs/" + job.id()
								+ "/resume, or list what did not run, and what may have, by GET /v1/jobs/" + job.id()
								+ "/items")),
						job.report(JobState.INTERRUPTED), job.items(), null));
	}

	/**
	 * The job, if it can be resumed.
	 * @return {@code null} if it is not interrupted
	 */
	public @Nullable InterruptedJob interrupted() {
		Life now = this.life;
		return (now.state == JobState.INTERRUPTED && now.job == null) ? this.interrupted : null;
	}

	/** The job was resumed. */
	void goesOn(QueuedJob job) {
		this.meter = new ProgressMeter();
		this.life = new Life(job, JobState.QUEUED, null);
	}

	/**
	 * The job was not resumed after all.
	 * @return {@code false} if it was never interrupted
	 */
	boolean restoreInterrupted() {
		if (this.interrupted == null) {
			return false;
		}
		this.life = life(this.interrupted);
		return true;
	}

	/** Whether another process has left it, and this one has found it before a time. */
	boolean isInterruptedSince(long millis) {
		InterruptedJob job = interrupted();
		return job != null && job.sinceMillis() < millis && job.claim();
	}

	/**
	 * Cancels the job if it is interrupted.
	 * @param ends takes its end
	 * @return {@code false} if it is not, or another request resumes or cancels it
	 */
	boolean cancelInterrupted(@Nullable JobEnds ends) {
		InterruptedJob job = interrupted();
		if (job == null || !job.claim()) {
			return false;
		}
		EndReason reason = new EndReason(Cause.CANCELLED.problemType(),
				"The job was interrupted, and cancelled by DELETE" + " /v1/jobs/" + this.id
						+ ": it wrote nothing more");
		JobStatus status = job.status(JobState.CANCELLED, System.currentTimeMillis(), reason);
		end(status, job.report(JobState.CANCELLED), 0, job.items(), false, ends);
		return true;
	}

	public JobKind kind() {
		return this.kind;
	}

	public void begins() {
		QueuedJob job = this.life.job;
		this.life = new Life(job, JobState.RUNNING, null);
	}

	/**
	 * The run of the job has ended: the job has, or is left for the next process.
	 * @param ends takes the end of a job whose caller does not wait; {@code null} if it
	 * is not kept on disk
	 * @return the memory that is kept, in bytes
	 */
	long ends(EndedJob<?> ended, @Nullable JobEnds ends) {
		QueuedJob job = this.life.job;
		JobReport records = (ended.report() instanceof JobReport report) ? report : null;
		JobState state = (records != null) ? records.state() : ended.ending().cause().state();
		JobItems items = (job != null) ? job.items() : null;
		EndReason reason = EndReason.of(ended.ending());
		if (state == JobState.INTERRUPTED) {
			// Callers may still cancel it, or change its pace.
			this.life = new Life(job, state, new End(status(job, state, null, reason), records, items, null));
			return REPORT_BYTES;
		}
		long settings = settingsBytes(job);
		boolean ran = state == JobState.COMPLETED && records != null && records.errorCount() == 0;
		return settings + end(status(job, state, System.currentTimeMillis(), reason), ended.report(),
				ended.memory().reportBytes() - settings, items, ran, ends);
	}

	/**
	 * The job has ended without a report.
	 * @return the memory that is kept, in bytes
	 */
	long ends(Ending ending, @Nullable JobEnds ends) {
		QueuedJob job = this.life.job;
		return end(status(job, ending.cause().state(), System.currentTimeMillis(), EndReason.of(ending)), null, 0,
				(job != null) ? job.items() : null, false, ends);
	}

	/**
	 * First the end is on disk, then what it makes useless is removed.
	 * @param lists the bytes of the report's lists
	 * @return the memory that is kept, in bytes
	 */
	private long end(JobStatus status, @Nullable Object report, long lists, @Nullable JobItems items, boolean ran,
			@Nullable JobEnds ends) {
		// A job whose records stay on disk has its lists there as well.
		boolean apart = lists > REPORT_BYTES || (lists > 0 && items != null && !ran);
		JobEnd end = (ends != null) ? ends.write(this.client, status, report, apart) : null;
		if (items != null) {
			items.ends(ran, end != null);
		}
		Object look = report;
		boolean listed = end == null || !apart;
		if (end != null) {
			look = end.report();
		}
		else if (lists > LARGEST_REPORT_BYTES) {
			look = (report instanceof JobReport records) ? records.withoutLists() : null;
			listed = false;
		}
		this.life = new Life(null, status.state(), new End(status, look, items, end));
		return REPORT_BYTES + ((listed) ? lists : 0);
	}

	/**
	 * Whether the job has something on disk that callers may ask for, or others have not
	 * heard of its end.
	 */
	boolean isKept() {
		End end = this.life.end;
		return end != null && end.disk != null;
	}

	/** All instances know the end of the job: what is in their records is not kept. */
	void published() {
		Life now = this.life;
		if (now.end != null && now.end.disk != null && now.end.disk.whole() == null
				&& (now.end.items == null || now.end.items.isEmpty())) {
			now.end.disk.close();
			this.life = new Life(now.job, now.state, new End(now.end.status, now.end.report, now.end.items, null));
		}
	}

	/**
	 * The records of the job that did not run as asked.
	 * @return {@code null} if the job has not ended, or they are not kept
	 */
	public @Nullable JobItems items() {
		End end = this.life.end;
		return (end != null) ? end.items : null;
	}

	/** Whether the process ends before the job does: the next one may go on with it. */
	boolean isLeft() {
		Life now = this.life;
		return now.job != null && now.state == JobState.INTERRUPTED;
	}

	/** Removes what is kept of the job, the end last. */
	void discard() {
		End end = this.life.end;
		if (end != null && end.items != null) {
			end.items.close();
		}
		if (end != null && end.disk != null) {
			end.disk.close();
		}
	}

	/** Takes a sample of the pace. */
	void sample() {
		QueuedJob job = this.life.job;
		if (job != null) {
			this.meter.sample(job.tally(), job.clock().totalNanos());
		}
	}

	/** The job's name in logs, reports and calls. */
	public String id() {
		return this.id;
	}

	/** The name of the client whose job it is. */
	String client() {
		return this.client;
	}

	/** How the job stands. */
	public JobState state() {
		return this.life.state;
	}

	/**
	 * The job in a few words, and its report, in one state: it may end at any moment. A
	 * large report has no lists, as nobody counts the memory that they take for whoever
	 * looks, and reads the answer when it likes.
	 */
	public Look look() {
		Life now = this.life;
		return new Look(status(now), report(now));
	}

	/** The job in a few words. Its outcomes add up to the records read. */
	public JobStatus status() {
		return status(this.life);
	}

	private JobStatus status(Life now) {
		return (now.end != null) ? now.end.status : status(now.job, now.state, null, null);
	}

	private static @Nullable Object report(Life now) {
		if (now.job == null || now.end != null) {
			return (now.end != null) ? now.end.report : null;
		}
		JobReport report = now.job.snapshot(now.state);
		// An item is counted before it is listed.
		long lists = now.job.memory().reportBytes() - settingsBytes(now.job);
		return (report == null || lists <= LARGEST_REPORT_BYTES) ? report : report.withoutLists();
	}

	/**
	 * Cancels the job between its batches. It is noted on disk first, for the next
	 * process.
	 * @return {@code false} if it has ended
	 */
	public boolean cancel() {
		QueuedJob job = this.life.job;
		if (job != null) {
			note(job, new RequestedChanges(System.currentTimeMillis(), null));
			job.stop()
				.cancel("The job was cancelled by DELETE /v1/jobs/" + this.id
						+ ": it wrote nothing more, and what the report calls unprocessed was not run");
		}
		return job != null;
	}

	private static void note(QueuedJob job, RequestedChanges asked) {
		JobItems items = job.items();
		if (items != null) {
			items.journal().note(asked);
		}
	}

	/**
	 * Changes the pace of the job, even while it waits.
	 * @param perSecond records or keys a second; {@code null} for no limit
	 * @return {@code false} if the job has ended
	 */
	public boolean pace(@Nullable Long perSecond) {
		QueuedJob job = this.life.job;
		RateLimit limit = (job != null) ? job.rateLimit() : null;
		if (job != null && limit != null) {
			note(job, new RequestedChanges(null, (perSecond != null) ? perSecond : 0));
			limit.change(perSecond);
		}
		return job != null;
	}

	private static long settingsBytes(@Nullable QueuedJob job) {
		return (job != null) ? job.settingsBytes() : 0;
	}

	private JobStatus status(@Nullable QueuedJob job, JobState state, @Nullable Long endedMillis,
			@Nullable EndReason ending) {
		Tally tally = (job != null) ? job.tally() : Tally.of(0, null);
		long nanos = (job != null) ? job.clock().totalNanos() : 0;
		return new JobStatus(this.id, this.kind, (this.kind == JobKind.RECORDS) ? this.operation : null, this.dryRun,
				state, this.createdMillis, endedMillis, tally.counts(), this.meter.progress(tally, nanos), ending);
	}

	/**
	 * What somebody sees who looks at a job.
	 *
	 * @param report so far, or the last one: a report that is written as JSON, a
	 * {@link StoredReport}, or {@code null}
	 */
	public record Look(JobStatus status, @Nullable Object report) {

	}

	/** A job at one moment. */
	private record Life(@Nullable QueuedJob job, JobState state, @Nullable End end) {

	}

	/**
	 * The remains of a job whose run has ended.
	 *
	 * @param disk its end on disk; {@code null} if it is not there, or not any more
	 */
	private record End(JobStatus status, @Nullable Object report, @Nullable JobItems items, @Nullable JobEnd disk) {

	}

}
