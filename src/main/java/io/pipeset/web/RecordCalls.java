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

import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.JobId;
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
import io.pipeset.job.settings.Setting;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.report.Ending;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Runs the jobs of records that requests ask for: while the caller waits or not, and once
 * only for each {@code Idempotency-Key}.
 */
@Component
class RecordCalls {

	/** The answer to a request whose job has failed by a defect. */
	private static final byte[] DEFECT = Problems
		.json(Problems.detail(Problem.INTERNAL_SERVER_ERROR,
				"The service failed to run the job, which may have run in part; its log says why."))
		.getBytes(StandardCharsets.UTF_8);

	private final Jobs jobs;

	private final JobMeters meters;

	/** The place of the service's own jobs; {@code null} for those of callers. */
	private final @Nullable JobOwner own;

	private final Reports reports;

	private final AsyncJobs async;

	private final IdempotencyKeys keys;

	private final JobRecorder recorder;

	@Autowired
	RecordCalls(Jobs jobs, JobMeters meters, Reports reports, AsyncJobs async, IdempotencyKeys keys,
			JobRecorder recorder) {
		this(jobs, meters, null, reports, async, keys, recorder);
	}

	private RecordCalls(Jobs jobs, JobMeters meters, @Nullable JobOwner own, Reports reports, AsyncJobs async,
			IdempotencyKeys keys, JobRecorder recorder) {
		this.jobs = jobs;
		this.meters = meters;
		this.own = own;
		this.reports = reports;
		this.async = async;
		this.keys = keys;
		this.recorder = recorder;
	}

	/** The same calls for the service's own jobs. */
	RecordCalls at(JobOwner own) {
		return new RecordCalls(this.jobs, this.meters, own, this.reports, this.async, this.keys, this.recorder);
	}

	/** The client whose request this thread serves. */
	Client client() {
		return (this.own != null) ? this.own.client() : Callers.current();
	}

	/**
	 * Runs a job, and answers its request.
	 * @param input the records, of which nothing was read
	 * @param values the place in the report of values taken out of Redis
	 * @throws IOException if the answer cannot be written
	 */
	void run(JobInput input, JobSettings settings, Jobs.Values values, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		Client client = client();
		JobOwner place = (this.own != null) ? this.own : new JobOwner(this.meters.of(client.name()), client, null);
		client.require(settings, input);
		Uploads.refuseIdleJitter(settings, input, request);
		Long pace = settings.rateLimit();
		if (!Objects.equals(client.pace(pace), pace) && Query.of(request).has(Setting.RATE_LIMIT.name())) {
			client.requirePace(pace);
		}
		String key = IdempotencyKey.of(request);
		boolean waits = !AsyncJobs.isAsked(request);
		if (key != null || !waits) {
			refuseLostPops(input, settings, values);
		}
		if (key != null) {
			runOnce(new Once(place, IdempotencyKey.of(client, key), input.jobId(JobId.next()),
					IdempotencyKey.digest(request), request.getRequestURI()), waits, input, settings, values, request,
					response);
		}
		else if (waits) {
			this.reports.answer(this.jobs.run(place, input, settings, values, CallerConnection.of(request)),
					JobKind.RECORDS, request, response);
		}
		else {
			this.async.begin(client, JobId.next(), input, request, response,
					(taken, caller) -> this.jobs.run(place, taken, settings, values, caller));
		}
	}

	/** Nobody would have the values if the answer were lost. */
	private static void refuseLostPops(JobInput input, JobSettings settings, Jobs.Values values) {
		Operation operation = settings.operation();
		if (operation != null && settings.only() && operation.effect() == Effect.POP && !settings.dryRun()
				&& !(input instanceof JobInput.Popped)) {
			throw AsyncJobs
				.popRefused((values == Jobs.Values.APART) ? "/piperpop without reliable=true" : "op=" + operation);
		}
	}

