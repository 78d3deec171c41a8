package io.pipeset.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.pipeset.job.EndedJob;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.IdempotencyKeys;
import io.pipeset.job.control.IdempotencyKeys.Answer;
import io.pipeset.job.control.IdempotencyKeys.Claim;
import io.pipeset.job.control.ReportBytes;
import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.job.directory.JobRecorder;
import io.pipeset.job.input.BodyDigest;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.input.UploadedRecords;
import io.pipeset.job.run.JobOwner;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.report.Ending;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
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

	/** The response if a job fails because of a defect of the service. */
	private static final byte[] DEFECT = Problems
		.json(Problems.detail(Problem.INTERNAL_SERVER_ERROR,
				"The service failed to run the job, which may have run in part; its log says why."))
		.getBytes(StandardCharsets.UTF_8);

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
	 * @param source opens the input
	 * @param values where the report lists popped values
	 * @throws IOException if the response cannot be written
	 */
	void run(KeyedJob keyed, @Nullable JobInput known, Supplier<JobInput> source, JobSettings settings,
			Jobs.Values values, HttpServletRequest request, HttpServletResponse response) throws IOException {
		Claim other = claim(keyed);
		if (other != null) {
			answerRepeat(other, keyed, known, request, response);
			return;
		}
		JobInput input = open(keyed, source);
		boolean waits = !AsyncJobs.isRequested(request);
		this.recorder.enter(keyed.owner.client(), JobStatus.queued(keyed.jobId, settings.operationName(),
				(settings.dryRun()) ? true : null, settings.label()));
		if (input instanceof UploadedRecords upload && upload.isUploaded()) {
			upload.digestTo(keyed.digest);
		}
		else {
			keyed.digest.end();
		}
		if (waits) {
			Caller caller = new DetachedCaller(CallerConnection.of(request), () -> markBegun(keyed));
			this.reports.answer(
					runAndSettle(keyed, false,
							() -> this.jobs.run(keyed.jobId, keyed.owner, input, settings, values, caller)),
					JobKind.RECORDS, request, response);
			return;
		}
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.async.begin(keyed.owner.client(), keyed.jobId, input, request, response, (taken, caller) -> {
				// After the 202 the job may be resumed, so no other job may take the key.
				Ending refused = (settings.dryRun()) ? null : markBegun(keyed);
				if (refused != null) {
					throw IdempotencyKey.refused(refused);
				}
				begun.set(true);
				return runAndSettle(keyed, input instanceof UploadedRecords,
						() -> this.jobs.run(keyed.jobId, keyed.owner, taken, settings, values, caller));
			});
		}
		finally {
			if (!begun.get()) {
				release(keyed);
			}
		}
	}

	/** Opens the input of a job that has a key. */
	private JobInput open(KeyedJob keyed, Supplier<JobInput> source) {
		boolean opened = false;
		try {
			JobInput input = source.get();
			opened = true;
			return input;
		}
		finally {
			if (!opened) {
				release(keyed);
			}
		}
	}

	/**
	 * Claims a key.
	 * @return the claim of the other job that has the key; {@code null} if this job has
	 * it now
	 * @throws ErrorResponseException if the control Redis fails; the job must not run
	 */
	private @Nullable Claim claim(KeyedJob keyed) {
		Claim other = this.keys.own(keyed.key);
		if (other != null) {
			return other;
		}
		boolean asked = false;
		boolean known = false;
		try {
			this.recorder.hold(keyed.jobId);
			asked = true;
			other = this.keys.claim(keyed.key, keyed.jobId);
			known = true;
			return other;
		}
		catch (ControlRedisException ex) {
			throw IdempotencyKey.refused(IdempotencyKey.unreachable(ex));
		}
		finally {
			if (asked && !known) {
				// The control Redis may have the claim, although its reply was lost.
				release(keyed);
			}
			else if (other != null) {
				this.recorder.drop(keyed.jobId);
			}
		}
	}

	/**
	 * Marks that the job may write from now on, so that a repeat never runs it again.
	 * @return the reason why the job must not write; {@code null} if it may
	 */
	private @Nullable Ending markBegun(KeyedJob keyed) {
		try {
			return (this.keys.begin(keyed.jobId)) ? null : IdempotencyKey.KEY_LOST;
		}
		catch (ControlRedisException ex) {
			return IdempotencyKey.unreachable(ex);
		}
	}

	private void release(KeyedJob keyed) {
		this.recorder.drop(keyed.jobId);
		releaseKey(keyed);
	}

	private List<Warning> releaseKey(KeyedJob keyed) {
		try {
			this.keys.release(keyed.jobId);
			return List.of();
		}
		catch (ControlRedisException ex) {
			return List.of(new Warning("NOT_RECORDED", null, "The " + IdempotencyKey.HEADER + " is not released. "
					+ ex.getMessage()
					+ ". Until the control Redis can be reached, other instances refuse a repeat, and run nothing",
					null));
		}
	}

	/**
	 * Runs a job that has claimed a key, and stores its response for repeats.
	 * @param listed whether the caller can list the records that did not run
	 */
	private EndedJob<JobReport> runAndSettle(KeyedJob keyed, boolean listed, Supplier<EndedJob<JobReport>> job) {
		boolean ended = false;
		try {
			EndedJob<JobReport> run = IdempotencyKey.withAdvice(job.get(), listed);
			ended = true;
			List<Warning> warnings = new ArrayList<>(this.recorder.keep(keyed.jobId));
			// If another process has the job, or may resume it, the key keeps its claim.
			if (run.report().state() != JobState.INTERRUPTED && !this.recorder.isLeft(keyed.jobId)) {
				// The stored response has no warnings that may no longer be true when it
				// is repeated.
				warnings.addAll((run.touched()) ? settle(keyed, run.with(run.report().with(this.recorder.bestEffort())))
						: releaseKey(keyed));
			}
			return run.with(run.report().with(warnings));
		}
		catch (JobRefusedException ex) {
			ended = true;
			release(keyed);
			throw ex;
		}
		finally {
			if (!ended) {
				// The job may have run in part, so no repeat may run it again.
				this.recorder.keep(keyed.jobId);
				ReportWriter problem = (out) -> out.write(DEFECT);
				settle(keyed, "500 ", problem, problem);
			}
		}
	}

	private List<Warning> settle(KeyedJob keyed, EndedJob<JobReport> job) {
		EndedJob<JobReport> shorter = job.with(job.report().withoutLists());
		return settle(keyed, Reports.status(job) + " " + job.report().errorCount(),
				(out) -> this.reports.write(job, keyed.path, out),
				(out) -> this.reports.write(shorter, keyed.path, out));
	}

	private List<Warning> settle(KeyedJob keyed, String head, ReportWriter whole, ReportWriter shorter) {
		try {
			if (this.keys.settle(keyed.jobId, IdempotencyKey.fingerprint(keyed.digest), head, body(whole, shorter),
					() -> body(shorter, shorter))) {
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

	private static byte[] body(ReportWriter whole, ReportWriter shorter) {
		try {
			return Objects.requireNonNull(ReportBytes.compress(whole, shorter));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
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
				this.jobs.digest(keyed.owner.client(), upload, keyed.digest, IdempotencyKey.bytes(answer.fingerprint()),
						IdempotencyKey.isWhole(answer.fingerprint()));
			}
			catch (IOException ex) {
				throw this.async.unreadable(ex, request);
			}
		}
		else {
			keyed.digest.end();
		}
		if (!IdempotencyKey.isSame(answer.fingerprint(), keyed.digest)) {
			ErrorResponseException problem = Problems.exception(Problem.IDEMPOTENCY_KEY_REUSED,
					"Nothing was run: the " + IdempotencyKey.HEADER
							+ " stands for another request, which differs in its path, settings, type or body. Take a"
							+ " new key for each request");
			problem.getHeaders().set(HttpHeaders.LOCATION, JobIds.location(claim.jobId()));
			throw problem;
		}
		String[] head = answer.head().split(" ", -1);
		response.setHeader(IdempotencyKey.REPLAYED, "true");
		this.reports.replay(claim.jobId(), Integer.parseInt(head[0]), head[1], answer.body().get(), response);
	}

	/**
	 * A job that has an {@code Idempotency-Key}.
	 *
	 * @param key the key of its client, as the control Redis has it
	 * @param digest the digest of the request, to which that of the body is added
	 * @param path the path of the request
	 */
	record KeyedJob(JobOwner owner, String key, String jobId, BodyDigest digest, String path) {

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
