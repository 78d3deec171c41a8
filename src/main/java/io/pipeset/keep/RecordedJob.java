package io.pipeset.keep;

import java.util.Objects;

import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.JobRecords.KeyState;
import io.pipeset.keep.control.JobRecords.Wishes;
import io.pipeset.keep.control.KeyRecords;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job of this process with its record in the control Redis. Each method that writes
 * throws {@link ControlRedisException} if the control Redis fails; the next write tries
 * again.
 */
final class RecordedJob {

	private static final Logger logger = LoggerFactory.getLogger(RecordedJob.class);

	private final JobRecords records;

	private final KeyRecords keys;

	private final JobRegistry registry;

	private final ReportJson reports;

	private final String id;

	/** {@code null} before the job exists. */
	private volatile @Nullable Job job;

	/** Its idempotency key; {@code null} for none. */
	private volatile @Nullable String key;

	/** Whether the job cannot have written yet, so that others may take its key. */
	private volatile boolean unsent = true;

	/** The digest of its request; {@code null} before it is known. */
	private volatile @Nullable String request;

	/** Whether the answer to repeats of a request with a key is known. */
	private volatile boolean settled;

	/** Whether another job has the key in the control Redis. */
	private volatile boolean keyLost;

	/** The last record; {@code null} if the control Redis may not have one. */
	private volatile @Nullable JobStatus written;

	/** When the record was added to the list of jobs, by {@link System#nanoTime}. */
	private long enteredNanos;

	/** When the key was set to this job, by {@link System#nanoTime}. */
	private long pointedNanos = System.nanoTime();

	/** Why the last write failed; {@code null} if it did not. */
	private volatile @Nullable String failure;

	/** Whether the control Redis may have a record, even if writing it failed. */
	private boolean mayBeRecorded;

	private boolean dropped;

	/** The requested rate limit that the job has; {@code null} for none. */
	private @Nullable Long rateLimit;

	RecordedJob(String id, JobRecords records, KeyRecords keys, JobRegistry registry, ReportJson reports) {
		this.id = id;
		this.records = records;
		this.keys = keys;
		this.registry = registry;
		this.reports = reports;
	}

	String id() {
		return this.id;
	}

	/** Its idempotency key; {@code null} for none. */
	@Nullable String key() {
		return this.key;
	}

	/** Why the last write failed; {@code null} if it did not. */
	@Nullable String failure() {
		return this.failure;
	}

	void setFailure(String failure) {
		this.failure = failure;
	}

	/** Whether the control Redis has, or had, a record of the job. */
	boolean isWritten() {
		return this.written != null;
	}

	/** Writes the record again, because the control Redis has lost it. */
	void setLost() {
		this.written = null;
	}

	boolean isForgotten() {
		return this.job != null && (this.key == null || isDone()) && this.registry.find(this.id).isEmpty();
	}

	@Nullable Job find() {
		Job job = this.job;
		if (job == null) {
			job = this.registry.find(this.id).orElse(null);
			this.job = job;
		}
		return job;
	}

	/** Stops all writes; {@code true} if the control Redis may have a record. */
	synchronized boolean drop() {
		this.dropped = true;
		return this.mayBeRecorded;
	}

	/**
	 * Writes the first record of a job that does not exist yet.
	 * @param key its idempotency key
	 * @param unsent whether the job cannot have written yet
	 */
	synchronized void enter(String client, JobStatus status, String key, boolean unsent) {
		this.key = key;
		this.unsent = unsent;
		this.mayBeRecorded = true;
		this.records.write(client, status, null, false, true, null, keyState(), null);
		this.written = status;
		this.enteredNanos = System.nanoTime();
	}

	private @Nullable KeyState keyState() {
		return (this.key != null) ? new KeyState(this.unsent, this.request) : null;
	}

	/**
	 * Sets the key to this job, which the control Redis may have lost.
	 * @return {@code false} if another job has it now
	 */
	synchronized boolean point() {
		String key = this.key;
		if (key != null) {
			boolean lost = this.keys.point(key, this.id, "",
					(this.settled) ? this.records.retention() : IdempotencyKeys.KEPT_FOR) != null;
			this.pointedNanos = System.nanoTime();
			if (lost && !this.keyLost) {
				logger.atWarn()
					.addKeyValue("jobId", this.id)
					.log("The control Redis has lost the Idempotency-Key of job {}, and another request has it now:"
							+ " that one may have run as well", this.id);
			}
			this.keyLost = lost;
		}
		return !this.keyLost;
	}

	/**
	 * Marks that the job may write from now on.
	 * @param request the digest of its request; {@code null} if it is not known yet
	 * @return {@code false} if another job has its key
	 * @throws ControlRedisException if the control Redis fails
	 */
	synchronized boolean begin(@Nullable String request) {
		this.request = request;
		if (!point()) {
			return false;
		}
		Boolean begun = this.records.begin(this.id);
		this.unsent = false;
		if (begun == null || request != null) {
			// The record is lost, or lacks the digest.
			this.written = null;
			write();
		}
		return !Boolean.FALSE.equals(begun);
	}

