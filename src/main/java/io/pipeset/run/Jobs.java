package io.pipeset.run;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.observation.Observation;
import io.pipeset.engine.lane.InFlightBytes;
import io.pipeset.engine.lane.JobMark;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.lane.Retries;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.script.Scripts;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Verification;
import io.pipeset.input.BodyDigest;
import io.pipeset.input.Caller;
import io.pipeset.input.InputProgress;
import io.pipeset.input.SpooledBody;
import io.pipeset.input.UploadedRecords;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.JobItems;
import io.pipeset.keep.OutcomeJournal;
import io.pipeset.keep.QueueEntry;
import io.pipeset.keep.ReportDraft;
import io.pipeset.keep.Spool;
import io.pipeset.keep.SpoolException;
import io.pipeset.keep.SpoolFile;
import io.pipeset.keep.SpooledRequest;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.GlobPattern;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobTraces;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobSettings;
import io.pipeset.request.RateLimit;
import io.pipeset.request.ServerOperations;
import io.pipeset.run.JobQueue.Turn;
import io.pipeset.run.JobRequest.Values;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/** Runs jobs of records, and opens and closes the service for jobs. */
@Component
public class Jobs {

	private final JobLimits limits;

	private final Scripts scripts;

	private final JobQueue queue;

	private final InFlightBytes inFlight;

	private final MemoryBudget memory;

	private final RedisNodes nodes;

	private final PipelineProperties pipeline;

	private final Requirements requirements;

	private final Spool spool;

	private final JobTraces traces;

	private final JobLog log;

	private final ServerOperations operations;

	private final RedisIdentity redis;

	private final ExecutorService executor;

	Jobs(JobLimits limits, Scripts scripts, JobQueue queue, InFlightBytes inFlight, MemoryBudget memory,
			RedisNodes nodes, PipelineProperties pipeline, Requirements requirements, Spool spool, JobTraces traces,
			JobLog log, RedisIdentity redis, ServerOperations operations) {
		this.operations = operations;
		this.redis = redis;
		this.spool = spool;
		this.traces = traces;
		this.log = log;
		this.limits = limits;
		this.scripts = scripts;
		this.queue = queue;
		this.inFlight = inFlight;
		this.memory = memory;
		this.nodes = nodes;
		this.pipeline = pipeline;
		this.requirements = requirements;
		this.executor = Executors.newCachedThreadPool(laneThreads());
	}

	/**
	 * Waits until a job may begin, then runs it to its end in the calling thread.
	 * @param caller the caller that runs this thread
	 * @return the ended job. Its report accounts for every record. The caller closes its
	 * memory after writing the report
	 * @throws JobRefusedException if the job may not begin; no input was read, and a job
	 * that was interrupted stays so
	 */
	public EndedJob<JobReport> run(JobRequest request, Caller caller) {
		try {
			RunningJob job = open(request);
			if (request.owner().task() != null) {
				EndedJob<JobReport> ended = execute(request, job, caller);
				job.memory().endLoad();
				return ended;
			}
			try (Turn turn = this.queue.take(job, request.client(), caller)) {
				return turn.end(execute(request, job, caller));
			}
		}
		finally {
			request.input().close();
		}
	}

	/**
	 * The request to resume an interrupted job of an earlier process.
	 * @param job a job that the caller has claimed, and that can be resumed
	 * @throws JobRefusedException if its client may not run it any more
	 */
	public JobRequest resumption(JobOwner owner, InterruptedJob job) {
		owner.client().requireBody(job.items().body().bytes().bytes());
		owner.client().requireReplace(job.settings());
		return new JobRequest(job.id(), owner, job.input(), job.settings(), Values.IN_ITEMS, job.items(), null);
	}

