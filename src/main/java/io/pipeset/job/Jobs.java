package io.pipeset.job;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

import io.micrometer.core.instrument.LongTaskTimer;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.lane.InFlightBytes;
import io.pipeset.lane.JobStop;
import io.pipeset.lane.LaneContext;
import io.pipeset.lane.LaneSettings;
import io.pipeset.lane.Retries;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pop.PopReceipt;
import io.pipeset.pop.Receipts;
import io.pipeset.pop.ReliablePops;
import io.pipeset.record.Operation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.script.Scripts;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/** Runs jobs. */
@Component
public class Jobs {

	private static final Logger logger = LoggerFactory.getLogger(Jobs.class);

	private final JobLimits limits;

	private final Scripts scripts;

	private final JobQueue queue;

	private final InFlightBytes inFlight;

	private final MemoryBudget memory;

	private final RedisNodes nodes;

	private final PipelineProperties pipeline;

	private final JobMeters meters;

	private final Receipts receipts;

	private final Requirements requirements;

	private final ExecutorService executor;

	/** Whether these are jobs of the service itself. */
	private final boolean own;

	/**
	 * The task in whose place jobs run; {@code null} if each takes a place of its own.
	 */
	private final @Nullable Task task;

	@Autowired
	Jobs(JobLimits limits, Scripts scripts, JobQueue queue, InFlightBytes inFlight, MemoryBudget memory,
			RedisNodes nodes, PipelineProperties pipeline, JobMeters meters, Receipts receipts,
			Requirements requirements) {
		this.limits = limits;
		this.scripts = scripts;
		this.queue = queue;
		this.inFlight = inFlight;
		this.memory = memory;
		this.nodes = nodes;
		this.pipeline = pipeline;
		this.meters = meters;
		this.receipts = receipts;
		this.requirements = requirements;
		this.executor = Executors.newCachedThreadPool(laneThreads());
		this.own = false;
		this.task = null;
	}

	private Jobs(Jobs callers, JobMeters meters, @Nullable Task task) {
		this.limits = callers.limits;
		this.scripts = callers.scripts;
		this.queue = callers.queue;
		this.inFlight = callers.inFlight;
		this.memory = callers.memory;
		this.nodes = callers.nodes;
		this.pipeline = callers.pipeline;
		this.meters = meters;
		this.receipts = callers.receipts;
		this.requirements = callers.requirements;
		this.executor = callers.executor;
		this.own = true;
		this.task = task;
	}

	/**
	 * Runs jobs of the service itself beside those of callers, with the same queue,
	 * memory and connections. They may use keys under {@code pipeset:}, and are not
	 * logged.
	 * @param meters the meters in which these jobs count
	 * @return to run them
	 */
	public Jobs own(JobMeters meters) {
		return new Jobs(this, meters, null);
	}

	/**
	 * Runs jobs of the service itself as parts of a task: in its place in the queue, with
	 * its memory, and to no later end than its own. They may use keys under
	 * {@code pipeset:}, and are not logged. A job that is stopped stops the task.
	 * @param task the task, which runs
	 * @param meters the meters in which these jobs count
	 * @return to run them
	 */
	public Jobs inside(Task task, JobMeters meters) {
		return new Jobs(this, meters, task);
	}

	/**
	 * Runs a job in the calling thread, to its end, as soon as it may begin.
	 * @param input its records
	 * @param settings how to run them
	 * @param values the place in the report of values taken out of Redis
	 * @param caller the caller whose thread this is
	 * @return the account of every record, however the job ended, to be closed when it is
	 * written
	 * @throws JobRefusedException if it may not begin; nothing of the input was read
	 */
	public EndedJob run(JobInput input, JobSettings settings, Values values, Caller caller) {
		RunningJob job = admit(input, settings, values);
		boolean ended = false;
		try {
			EndedJob report = execute(job, input, caller);
			job.memory().endLoad();
			ended = true;
			return report;
		}
		finally {
			if (this.task == null) {
				if (!ended) {
					job.memory().close();
				}
				this.queue.leave(job);
			}
		}
	}