	private void runOnce(Once once, boolean waits, JobInput input, JobSettings settings, Jobs.Values values,
			HttpServletRequest request, HttpServletResponse response) throws IOException {
		Claim other = claim(once);
		if (other != null) {
			repeat(other, once.digest, input, request, response);
			return;
		}
		this.recorder.enter(once.place.client(),
				JobStatus.queued(once.jobId, settings.operationName(), (settings.dryRun()) ? true : null));
		if (input instanceof UploadedRecords upload) {
			upload.digestTo(once.digest);
		}
		else {
			once.digest.end();
		}
		if (waits) {
			Caller caller = new DetachedCaller(CallerConnection.of(request), () -> begins(once));
			this.reports.answer(
					settled(once, false, () -> this.jobs.run(once.jobId, once.place, input, settings, values, caller)),
					JobKind.RECORDS, request, response);
			return;
		}
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.async.begin(once.place.client(), once.jobId, input, request, response, (taken, caller) -> {
				// From its 202 on it may be resumed, and is nobody else's.
				Ending refused = (settings.dryRun()) ? null : begins(once);
				if (refused != null) {
					throw IdempotencyKey.refused(refused);
				}
				begun.set(true);
				return settled(once, input instanceof UploadedRecords,
						() -> this.jobs.run(once.jobId, once.place, taken, settings, values, caller));
			});
		}
		finally {
			if (!begun.get()) {
				release(once);
			}
		}
	}

	/** Claims a key, or tells who has it. Without the control Redis nothing is run. */
	private @Nullable Claim claim(Once once) {
		Claim other = this.keys.own(once.key);
		if (other != null) {
			return other;
		}
		boolean asked = false;
		boolean known = false;
		try {
			this.recorder.hold(once.jobId);
			asked = true;
			other = this.keys.claim(once.key, once.jobId);
			known = true;
			return other;
		}
		catch (ControlRedisException ex) {
			throw IdempotencyKey.refused(IdempotencyKey.unreachable(ex));
		}
		finally {
			if (asked && !known) {
				// The claim may have been made, and its answer lost.
				release(once);
			}
			else if (other != null) {
				this.recorder.drop(once.jobId);
			}
		}
	}

	/**
	 * The job may write from now on: a repeat never runs it again.
	 * @return the reason why it must not; {@code null} if it may
	 */
	private @Nullable Ending begins(Once once) {
		try {
			return (this.keys.begin(once.jobId)) ? null : IdempotencyKey.TAKEN;
		}
		catch (ControlRedisException ex) {
			return IdempotencyKey.unreachable(ex);
		}
	}

	private void release(Once once) {
		this.recorder.drop(once.jobId);
		giveBack(once);
	}

	private List<Warning> giveBack(Once once) {
		try {
			this.keys.release(once.jobId);
			return List.of();
		}
		catch (ControlRedisException ex) {
			return List.of(
					new Warning("NOT_RECORDED", null,
							"The " + IdempotencyKey.HEADER + " is not given back. " + ex.getMessage()
									+ ". Until it can be reached, other instances refuse a repeat, and run nothing",
							null));
		}
	}

	/**
	 * Runs the job that has claimed a key, and keeps its answer for repeats.
	 * @param listed whether the records that do not run can be listed later
	 */
	private EndedJob<JobReport> settled(Once once, boolean listed, Supplier<EndedJob<JobReport>> job) {
		boolean ended = false;
		try {
			EndedJob<JobReport> run = IdempotencyKey.explained(job.get(), listed);
			ended = true;
			List<Warning> warnings = new ArrayList<>(this.recorder.keep(once.jobId));
			// A job that the next process may go on with has not ended for its key.
			if (!this.recorder.isLeft(once.jobId)) {
				// What is wrong with the record now may not be when the answer is
				// repeated.
				warnings.addAll((run.touched()) ? settle(once, run.with(run.report().with(this.recorder.bestEffort())))
						: giveBack(once));
			}
			return run.with(run.report().with(warnings));
		}
		catch (JobRefusedException ex) {
			ended = true;
			release(once);
			throw ex;
		}
		finally {
			if (!ended) {
				// It may have run in part: nobody is to run it again.
				this.recorder.keep(once.jobId);
				ReportWriter problem = (out) -> out.write(DEFECT);
				settle(once, "500 ", problem, problem);
			}
		}
	}

	private List<Warning> settle(Once once, EndedJob<JobReport> job) {
		EndedJob<JobReport> shorter = job.with(job.report().withoutLists());
		return settle(once, Reports.status(job) + " " + job.report().errorCount(),
				(out) -> this.reports.write(job, once.path, out), (out) -> this.reports.write(shorter, once.path, out));
	}

	private List<Warning> settle(Once once, String head, ReportWriter whole, ReportWriter shorter) {
		try {
			if (this.keys.settle(once.jobId, IdempotencyKey.fingerprint(once.digest), head, body(whole, shorter),
					() -> body(shorter, shorter))) {
				return List.of();
			}
			return List.of(new Warning("NOT_RECORDED", null,
					"The control Redis has lost the " + IdempotencyKey.HEADER
							+ " while the job ran, and another request has it now: that one may have run as well",
					null));
		}
		catch (ControlRedisException ex) {
			return List.of(new Warning("NOT_RECORDED", null, "The answer is not kept for repeats. " + ex.getMessage()
					+ ". Until it can be reached, this instance has the answer, others refuse a repeat, and nothing runs"
					+ " again. If this process ends before, the answer is lost", null));
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

	/** Answers a request whose key is that of another one. Nothing is run. */
	private void repeat(Claim claim, BodyDigest digest, JobInput input, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		Answer answer = claim.answer();
		if (answer == null) {
			throw IdempotencyKey.inUse(claim);
		}
		if (input instanceof UploadedRecords upload) {
			try {
				this.jobs.digest(client(), upload, digest, IdempotencyKey.bytes(answer.fingerprint()),
						IdempotencyKey.isWhole(answer.fingerprint()));
			}
			catch (IOException ex) {
				throw this.async.unreadable(ex, request);
			}
		}
		else {
			digest.end();
		}
		if (!IdempotencyKey.isSame(answer.fingerprint(), digest)) {
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

	/** A request that is to be run once. */
	private record Once(JobOwner place, String key, String jobId, BodyDigest digest, String path) {

	}

	/** A caller whose answer may be lost, and asked for again. */
	private record DetachedCaller(Caller connection, Supplier<@Nullable Ending> begins) implements Caller {

		@Override
		public @Nullable Ending beforeFirstWrite() {
			return this.begins.get();
		}

		@Override
		public boolean takesValues() {
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