	private RunningJob open(JobRequest request) {
		JobSettings settings = request.settings();
		JobItems items = (request.items() != null) ? request.items() : items(request);
		Task task = request.owner().task();
		JobStop stop = (task != null) ? task.stop() : new JobStop();
		MemoryShare memory = (task != null) ? task.memory() : this.memory.open(stop);
		Account account = new Account(settings.reporting().results(), this.limits.maxItems(),
				this.limits.maxItemsBytes().toBytes(), request.values() == Values.APART, memory::tryTakeForReport);
		if (settings.records().untilEmpty() && !settings.check().dryRun()) {
			account.endsWhenEmpty();
		}
		if (items != null) {
			items.begins(stop, account);
		}
		RunningJob job = new RunningJob(new ReportDraft(request.id(), this.redis, settings,
				new RateLimit(request.client().rateLimit(settings.pace().rateLimit())), account, new JobClock(),
				new InputProgress(), request.input()), stop, memory, items, request.repeat() != null);
		if (task == null) {
			// The settings are in memory already, even beyond the limit.
			memory.correctReport(job.settingsBytes());
		}
		return job;
	}

	/**
	 * Creates the journal of a job whose body is in the spool.
	 * @return {@code null} if the body is not in the spool
	 * @throws JobRefusedException if the files cannot be written, because the next
	 * process could not find the job
	 */
	private @Nullable JobItems items(JobRequest job) {
		SpooledBody body = (job.input() instanceof UploadedRecords upload) ? upload.spooled() : null;
		if (body == null) {
			return null;
		}
		try {
			Spool.Share share = share(job.client());
			// The request is written last, because the files belong to no job without it.
			SpoolFile outcomes = this.spool.create(job.id() + OutcomeJournal.OUTCOMES, share);
			SpoolFile notes = this.spool.create(job.id() + OutcomeJournal.NOTES, share);
			SpoolFile request = SpooledRequest.of(job.client(), body, job.input().declared(), job.settings())
				.write(this.spool, job.id());
			OutcomeJournal journal = new OutcomeJournal(request, outcomes, notes, this.memory.open(new JobStop()));
			return new JobItems(body, journal, job.settings(), this.limits, this.memory, this.spool,
					this.nodes.database(), this.operations);
		}
		catch (SpoolException ex) {
			throw new JobRefusedException(JobRefusedException.Reason.NO_SPACE,
					ex.getMessage() + ". Nothing was run: send the request again later, or without Prefer");
		}
	}

	private EndedJob<JobReport> execute(JobRequest request, RunningJob job, Caller caller) {
		JobOwner owner = request.owner();
		JobSettings settings = job.settings();
		Account account = job.account();
		LongTaskTimer.Sample active = owner.meters().startJob(job.operation());
		Observation trace = (owner.isService()) ? Observation.NOOP
				: this.traces.job(job.id(), owner.client().name(), job.operation());
		try {
			if (settings.writes()) {
				this.requirements.require(job.stop(), settings);
			}
			LaneContext context = new LaneContext(lanes(settings), account, job.clock(), job.stop(),
					new Retries(settings.reliability().retries()), this.inFlight, this.nodes, this.pipeline,
					owner.meters(), trace, this.executor, job.input().unknownPops(), job.memory(), mark(request, job),
					verification(job), new ErrorLimit(account, job.stop(), settings.reporting().maxErrors()));
			Admission admission = new Admission(settings, this.scripts, this.limits, owner.client(),
					this.nodes.isCluster(), caller.isPop() || !settings.writes());
			EndedJob<JobReport> ended = new JobExecution(job, context, this.limits, owner.client(), admission,
					this.operations, replacement(job, context, owner.client()))
				.run(caller);
			owner.meters().jobEnds(ended.report().state(), account, job.clock());
			JobTraces.end(trace, ended.report().state(), ended.report().counts());
			if (!owner.isService()) {
				this.log.jobEnded(ended, owner.client(), job.operation(), job.label(), job.stop().isSet());
			}
			return ended;
		}
		finally {
			this.requirements.recordRefusal(account);
			active.stop();
			trace.stop();
		}
	}

	private @Nullable Replacement replacement(RunningJob job, LaneContext context, Client client) {
		String text = job.settings().records().replace();
		GlobPattern pattern = (text != null) ? GlobPattern.parse(text) : null;
		return (text == null || pattern == null) ? null : new Replacement(job, context, client, text,
				new WrittenKeys(pattern, this.spool, job.id() + Spool.OF_RUN, share(client), job.memory()));
	}

	private Spool.@Nullable Share share(Client client) {
		return this.spool.share(client.name(), client.share(this.spool.maxBytes()));
	}