	/**
	 * Records the end of a job with a key, whose answer repeats get from now on.
	 * @param request the digest of its request
	 * @param report the whole report; {@code null} if there is none
	 * @throws ControlRedisException if the control Redis fails; the record is written
	 * later
	 */
	synchronized void settle(String request, @Nullable JobReport report) {
		find();
		this.request = request;
		this.settled = true;
		boolean first = point();
		write(report);
		if (!first) {
			this.key = null;
		}
	}

	/** Whether another job has its key in the control Redis. */
	boolean isKeyLost() {
		return this.keyLost;
	}

	/** Forgets the key: the job changed nothing, or has none any more. */
	void releaseKey() {
		this.key = null;
	}

	/** The digest of its request, if the answer to repeats is known. */
	@Nullable String answered() {
		return (this.settled) ? this.request : null;
	}

	boolean isDone() {
		JobStatus last = this.written;
		Job job = this.job;
		// Other instances may still cancel an interrupted job.
		return last != null && !last.state().isActive() && last.state() != JobState.INTERRUPTED
				&& (job == null || job.state() == last.state());
	}

	/** Whether the record of the ended job has not expired. */
	boolean mustHaveRecord() {
		JobStatus last = this.written;
		Long ended = (last != null) ? last.endedMillis() : null;
		return ended != null && ended + this.records.retention().toMillis() > System.currentTimeMillis() + 1000;
	}

	/** Applies the changes that were requested in the record. */
	synchronized void hear() {
		Wishes wishes = this.records.touch(this.id, keyState(), this.rateLimit);
		if (wishes == null) {
			this.written = null;
		}
		else {
			apply(wishes);
		}
	}

	private void apply(Wishes wishes) {
		Job job = find();
		if (job != null) {
			Long perSecond = wishes.rateLimit();
			if (perSecond != null && job.changeRateLimit((perSecond > 0) ? perSecond : null)) {
				this.rateLimit = perSecond;
			}
			if (wishes.cancelled()) {
				this.registry.cancel(job);
			}
		}
	}

	void write() {
		write(null);
	}

	/**
	 * Writes the record if it has changed. Synchronized, so that no older one wins.
	 * @param whole the final report; {@code null} for the one that the registry has
	 */
	private synchronized void write(@Nullable JobReport whole) {
		Job job = find();
		if (this.dropped) {
			return;
		}
		boolean known = this.written != null;
		if (!isDone() && (known || (job != null && job.interrupted() != null))) {
			hear();
		}
		boolean lost = known && this.written == null;
		if (this.key != null && !isDone()
				&& (lost || System.nanoTime() - this.pointedNanos > this.records.lease().toNanos() / 3)) {
			point();
		}
		if (job == null) {
			return;
		}
		Job.Look view = job.look();
		JobStatus now = view.status();
		JobStatus last = this.written;
		boolean ended = !now.state().isActive();
		if (ended && this.key != null && !this.settled && now.state() != JobState.INTERRUPTED) {
			// Its repeats get the answer together with the end.
			return;
		}
		// Refresh the record before it expires. That of an ended job expires by its end,
		// and
		// may have more of the report than this process.
		boolean old = now.endedMillis() == null
				&& System.nanoTime() - this.enteredNanos > this.records.retention().toNanos() / 2;
		if (last != null && !old && last.state() == now.state() && Objects.equals(last.ending(), now.ending())
				&& now.progress().done() == last.progress().done() && now.progress().read() == last.progress().read()) {
			return;
		}
		if (whole == null && last == null && !job.isWhole() && hasEnd()) {
			// It has more of the report than this process.
			this.written = now;
			this.registry.markRecorded(job);
			return;
		}
		Object report = (whole != null) ? whole : view.report();
		if (!ended && report instanceof JobReport records) {
			report = records.withoutLists();
		}
		this.mayBeRecorded = true;
		boolean addsToList = last == null || old || ended;
		Wishes wishes = this.records.write(job.client(), now, (report != null) ? this.reports.stored(report) : null,
				job.hasFiles(), addsToList, job.callback(), keyState(), this.rateLimit);
		this.written = now;
		this.enteredNanos = (addsToList) ? System.nanoTime() : this.enteredNanos;
		this.failure = null;
		if (last == null) {
			apply(wishes);
		}
		if (ended && now.state() != JobState.INTERRUPTED) {
			this.registry.markRecorded(job);
		}
	}

	/** Whether the control Redis has the end of the job. */
	private boolean hasEnd() {
		return this.records.find(this.id).filter((record) -> record.status().endedMillis() != null).isPresent();
	}

}
