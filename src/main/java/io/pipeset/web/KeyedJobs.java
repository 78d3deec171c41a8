package io.pipeset.web;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.pipeset.input.BodyDigest;
import io.pipeset.input.Caller;
import io.pipeset.input.JobInput;
import io.pipeset.input.UploadedRecords;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.IdempotencyKeys;
import io.pipeset.keep.IdempotencyKeys.Answer;
import io.pipeset.keep.IdempotencyKeys.Claim;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.report.Ending;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobSettings;
import io.pipeset.run.JobOwner;
import io.pipeset.run.JobRequest;
import io.pipeset.run.JobRequest.Repeat;
import io.pipeset.run.Jobs;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Runs a job once for each {@code Idempotency-Key}. The key is claimed before the body is
 * read, and has the job's answer when it has ended. A repeat gets this answer, and runs
 * nothing.
 */
@Component
class KeyedJobs {

	private final Jobs jobs;

	private final Reports reports;

	private final AsyncJobs async;

	private final IdempotencyKeys keys;

	private final JobRecorder recorder;

	KeyedJobs(Jobs jobs, Reports reports, AsyncJobs async, IdempotencyKeys keys, JobRecorder recorder) {
		this.jobs = jobs;
		this.reports = reports;
		this.async = async;
		this.keys = keys;
		this.recorder = recorder;
	}

	/**
	 * Runs a job, and answers its request, or answers it with what the key's job was
	 * answered.
	 * @param known the input; {@code null} if it is fetched only for a job that runs
	 * @param opens opens the input, and checks the job
	 * @throws IOException if the response cannot be written
	 */
	void run(KeyedJob keyed, JobSettings settings, @Nullable JobInput known, Supplier<JobRequest> opens,
			HttpServletRequest request, HttpServletResponse response) throws IOException {
		JobStatus status = JobStatus.queued(keyed.jobId, settings.operationName(),
				(settings.check().dryRun()) ? true : null, settings.reporting().label());
		boolean waits = !AsyncJobs.isRequested(request);
		boolean once = waits && settings.batching().exactlyOnce() && !settings.check().dryRun();
		Claim other = claim(keyed, status);
		if (other != null && once && other.state() == JobState.INTERRUPTED) {
			finish(other.jobId(), keyed, settings, opens, request, response);
			return;
		}
		if (other != null) {
			answerRepeat(other, keyed, known, request, response);
			return;
		}
		JobRequest job = open(keyed, opens);
		if (once) {
			job = job.with(job.id(), new Repeat(fingerprintOfHead(request), false));
		}
		run(keyed, job, waits, request, response);
	}

	/**
	 * Finishes the interrupted job of an earlier request with the same key, whose mark
	 * says what ran.
	 */
	private void finish(String id, KeyedJob keyed, JobSettings settings, Supplier<JobRequest> opens,
			HttpServletRequest request, HttpServletResponse response) throws IOException {
		KeyedJob again = new KeyedJob(keyed.owner, keyed.key, id, keyed.digest);
		JobRequest job = opens.get().with(id, new Repeat(fingerprintOfHead(request), true));
		try {
			this.recorder.enterAgain(keyed.owner.client(),
					JobStatus.queued(id, settings.operationName(), null, settings.reporting().label()), keyed.key);
		}
		catch (ControlRedisException ex) {
			throw IdempotencyKey.refused(IdempotencyKey.unreachable(ex));
		}
		run(again, job, true, request, response);
	}

	private static String fingerprintOfHead(HttpServletRequest request) {
		BodyDigest head = IdempotencyKey.digest(request);
		head.end();
		return head.value();
	}

