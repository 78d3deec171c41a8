package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.pipeset.input.Caller;
import io.pipeset.input.UploadedRecords;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.InterruptedJobs;
import io.pipeset.keep.InterruptedJobs.NotResumable;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.Spool;
import io.pipeset.keep.SpoolException;
import io.pipeset.keep.SpoolFile;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.Client;
import io.pipeset.request.ClientPermits;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.Setting;
import io.pipeset.run.JobOwner;
import io.pipeset.run.JobRequest;
import io.pipeset.run.Jobs;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.ProblemReportValve;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Runs the jobs of requests with {@code Prefer: respond-async}
 * (<a href="https://www.rfc-editor.org/rfc/rfc7240">RFC 7240</a>) in their own threads. A
 * request gets its response when its body is on disk and its job is accepted.
 */
@Component
class AsyncJobs {

	private static final Logger logger = LoggerFactory.getLogger(AsyncJobs.class);

	private static final String PREFERENCE = "respond-async";

	private static final Pattern QUOTED = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*+\"");

	private static final int COPY_BYTES = 64 << 10;

	private final Jobs jobs;

	private final InterruptedJobs interrupted;

	private final JobMeters meters;

	private final Spool spool;

	private final JobLimits limits;

	private final Reports reports;

	private final JobRecorder recorder;

	private final ClientPermits permits;

	private final ExecutorService threads;

	AsyncJobs(Jobs jobs, InterruptedJobs interrupted, JobMeters meters, Spool spool, JobLimits limits, Reports reports,
			JobRecorder recorder) {
		this.recorder = recorder;
		this.jobs = jobs;
		this.interrupted = interrupted;
		this.meters = meters;
		this.spool = spool;
		this.limits = limits;
		this.reports = reports;
		this.permits = new ClientPermits(limits.maxAsyncJobs(), "asynchronous jobs",
				"pipeset.limits.max-async-jobs=" + limits.maxAsyncJobs() + " allows");
		CustomizableThreadFactory threads = new CustomizableThreadFactory("job-");
		threads.setDaemon(true);
		this.threads = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Whether a request has the preference {@code respond-async}: its caller does not
	 * wait for the end of the job.
	 */
	static boolean isRequested(HttpServletRequest request) {
		return Collections.list(request.getHeaders("Prefer")).stream().anyMatch(AsyncJobs::hasPreference);
	}

	private static boolean hasPreference(String preferences) {
		return Arrays.stream(QUOTED.matcher(preferences).replaceAll("").split(",", -1))
			.anyMatch((preference) -> preference.split("[;=]", 2)[0].strip().equalsIgnoreCase(PREFERENCE));
	}

	/**
	 * The problem of a pop whose values would be lost if the service ended before the
	 * caller has them.
	 * @param call the part of the request that asks for the pop, for the message
	 */
	static ErrorResponseException popRefused(String call) {
		return Problems.exception(Problem.INVALID_SETTING, "With Prefer: respond-async or an Idempotency-Key, " + call
				+ " would pop values that are lost if the service ends before the caller reads them: pop with POST"
				+ " /piperpop/{count}?reliable=true, or without these headers");
	}

	/**
	 * Starts a job of records, and answers its request with the status of the job. If the
	 * records are an upload, its body is first copied to disk.
	 * @param run runs the job to its end
	 * @throws IOException if the response cannot be written
	 */
	void begin(JobRequest job, HttpServletRequest request, HttpServletResponse response,
			BiFunction<JobRequest, Caller, EndedJob<?>> run) throws IOException {
		answerPreference(response,
				begin(job.client(),
						() -> (job.input() instanceof UploadedRecords upload && upload.isUploaded())
								? prepareUpload(job, upload, request, run)
								: new Prepared((caller) -> run.apply(job, caller), () -> {
								})));
	}

	/**
	 * Starts a job without records, and answers its request with the status of the job.
	 * @param client the client that owns the job
	 * @param job runs the job to its end, for the given caller
	 * @throws IOException if the response cannot be written
	 */
	void begin(Client client, HttpServletResponse response, Function<Caller, EndedJob<?>> job) throws IOException {
		answerPreference(response, begin(client, () -> new Prepared(job, () -> {
		})));
	}

	private void answerPreference(HttpServletResponse response, JobStatus job) throws IOException {
		response.setHeader("Preference-Applied", PREFERENCE);
		answerAccepted(response, job);
	}

	private void answerAccepted(HttpServletResponse response, JobStatus job) throws IOException {
		this.reports.accepted(job, this.recorder.keep(job.jobId()), response);
	}

	/**
	 * Resumes an interrupted job of an earlier process, and answers the request with the
	 * status of the job.
	 * @param client the client that owns the job
	 * @throws IOException if the response cannot be written
	 */
	void resume(Client client, InterruptedJob job, HttpServletResponse response) throws IOException {
		answerAccepted(response, resume(client, job));
	}

	/**
	 * Resumes an interrupted job of an earlier process.
	 * @param client the client that owns the job
	 * @return the status of the job
	 * @throws ErrorResponseException if the job cannot be resumed, or not now
	 * @throws JobRefusedException if the job may not begin now
	 */
	JobStatus resume(Client client, InterruptedJob job) {
		return begin(client, () -> {
			if (!job.claim()) {
				throw JobViews.claimed();
			}
			NotResumable reason = null;
			boolean checked = false;
			try {
				reason = this.interrupted.prepare(job, client);
				checked = reason == null;
			}
			finally {
				if (!checked) {
					job.release();
				}
			}
			if (reason != null) {
				throw problem(reason);
			}
			JobOwner owner = new JobOwner(this.meters.of(client.name()), client, null);
			return new Prepared((caller) -> this.jobs.run(this.jobs.resumption(owner, job), caller), job::release);
		});
	}

	private static ErrorResponseException problem(NotResumable reason) {
		Problem type = switch (reason.type()) {
			case "gone" -> Problem.GONE;
			case "redis-unreachable" -> Problem.REDIS_UNREACHABLE;
			case "source-failed" -> Problem.SOURCE_FAILED;
			case "limit" -> Problem.NO_ROOM;
			default -> Problem.NOT_REPEATABLE;
		};
		return Problems.exception(type, reason.detail());
	}

	/**
	 * Takes a permit of the client and one for asynchronous jobs.
	 * @return releases both permits
	 */
	private Runnable takePermits(Client client) {
		Semaphore clientPermit = this.jobs.take(client);
		if (!this.permits.tryReserve(client)) {
			clientPermit.release();
			throw Problems.exception(Problem.TOO_MANY,
					this.permits.refusal(client) + ": send the request again later, or without Prefer");
		}
		return () -> {
			this.permits.leave(client);
			clientPermit.release();
		};
	}

	private JobStatus begin(Client client, Preparation preparation) {
		this.jobs.refuseIfClosed();
		Runnable releasePermits = takePermits(client);
		AsyncCaller caller = new AsyncCaller();
		boolean begun = false;
		try {
			Prepared prepared = preparation.prepare();
			try {
				this.threads.execute(() -> run(prepared, caller, releasePermits));
				begun = true;
			}
			finally {
				if (!begun) {
					prepared.cleanup.run();
				}
			}
		}
		finally {
			if (!begun) {
				releasePermits.run();
			}
		}
		return caller.awaitJob();
	}

	private void run(Prepared prepared, AsyncCaller caller, Runnable releasePermits) {
		try {
			EndedJob<?> ended = prepared.job.apply(caller);
			ended.memory().close();
			if (ended.report() instanceof JobReport report && report.state() == JobState.INTERRUPTED
					&& report.settings().containsKey(Setting.EXACTLY_ONCE.name())
					&& ended.ending().cause() != Cause.SHUTTING_DOWN) {
				this.recorder.interrupt(ended.id());
			}
		}
		catch (RuntimeException | Error ex) {
			if (caller.isAccepted()) {
				// An accepted job keeps its body, because callers may list its items.
				logger.error("An asynchronous job failed by a defect of the service", ex);
			}
			else {
				// Before the answer, because a caller may use the room at once.
				prepared.cleanup.run();
				caller.refuse(ex);
			}
		}
		finally {
			releasePermits.run();
			caller.refuse(new IllegalStateException("The job ended before it was accepted"));
		}
	}

	/** Copies the body of an upload to disk, and prepares a job that reads the copy. */
	private Prepared prepareUpload(JobRequest job, UploadedRecords upload, HttpServletRequest request,
			BiFunction<JobRequest, Caller, EndedJob<?>> run) {
		try {
			Client client = job.client();
			Spool.Share share = this.spool.share(client.name(), client.share(this.spool.maxBytes()));
			this.spool.refuseBeyond(share, upload.length());
			SpoolFile file = this.spool.create(job.id() + Spool.OF_BODY, share);
			boolean copied = false;
			try {
				copy(upload.body(), file);
				copied = true;
			}
			finally {
				if (!copied) {
					file.close();
				}
			}
			JobRequest spooled = job.with(upload.from(job.id(), file));
			return new Prepared((caller) -> run.apply(spooled, caller), file::close);
		}
		catch (IOException ex) {
			throw unreadable(ex, request);
		}
	}

	/** The problem of a body that could not be read to its end. No record has run. */
	ErrorResponseException unreadable(IOException failure, HttpServletRequest request) {
		ErrorResponseException problem = problem(failure);
		// The web server sends this problem if it makes the response itself.
		problem.getBody().setInstance(URI.create(request.getRequestURI()));
		ProblemReportValve.keep(request, Problems.answer(problem.getBody()));
		return problem;
	}

	private ErrorResponseException problem(IOException failure) {
		if (failure instanceof SpoolException) {
			return Problems.exception(Problem.INSUFFICIENT_STORAGE,
					failure.getMessage() + ". Nothing was run: send the request again later, or without Prefer");
		}
		if (failure instanceof BodyLimitException) {
			return Problems.exception(Problem.TOO_LARGE, failure.getMessage() + "; nothing was run");
		}
		if (failure instanceof SocketTimeoutException) {
			return Problems.exception(Problem.STALLED,
					"Nothing of the body came for " + DurationText.of(this.limits.bodyIdleTimeout())
							+ " (pipeset.limits.body-idle-timeout); nothing was run");
		}
		if (failure instanceof MalformedBodyException malformed) {
			return Problems.exception(Problem.MALFORMED_BODY, "At byte " + malformed.byteOffset() + " of the body: "
					+ malformed.getMessage() + "; nothing was run");
		}
		try {
			this.jobs.refuseIfClosed();
		}
		catch (JobRefusedException ex) {
			return Problems.exception(Problem.SHUTTING_DOWN, String.valueOf(ex.getMessage()));
		}
		return Problems.exception(Problem.CANCELLED, "The caller went away during its upload; nothing was run");
	}

	private void copy(InputStream body, SpoolFile file) throws IOException {
		byte[] buffer = new byte[COPY_BYTES];
		try (OutputStream out = file.write()) {
			for (int bytes = body.read(buffer); bytes >= 0; bytes = body.read(buffer)) {
				this.jobs.refuseIfClosed();
				out.write(buffer, 0, bytes);
			}
		}
	}

	/**
	 * Waits for the threads, because they record the ends of jobs and settle their keys.
	 */
	@PreDestroy
	void shutDown() throws InterruptedException {
		this.threads.shutdown();
		if (!this.threads.awaitTermination(5, TimeUnit.SECONDS)) {
			logger.warn("Some asynchronous jobs have not ended yet: their records may still say that they run");
		}
	}

	/** Prepares a job before its thread starts. */
	@FunctionalInterface
	private interface Preparation {

		Prepared prepare();

	}

	/**
	 * A job that can run without its request.
	 *
	 * @param cleanup runs if the job is not accepted
	 */
	private record Prepared(Function<Caller, EndedJob<?>> job, Runnable cleanup) {

	}

}
