package io.pipeset.keep;

import java.time.Duration;

import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecord;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.KeyRecords;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * The idempotency keys of requests. A key in the control Redis names the first job that
 * claims it, and the record of that job has the answer to repeats. A key is free again if
 * its job has changed nothing, or if its process has died before the job could write.
 * <p>
 * The process of a job knows its key as well, renews it while the job runs, and answers
 * repeats without the control Redis. So no request runs twice if the control Redis is
 * emptied or cannot be reached.
 */
@Component
public class IdempotencyKeys {

	/** How long a key lasts without renewal before its job has ended. */
	static final Duration KEPT_FOR = Duration.ofDays(7);

	private final JobRecorder recorder;

	private final JobRecords records;

	private final KeyRecords keys;

	IdempotencyKeys(JobRecorder recorder, JobRecords records, KeyRecords keys) {
		this.keys = keys;
		this.recorder = recorder;
		this.records = records;
	}

	/**
	 * Claims a key for a new job, and writes the record of the job.
	 * @param client the client that owns the job
	 * @return the other job that has the key; {@code null} if the new one has it now
	 * @throws ControlRedisException if the control Redis fails; the job must not run
	 */
	public @Nullable Claim claim(String key, Client client, JobStatus job) {
		RecordedJob own = this.recorder.ofKey(key);
		if (own != null) {
			return look(own);
		}
		boolean claimed = false;
		try {
			String other = this.keys.jobOf(key);
			String left = (other != null) ? null : this.recorder.left(key);
			Claim found = (left != null) ? new Claim(left, false, JobState.INTERRUPTED, null)
					: (other != null) ? look(other) : null;
			if (found == null) {
				// Before the key, so that a repeat finds the record.
				this.recorder.enter(client, job, key);
				other = point(key, job, (other != null) ? other : "");
			}
			while (found == null && other != null) {
				found = look(other);
				other = (found != null) ? other : point(key, job, other);
			}
			claimed = found == null;
			return found;
		}
		finally {
			if (!claimed) {
				this.recorder.drop(job.jobId());
			}
		}
	}

	private @Nullable String point(String key, JobStatus job, String from) {
		return this.keys.point(key, job.jobId(), from, KEPT_FOR);
	}

	/** The claim of a job of this process. */
	private Claim look(RecordedJob own) {
		Job job = own.find();
		String request = own.answered();
		if (job == null || request == null) {
			return new Claim(own.id(), true, null, null);
		}
		Job.Look look = job.look();
		Object report = look.report();
		return new Claim(own.id(), false, null,
				new Answer(request, look.status(), (report != null) ? this.recorder.stored(report) : null));
	}

	/** The claim of a job by its record; {@code null} if its key is free. */
	private @Nullable Claim look(String id) {
		JobRecord record = this.records.find(id).orElse(null);
		if (record == null) {
			return new Claim(id, false, null, null);
		}
		JobState state = record.status().state();
		String request = record.request();
		if (state.isActive()) {
			return new Claim(id, true, state, null);
		}
		EndReason ending = record.status().ending();
		if (state != JobState.INTERRUPTED && request != null && (ending == null || ending.cause() != null)) {
			return new Claim(id, false, null, new Answer(request, record.status(), record.report()));
		}
		return (record.unsent() && this.records.take(id)) ? null : new Claim(id, false, state, null);
	}

	/**
	 * Marks that a job may write. It must not write to the data Redis before this returns
	 * {@code true}.
	 * @param request the digest of its request; {@code null} if it is not known yet
	 * @return {@code false} if another job has the key by now
	 * @throws ControlRedisException if the control Redis fails
	 */
	public boolean begin(String id, @Nullable String request) {
		RecordedJob job = this.recorder.find(id);
		return job != null && job.begin(request);
	}

	/**
	 * Records the end of a job, which repeats are answered with for
	 * {@code pipeset.jobs.retention}.
	 * @param request the digest of its request
	 * @param report the report; {@code null} if there is none
	 * @return {@code false} if the control Redis lost the key and another job has it
	 * @throws ControlRedisException if the control Redis fails; the record is written
	 * later
	 */
	public boolean settle(String id, String request, @Nullable JobReport report) {
		RecordedJob job = this.recorder.find(id);
		if (job == null) {
			return true;
		}
		job.settle(request, report);
		return !job.isKeyLost();
	}

	/**
	 * Releases the key of a job that changed nothing: the next request may claim it.
	 * @return why the control Redis has not released it yet; {@code null} if it has
	 */
	public @Nullable ControlRedisException release(String key, String id) {
		RecordedJob job = this.recorder.find(id);
		if (job != null) {
			job.releaseKey();
		}
		return this.recorder.nowOrLater(() -> this.keys.release(key, id));
	}

	/** Releases the key of a job that did not begin, and removes its record. */
	public void drop(String id) {
		this.recorder.drop(id);
	}

	/**
	 * The claim of a job that has the key already.
	 *
	 * @param runs whether the job has not ended, and its process is alive
	 * @param state the state of the job; {@code null} if it has an answer, or if its
	 * state is unknown
	 * @param answer the end of the job; {@code null} if its repeats are not answered with
	 * it
	 */
	public record Claim(String jobId, boolean runs, @Nullable JobState state, @Nullable Answer answer) {

	}

	/**
	 * The end of a job that repeats are answered with.
	 *
	 * @param request the digest that a repeat must have as well
	 * @param report the report; {@code null} if there is none
	 */
	public record Answer(String request, JobStatus status, @Nullable StoredReport report) {

	}

}