	private void run(KeyedJob keyed, JobRequest job, boolean waits, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		JobInput input = job.input();
		JobSettings settings = job.settings();
		if (input instanceof UploadedRecords upload && upload.isUploaded()) {
			upload.digestTo(keyed.digest);
		}
		else {
			keyed.digest.end();
		}
		if (waits) {
			Caller caller = new DetachedCaller(CallerConnection.of(request), () -> markBegun(keyed, null));
			this.reports.answer(runAndSettle(keyed, job.repeat(), () -> fingerprint(keyed, false), false,
					() -> this.jobs.run(job, caller)), JobKind.RECORDS, request, response);
			return;
		}
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.async.begin(job, request, response, (taken, caller) -> {
				// After the 202 the job may be resumed, so no other job may take the key.
				String fingerprint = fingerprint(keyed, input instanceof UploadedRecords);
				Ending refused = (!settings.writes()) ? null : markBegun(keyed, fingerprint);
				if (refused != null) {
					throw IdempotencyKey.refused(refused);
				}
				begun.set(true);
				return runAndSettle(keyed, job.repeat(), () -> fingerprint, input instanceof UploadedRecords,
						() -> this.jobs.run(taken, caller));
			});
		}
		finally {
			if (!begun.get()) {
				this.keys.drop(keyed.jobId);
			}
		}
	}

	/** Opens the input of a job that has a key. */
	private JobRequest open(KeyedJob keyed, Supplier<JobRequest> opens) {
		boolean opened = false;
		try {
			JobRequest job = opens.get();
			opened = true;
			return job;
		}
		finally {
			if (!opened) {
				this.keys.drop(keyed.jobId);
			}
		}
	}

	/**
	 * Claims a key.
	 * @return the claim of the other job that has the key; {@code null} if this job has
	 * it now
	 * @throws ErrorResponseException if the control Redis fails; the job must not run
	 */
	private @Nullable Claim claim(KeyedJob keyed, JobStatus job) {
		try {
			return this.keys.claim(keyed.key, keyed.owner.client(), job);
		}
		catch (ControlRedisException ex) {
			throw IdempotencyKey.refused(IdempotencyKey.unreachable(ex));
		}
	}

	/**
	 * Marks that the job may write from now on, so that a repeat never runs it again.
	 * @return the reason why the job must not write; {@code null} if it may
	 */
	private @Nullable Ending markBegun(KeyedJob keyed, @Nullable String fingerprint) {
		try {
			return (this.keys.begin(keyed.jobId, fingerprint)) ? null : IdempotencyKey.KEY_LOST;
		}
		catch (ControlRedisException ex) {
			return IdempotencyKey.unreachable(ex);
		}
	}

	/**
	 * Runs a job that has claimed a key, and records its end for repeats.
	 * @param repeat what a repeat of the request can finish; {@code null} if it runs
	 * nothing
	 * @param fingerprint makes the fingerprint of the request, once it is read
	 * @param listed whether the caller can list the records that did not run
	 */
	private EndedJob<JobReport> runAndSettle(KeyedJob keyed, @Nullable Repeat repeat, Supplier<String> fingerprint,
			boolean listed, Supplier<EndedJob<JobReport>> job) {
		boolean ended = false;
		try {
			EndedJob<JobReport> run = job.get();
			ended = true;
			List<Warning> warnings = new ArrayList<>();
			// If another process may resume the job, the key keeps its claim.
			if (run.report().state() == JobState.INTERRUPTED && repeat != null) {
				this.recorder.leave(keyed.jobId);
				return run;
			}
			if (run.report().state() != JobState.INTERRUPTED) {
				warnings.addAll((run.touched()) ? settle(keyed, fingerprint.get(), run.report()) : release(keyed));
			}
			warnings.addAll(this.recorder.keep(keyed.jobId));
			EndedJob<JobReport> answered = run.with(run.report().with(warnings));
			return (run.touched())
					? answered.with(IdempotencyKey.withAdvice(run.ending(), run.report().counts(), run.id(), listed))
					: answered;
		}
		catch (JobRefusedException ex) {
			ended = true;
			if (repeat != null && repeat.again()) {
				this.recorder.leave(keyed.jobId);
			}
			else {
				this.keys.drop(keyed.jobId);
			}
			throw ex;
		}
		finally {
			if (!ended) {
				// The job may have run in part, so no repeat may run it again.
				settle(keyed, fingerprint.get(), null);
			}
		}
	}

	private List<Warning> release(KeyedJob keyed) {
		ControlRedisException failure = this.keys.release(keyed.key, keyed.jobId);
		return (failure != null) ? List.of(new Warning("NOT_RECORDED", null,
				"The " + IdempotencyKey.HEADER + " is not released. " + failure.getMessage()
						+ ". Until the control Redis can be reached, other instances refuse a repeat, and run nothing",
				null)) : List.of();
	}

	private List<Warning> settle(KeyedJob keyed, String fingerprint, @Nullable JobReport report) {
		try {
			if (this.keys.settle(keyed.jobId, fingerprint, report)) {
				return List.of();
			}
			return List.of(
					new Warning("NOT_RECORDED", null,
							"The control Redis lost the " + IdempotencyKey.HEADER
									+ " while the job ran. Another request has it now, and may have run as well",
							null));
		}
		catch (ControlRedisException ex) {
			return List.of(new Warning("NOT_RECORDED", null, "The answer is not kept for repeats. " + ex.getMessage()
					+ ". Until the control Redis can be reached, only this instance has the answer. Other instances refuse"
					+ " a repeat, and run nothing. If this process ends before, the answer is lost", null));
		}
	}

	private static String fingerprint(KeyedJob keyed, boolean listed) {
		return IdempotencyKey.fingerprint(keyed.digest) + ' ' + listed;
	}

	/** Answers a request whose key another job has. Nothing runs. */
	private void answerRepeat(Claim claim, KeyedJob keyed, @Nullable JobInput input, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		Answer answer = claim.answer();
		if (answer == null) {
			throw IdempotencyKey.inUse(claim);
		}
		if (input instanceof UploadedRecords upload && upload.isUploaded()) {
			try {
				this.jobs.digest(keyed.owner.client(), upload, keyed.digest, IdempotencyKey.bytes(answer.request()),
						IdempotencyKey.isWhole(answer.request()));
			}
			catch (IOException ex) {
				throw this.async.unreadable(ex, request);
			}
		}
		else {
			keyed.digest.end();
		}
		if (!IdempotencyKey.isSame(answer.request(), keyed.digest)) {
			ErrorResponseException problem = Problems.exception(Problem.IDEMPOTENCY_KEY_REUSED,
					"Nothing was run: the " + IdempotencyKey.HEADER
							+ " stands for another request, which differs in its path, settings, type or body. Take a"
							+ " new key for each request");
			problem.getHeaders().set(HttpHeaders.LOCATION, JobIds.location(claim.jobId()));
			throw problem;
		}
		response.setHeader(IdempotencyKey.REPLAYED, "true");
		this.reports.replay(answer, this.recorder.bestEffort(), request, response);
	}

	/**
	 * A job that has an {@code Idempotency-Key}.
	 *
	 * @param key the key of its client, as the control Redis has it
	 * @param digest the digest of the request, to which that of the body is added
	 */
	record KeyedJob(JobOwner owner, String key, String jobId, BodyDigest digest) {

	}

	/** A caller that can get its response again with a repeat, if it is lost. */
	private record DetachedCaller(Caller connection, Supplier<@Nullable Ending> markBegun) implements Caller {

		@Override
		public @Nullable Ending beforeFirstWrite() {
			return this.markBegun.get();
		}

		@Override
		public boolean isPop() {
			return false;
		}

		@Override
		public void endInputIfPaused(Duration idle) {
			this.connection.endInputIfPaused(idle);
		}

		@Override
		public Watch watch(Runnable gone) {
			return this.connection.watch(gone);
		}

	}

}