	/** The mark of a job with {@code exactlyOnce}; {@code null} for others. */
	private @Nullable JobMark mark(JobRequest request, RunningJob job) {
		JobSettings settings = request.settings();
		if (!settings.batching().exactlyOnce() || settings.check().dryRun()) {
			return null;
		}
		JobRequest.Repeat repeat = request.repeat();
		JobItems items = request.items();
		boolean again = repeat != null && repeat.again();
		return new JobMark(this.nodes, job.id(), (repeat != null) ? repeat.fingerprint() : "",
				settings.batching().concurrency(), settings.reliability().timeout(), job.stop(), again || items != null,
				again || (items != null && !items.earlierServers().isEmpty()));
	}

	/** Compares the records of a job with {@code verify}; {@code null} for others. */
	private static @Nullable Verification verification(RunningJob job) {
		String verify = job.settings().check().verify();
		if (verify == null) {
			return null;
		}
		Verification verification = new Verification(verify.equals("ttl"), job.memory(),
				(reason) -> job.stop().stop(Cause.STOPPED, reason));
		job.account().setVerified(verification::verified);
		return verification;
	}

	private static LaneSettings lanes(JobSettings settings) {
		return new LaneSettings(settings.batching().batchSize(), settings.batching().flush(),
				settings.batching().concurrency(), settings.reliability().timeout(), settings.reliability().retries(),
				settings.reliability().replicas(), settings.reliability().replicasTimeout(), settings.isAtomic(),
				settings.coalesces());
	}

	/**
	 * Checks that the service accepts jobs.
	 * @throws JobRefusedException if the service is shutting down
	 */
	public void refuseIfClosed() {
		this.queue.refuseIfClosed();
	}

	/**
	 * Takes one of the client's permits for an asynchronous job, before its upload.
	 * @return the semaphore to release when the job has ended
	 * @throws JobRefusedException if the client has as many jobs as it may have
	 */
	public Semaphore take(Client client) {
		return this.queue.takeClientPermit(client);
	}

	/**
	 * Computes the digest of an upload that repeats an earlier one. It takes a permit
	 * like a job, because the upload may be just as slow.
	 * @param bytes the number of bytes read of the earlier upload
	 * @param whole whether the earlier upload ended there
	 * @throws IOException if the body cannot be read
	 * @throws JobRefusedException if no permit is free in time, or the service is
	 * shutting down
	 */
	public void digest(Client client, UploadedRecords upload, BodyDigest digest, long bytes, boolean whole)
			throws IOException {
		Semaphore permit = take(client);
		try {
			// No request can stop it, so it gets a permit or is refused.
			JobStop stop = new JobStop();
			Repeat repeat = new Repeat(stop, new JobClock(), upload.isSmall());
			this.queue.enter(repeat, true, () -> {
			});
			try (MemoryShare memory = this.memory.open(stop)) {
				upload.digest(digest, bytes, whole, this.limits.ofInflatedBodies(), memory, this::refuseIfClosed);
			}
			finally {
				this.queue.leave(repeat);
			}
		}
		finally {
			permit.release();
		}
	}

	/** Accepts jobs again, after a close. */
	public void open() {
		this.queue.open();
	}

	/** Accepts no more jobs, and refuses those that wait. */
	public void close() {
		this.queue.close();
	}

	/** Stops all running jobs: they write nothing more, and report. */
	public void stopAll() {
		this.queue.stopAll();
	}

	/**
	 * Waits until no job runs.
	 * @param most the longest wait
	 * @return {@code false} if some jobs still run after that time
	 */
	public boolean awaitIdle(Duration most) throws InterruptedException {
		return this.queue.awaitIdle(most.toNanos());
	}

	/** The number of running jobs. */
	public int running() {
		return this.queue.running();
	}

	@PreDestroy
	void shutDown() {
		this.executor.shutdown();
	}

	private static ThreadFactory laneThreads() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("lane-");
		threads.setDaemon(true);
		return threads;
	}

	/** An upload that is read without a job. */
	private record Repeat(JobStop stop, JobClock clock, boolean isSmall) implements QueueEntry {

	}

}
