package io.pipeset.job;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.LongTaskTimer;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.Pipelines;
import io.pipeset.record.Operation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import jakarta.annotation.PreDestroy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/** Runs jobs. */
@Component
public class Jobs {

	private static final Logger logger = LoggerFactory.getLogger(Jobs.class);

	private final JobLimits limits;

	private final Scripts scripts;

	private final LaneCapacity capacity;

	private final Pipelines pipelines;

	private final PipelineProperties pipeline;

	private final JobMeters meters;

	private final ExecutorService executor = Executors.newCachedThreadPool(laneThreads());

	private final AtomicInteger running = new AtomicInteger();

	Jobs(JobLimits limits, Scripts scripts, LaneCapacity capacity, Pipelines pipelines, PipelineProperties pipeline,
			JobMeters meters) {
		this.limits = limits;
		this.scripts = scripts;
		this.capacity = capacity;
		this.pipelines = pipelines;
		this.pipeline = pipeline;
		this.meters = meters;
	}

	/**
	 * Runs a job in the calling thread, to its end.
	 * @param input its records
	 * @param settings how to run them
	 * @param values where values taken out of Redis stand in the report
	 * @return the account of every record, however the job ended
	 */
	public JobReport run(JobInput input, JobSettings settings, Values values) {
		String id = JobId.next();
		Account account = new Account(settings.results(), this.limits.maxItems(), values == Values.APART);
		JobClock clock = new JobClock();
		Operation operation = settings.operation();
		LongTaskTimer.Sample active = this.meters.jobBegins((operation != null) ? operation.name() : "mixed");
		this.running.incrementAndGet();
		try {
			JobContext context = new JobContext(settings, account, clock, new JobStop(),
					new Retries(settings.retries()), this.capacity, this.pipelines, this.pipeline, this.meters,
					this.executor);
			JobReport report = new Job(id, context, this.limits, this.scripts).run(input);
			this.meters.jobEnds(report.state(), account, clock);
			log(report);
			return report;
		}
		finally {
			this.running.decrementAndGet();
			active.stop();
		}
	}

	int running() {
		return this.running.get();
	}

	@PreDestroy
	void close() {
		this.executor.shutdown();
	}

	private static ThreadFactory laneThreads() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("lane-");
		threads.setDaemon(true);
		return threads;
	}

	private static void log(JobReport report) {
		if (report.state() != JobState.COMPLETED) {
			logger.atWarn()
				.addKeyValue("jobId", report.jobId())
				.log("Job {} did not complete, {}: {}", report.jobId(), report.ending().cause().problemType(),
						cause(report));
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

	/** What a broken body holds is the caller's to see, and not the log's. */
	private static String cause(JobReport report) {
		return (report.byteOffset() != null) ? "at byte " + report.byteOffset() + " of the body"
				: report.ending().detail();
	}

	/** Where values taken out of Redis stand in the report. */
	public enum Values {

		/** With the record that took them. */
		IN_ITEMS,

		/** In a list of their own. */
		APART

	}

}
