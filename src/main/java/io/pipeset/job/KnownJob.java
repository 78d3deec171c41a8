package io.pipeset.job;

import io.pipeset.lane.JobStop;
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
						job.report(JobState.INTERRUPTED), job.items()));
	}

	/**
	 * The job, if it can be resumed.
	 * @return {@code null} if it is not interrupted
	 */
	public @Nullable InterruptedJob interrupted() {
		return (this.life.state == JobState.INTERRUPTED) ? this.interrupted : null;
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
	boolean isInterruptedAgain() {
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
	 * @return {@code false} if it is not, or somebody resumes it
	 */
	boolean cancelInterrupted() {
		InterruptedJob job = interrupted();
		if (job == null || !job.claim()) {
			return false;
		}
		job.items().ends(false, false);
		EndReason reason = new EndReason(Cause.CANCELLED.problemType(),
				"The job was interrupted, and cancelled by DELETE" + " /v1/jobs/" + this.id
						+ ": it wrote nothing more");
		this.life = new Life(null, JobState.CANCELLED,
				new End(job.status(JobState.CANCELLED, System.currentTimeMillis(), reason),
						job.report(JobState.CANCELLED), job.items()));
		return true;
	}

	JobKind kind() {
		return this.kind;
	}

	void begins() {
		QueuedJob job = this.life.job;
		this.life = new Life(job, JobState.RUNNING, null);
	}

	/**
	 * The job has ended. Its report is kept as far as it is small.
	 * @param files the place of a large report; {@code null} if it is not kept
	 * @return the memory that is kept, in bytes
	 */
	long ends(EndedJob<?> ended, @Nullable ReportFiles files) {
		long settings = settingsBytes(this.life.job);
		long lists = ended.memory().reportBytes() - settings;
		boolean small = lists <= LARGEST_REPORT_BYTES;
		Object report = (small) ? ended.report() : (files != null) ? files.write(this.id, ended.report()) : null;
		if (report == null && ended.report() instanceof JobReport records) {
			report = records.withoutLists();
		}
		ends(ended.ending(), report, ended.ending().cause() == Cause.COMPLETED
				&& ended.report() instanceof JobReport records && records.errorCount() == 0);
		return REPORT_BYTES + settings + ((small) ? lists : 0);
	}

	/**
	 * The job has ended without a report.
	 * @return the memory that is kept, in bytes
	 */
	long ends(Ending ending) {
		ends(ending, null, false);
		return REPORT_BYTES;
	}

	private void ends(Ending ending, @Nullable Object report, boolean ran) {
		QueuedJob job = this.life.job;
		JobState state = ending.cause().state();
		JobItems items = (job != null) ? job.items() : null;
		if (items != null) {
			items.ends(ran, ending.cause() == Cause.SHUTTING_DOWN);
		}
		this.life = new Life(null, state,
				new End(status(job, state, System.currentTimeMillis(), EndReason.of(ending)), report, items));
	}

	/**
	 * The records of the job that did not run as asked.
	 * @return {@code null} if the job has not ended, or they are not kept
	 */
	public @Nullable JobItems items() {
		End end = this.life.end;
		return (end != null) ? end.items : null;
	}

	/** Whether the job has ended with its process, and the next one may go on with it. */
	boolean isLeft() {
		JobItems items = items();
		return items != null && items.stay();
	}

	/** Nobody will ask for the job again. */
	void isForgotten() {
		JobItems items = items();
		if (items != null) {
			items.close();
		}
		if (report(this.life) instanceof StoredReport stored) {
			stored.close();
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
		if (now.job == null) {
			return (now.end != null) ? now.end.report : null;
		}
		JobReport report = now.job.snapshot(now.state);
		// An item is counted before it is listed.
		long lists = now.job.memory().reportBytes() - settingsBytes(now.job);
		return (report == null || lists <= LARGEST_REPORT_BYTES) ? report : report.withoutLists();
	}

	/**
	 * Cancels the job between its batches.
	 * @return {@code false} if it has ended
	 */
	public boolean cancel() {
		QueuedJob job = this.life.job;
		if (job != null) {
			JobStop stop = job.stop();
			stop.because(Cause.CANCELLED, "The job was cancelled by DELETE /v1/jobs/" + this.id
					+ ": it wrote nothing more, and what the report calls unprocessed was not run");
		}
		return job != null;
	}

	/**
	 * Whether the job has a pace that can be changed.
	 * @return {@code false} for tunings
	 */
	public boolean isPaced() {
		return this.kind != JobKind.TUNING;
	}

	/**
	 * Changes the pace of the job, even while it waits.
	 * @param perSecond records or keys a second; {@code null} for no limit
	 * @return {@code false} if the job has ended
	 */
	public boolean pace(@Nullable Long perSecond) {
		QueuedJob job = this.life.job;
		RateLimit limit = (job != null) ? job.rateLimit() : null;
		if (limit != null) {
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

	/** The remains of a job that has ended. */
	private record End(JobStatus status, @Nullable Object report, @Nullable JobItems items) {

	}

}