	/** Prepares a job, which takes nothing yet, and waits until it may begin. */
	private RunningJob admit(JobInput input, JobSettings settings, Values values) {
		JobClock clock = new JobClock();
		JobStop stop = (this.task != null) ? this.task.stop() : new JobStop();
		ReliablePops pops = input.reliablePops();
		String id = (pops != null) ? this.receipts.jobId(JobId.next(), pops.keyBytes()) : JobId.next();
		MemoryShare memory = (this.task != null) ? this.task.memory() : this.memory.open(stop);
		Account account = new Account(settings.results(), this.limits.maxItems(), this.limits.maxItemsBytes().toBytes(),
				values == Values.APART, memory::tryTakeForReport);
		PopReceipt receipt = (pops != null) ? new PopReceipt(this.receipts, id, pops, lanes(settings), stop) : null;
		RunningJob job = new RunningJob(id, settings, stop, account, clock, new InputProgress(), memory, receipt,
				input.sweep());
		if (this.task == null) {
			this.queue.enter(job);
		}
		return job;
	}

	private EndedJob execute(RunningJob job, JobInput input, Caller caller) {
		JobSettings settings = job.settings();
		Account account = job.account();
		Operation operation = settings.operation();
		LongTaskTimer.Sample active = this.meters.jobBegins((operation != null) ? operation.toString() : "mixed");
		try {
			if (settings.replicas() > 0 && !settings.dryRun()) {
				this.requirements.requireReplicas(job.stop(), settings.replicas());
			}
			if (settings.isAtomic() && !settings.dryRun()) {
				this.requirements.requireTransactions(job.stop());
			}
			LaneContext context = new LaneContext(lanes(settings), account, job.clock(), job.stop(),
					new Retries(settings.retries()), this.inFlight, this.nodes, this.pipeline, this.meters,
					this.executor, job.receipt(), job.memory(),
					new ErrorLimit(account, job.stop(), settings.maxErrors()));
			Admission admission = new Admission(settings, this.scripts, this.limits, this.own, this.nodes.isCluster());
			EndedJob ended = new JobExecution(job, context, this.limits, admission).run(input, caller);
			this.meters.jobEnds(ended.report().state(), account, job.clock());
			if (!this.own) {
				log(ended);
			}
			return ended;
		}
		finally {
			this.requirements.learn(account);
			active.stop();
		}
	}

	private static LaneSettings lanes(JobSettings settings) {
		return new LaneSettings(settings.batchSize(), settings.flush(), settings.concurrency(), settings.timeout(),
				settings.retries(), settings.replicas(), settings.replicasTimeout(), settings.isAtomic(),
				settings.coalesces());
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
	 * @param most how long
	 * @return {@code false} if some still do after that time
	 * @throws InterruptedException if the thread is interrupted
	 */
	public boolean awaitIdle(Duration most) throws InterruptedException {
		return this.queue.awaitIdle(most.toNanos());
	}

	/**
	 * The jobs that have begun and not ended.
	 * @return how many
	 */
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

	private static void log(EndedJob job) {
		JobReport report = job.report();
		if (report.state() != JobState.COMPLETED) {
			logger.atWarn()
				.addKeyValue("jobId", report.jobId())
				.log("Job {} did not complete, {}: {}", report.jobId(), job.ending().cause().problemType(), cause(job));
		}
		Counts counts = report.counts();
		logger.atInfo()
			.addKeyValue("jobId", report.jobId())
			.log("Job {} {}: received={} applied={} noop={} rejected={} unknown={} unprocessed={} totalMillis={}"
					+ " waitMillis={} readMillis={} redisMillis={}", report.jobId(), report.state().label(),
					counts.received(), counts.applied(), counts.noop(), counts.rejected(), counts.unknown(),
					counts.unprocessed(), report.timings().totalMillis(), report.timings().waitMillis(),
					report.timings().readMillis(), report.timings().redisMillis());
	}

	/** The contents of a body are for the caller to see, and not for the log. */
	private static String cause(EndedJob job) {
		Long byteOffset = job.report().byteOffset();
		return switch (job.ending().cause()) {
			case MALFORMED_BODY ->
				(byteOffset != null) ? "at byte " + byteOffset + " of the body" : "the body broke off";
			case CANCELLED -> "the caller went away";
			default -> job.ending().detail();
		};
	}

	/** The place in the report of values taken out of Redis. */
	public enum Values {

		/** With the record that took them. */
		IN_ITEMS,

		/** In a list of their own. */
		APART

	}

}
