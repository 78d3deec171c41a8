package io.pipeset.job.run;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.observation.Observation;
import io.pipeset.engine.lane.InFlightBytes;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.lane.Retries;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.script.Scripts;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.InputProgress;
import io.pipeset.job.JobId;
import io.pipeset.job.JobLimits;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.RateLimit;
import io.pipeset.job.ReportDraft;
import io.pipeset.job.directory.InterruptedJob;
import io.pipeset.job.directory.QueueEntry;
import io.pipeset.job.input.BodyDigest;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.input.SpooledBody;
import io.pipeset.job.input.UploadedRecords;
import io.pipeset.job.journal.JobItems;
import io.pipeset.job.journal.OutcomeJournal;
import io.pipeset.job.journal.SpooledRequest;
import io.pipeset.job.memory.MemoryBudget;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolException;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobTraces;
import io.pipeset.report.RedisIdentity;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/** Runs jobs. */
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

	private final RedisIdentity redis;

	private final ExecutorService executor;

	Jobs(JobLimits limits, Scripts scripts, JobQueue queue, InFlightBytes inFlight, MemoryBudget memory,
			RedisNodes nodes, PipelineProperties pipeline, Requirements requirements, Spool spool, JobTraces traces,
			JobLog log, RedisIdentity redis) {
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
	 * Runs a job in the calling thread, to its end, as soon as it may begin.
	 * @param values the place in the report of values taken out of Redis
	 * @param caller the caller whose thread this is
	 * @return the account of every record, however the job ended, to be closed when it is
	 * written
	 * @throws JobRefusedException if it may not begin; nothing of the input was read
	 */
	public EndedJob<JobReport> run(JobOwner place, JobInput input, JobSettings settings, Values values, Caller caller) {
		return run(JobId.next(), place, input, settings, values, caller);
	}

	/**
	 * Runs a job whose id is known before it begins.
	 * @param fresh an id that nobody uses; the input may need a part of it
	 */
	public EndedJob<JobReport> run(String fresh, JobOwner place, JobInput input, JobSettings settings, Values values,
			Caller caller) {
		String id = input.jobId(fresh);
		return run(id, place, input, settings, values, items(id, place.client(), input, settings), caller);
	}

	/**
	 * Goes on with a job that another process has left.
	 * @param job a job that the caller has claimed, and that can go on
	 * @param caller the caller whose thread this is, which does not wait for the end
	 * @throws JobRefusedException if it may not begin; it is interrupted as before
	 */
	public EndedJob<JobReport> resume(JobOwner place, InterruptedJob job, Caller caller) {
		place.client().requireBody(job.items().body().file().bytes());
		return run(job.id(), place, job.input(), job.settings(), Values.IN_ITEMS, job.items(), caller);
	}

	private EndedJob<JobReport> run(String id, JobOwner place, JobInput input, JobSettings settings, Values values,
			@Nullable JobItems items, Caller caller) {
		Task task = place.task();
		JobStop stop = (task != null) ? task.stop() : new JobStop();
		MemoryShare memory = (task != null) ? task.memory() : this.memory.open(stop);
		Account account = new Account(settings.results(), this.limits.maxItems(), this.limits.maxItemsBytes().toBytes(),
				values == Values.APART, memory::tryTakeForReport);
		if (settings.untilEmpty() && !settings.dryRun()) {
			account.endsWhenEmpty();
		}
		if (items != null) {
			items.begins(stop, account);
		}
		ReportDraft draft = new ReportDraft(id, this.redis, settings,
				new RateLimit(place.client().pace(settings.rateLimit())), account, new JobClock(), new InputProgress(),
				input);
		RunningJob job = new RunningJob(draft, stop, memory, items);
		if (task == null) {
			// The settings are there already, whether there is room for them or not.
			memory.correctReport(job.settingsBytes());
			return this.queue.run(job, place.client(), caller, () -> execute(place, job, caller));
		}
		EndedJob<JobReport> ended = execute(place, job, caller);
		memory.endLoad();
		return ended;
	}

	/**
	 * The records of a job can be found later if its body is kept.
	 * @throws JobRefusedException if its files cannot be written, without which the next
	 * process would not know of the job
	 */
	private @Nullable JobItems items(String id, Client client, JobInput input, JobSettings settings) {
		SpooledBody body = (input instanceof UploadedRecords upload) ? upload.spooled() : null;
		if (body == null) {
			return null;
		}
		try {
			// The request comes last: until then the files are of no job.
			SpoolFile outcomes = this.spool.create(id + OutcomeJournal.OUTCOMES, client.share(this.spool));
			SpoolFile notes = this.spool.create(id + OutcomeJournal.NOTES, client.share(this.spool));
			SpoolFile request = SpooledRequest.of(client, body, input.declared(), settings).write(this.spool, id);
			OutcomeJournal journal = new OutcomeJournal(request, outcomes, notes, this.memory.open(new JobStop()));
			return new JobItems(body, journal, settings, this.limits, this.memory, this.spool, this.nodes.database());
		}
		catch (SpoolException ex) {
			throw new JobRefusedException(JobRefusedException.Reason.NO_SPACE,
					ex.getMessage() + ". Nothing was run: send the request again later, or without Prefer");
		}
	}

	private EndedJob<JobReport> execute(JobOwner place, RunningJob job, Caller caller) {
		JobSettings settings = job.settings();
		Account account = job.account();
		LongTaskTimer.Sample active = place.meters().jobBegins(job.operation());
		Observation trace = (place.own()) ? Observation.NOOP
				: this.traces.job(job.id(), place.client().name(), job.operation());
		try {
			if (!settings.dryRun()) {
				this.requirements.require(job.stop(), settings);
			}
			LaneContext context = new LaneContext(lanes(settings), account, job.clock(), job.stop(),
					new Retries(settings.retries()), this.inFlight, this.nodes, this.pipeline, place.meters(), trace,
					this.executor, job.input().unknownPops(), job.memory(),
					new ErrorLimit(account, job.stop(), settings.maxErrors()));
			Admission admission = new Admission(settings, this.scripts, this.limits, place.client(),
					this.nodes.isCluster(), caller.takesValues() || settings.dryRun());
			EndedJob<JobReport> ended = new JobExecution(job, context, this.limits, place.client(), admission)
				.run(caller);
			place.meters().jobEnds(ended.report().state(), account, job.clock());
			JobTraces.end(trace, ended.report().state(), ended.report().counts());
			if (!place.own()) {
				this.log.jobEnded(ended, place.client(), job.operation(), job.stop().isSet());
			}
			return ended;
		}
		finally {
			this.requirements.learn(account);
			active.stop();
			trace.stop();
		}
	}

	private static LaneSettings lanes(JobSettings settings) {
		return new LaneSettings(settings.batchSize(), settings.flush(), settings.concurrency(), settings.timeout(),
				settings.retries(), settings.replicas(), settings.replicasTimeout(), settings.isAtomic(),
				settings.coalesces());
	}

	/**
	 * Whether jobs are taken.
	 * @throws JobRefusedException if the service is about to end
	 */
	public void refuseIfClosed() {
		this.queue.refuseIfClosed();
	}

	/**
	 * Takes a place of a client for a job whose caller does not wait, even before its
	 * upload.
	 * @return to be released when the job has ended
	 * @throws JobRefusedException if the client has as many jobs as it may have
	 */
	public Semaphore take(Client client) {
		return this.queue.take(client);
	}

	/**
	 * Digests an upload that repeats another one, in the place that its job would have,
	 * as it may come as slowly.
	 * @param bytes how many bytes the other has
	 * @param whole whether the other ends with them
	 * @throws IOException if the body cannot be read
	 * @throws JobRefusedException if there is no place for it, or the service is about to
	 * end
	 */
	public void digest(Client client, UploadedRecords upload, BodyDigest digest, long bytes, boolean whole)
			throws IOException {
		Semaphore place = take(client);
		try {
			// Nobody can stop it while it waits: it has its place then, or is refused.
			Repeat repeat = new Repeat(new JobStop(), new JobClock(), upload.isSmall());
			this.queue.enter(repeat, true, () -> {
			});
			try {
				upload.digest(digest, bytes, whole, this.limits.ofInflatedBodies(), this::refuseIfClosed);
			}
			finally {
				this.queue.leave(repeat);
			}
		}
		finally {
			place.release();
		}
	}

	/** Takes jobs again, after it was closed. */
	public void open() {
		this.queue.open();
	}

	/** Takes no more jobs, and refuses those that wait. */
	public void close() {
		this.queue.close();
	}

	/** Stops the jobs that run: they write nothing more, and report. */
	public void stopAll() {
		this.queue.stopAll();
	}

	/**
	 * Waits until no job runs.
	 * @return {@code false} if some still do after that time
	 */
	public boolean awaitIdle(Duration most) throws InterruptedException {
		return this.queue.awaitIdle(most.toNanos());
	}

	/** The jobs that have begun and not ended. */
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

	/** An upload that is read without a job of its own. */
	private record Repeat(JobStop stop, JobClock clock, boolean isSmall) implements QueueEntry {

	}

	/** The place in the report of values taken out of Redis. */
	public enum Values {

		/** With the record that took them. */
		IN_ITEMS,

		/** In a list of their own. */
		APART

	}

}
