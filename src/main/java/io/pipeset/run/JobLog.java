package io.pipeset.run;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import io.pipeset.keep.EndedJob;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.request.Client;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Logs the end of jobs: a line for each job, and a warning with the cause if it did not
 * complete. A client has at most {@value #MOST_LINES} lines a second for completed jobs
 * without rejected records. One more line a second has the sums of the others.
 */
@Component
class JobLog {

	static final int MOST_LINES = 100;

	private static final Logger logger = LoggerFactory.getLogger(JobLog.class);

	private static final long SECOND_MILLIS = 1000;

	private final Map<Client, Second> seconds = new ConcurrentHashMap<>();

	/**
	 * Logs the end of a job of records.
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param stopped whether the job was stopped before the end of its input
	 */
	void jobEnded(EndedJob<JobReport> job, Client client, String operation, @Nullable String label, boolean stopped) {
		JobReport report = job.report();
		Counts counts = report.counts();
		boolean completed = job.ending().cause() == Cause.COMPLETED;
		if (!completed) {
			warn(job.id(), client, job.ending().cause(), detail(job, stopped));
		}
		else if (counts.rejected() == 0 && !second(client).claimLine(counts)) {
			return;
		}
		line(job.id(), client).log(
				"Job {} {}: client={} op={}{} received={} applied={} noop={} rejected={} unknown={} unprocessed={} totalMillis={}"
						+ " waitMillis={} readMillis={} redisMillis={}",
				report.jobId(), report.state().label(), client, operation,
				(label != null) ? " label='" + label + "'" : "", counts.received(), counts.applied(), counts.noop(),
				counts.rejected(), counts.unknown(), counts.unprocessed(), report.timings().totalMillis(),
				report.timings().waitMillis(), report.timings().readMillis(), report.timings().redisMillis());
	}

	/** Logs the end of a job without records. */
	void taskEnded(Task task, Client client) {
		Ending ending = task.ending();
		if (ending.cause() != Cause.COMPLETED) {
			warn(task.id(), client, ending.cause(), ending.detail());
		}
		line(task.id(), client).log("Job {} {}: client={} op={} totalMillis={}", task.id(),
				ending.cause().state().label(), client, task.operation(), task.clock().timings().totalMillis());
	}

	/** Logs the sums of the jobs without a line in the last second. */
	@Scheduled(fixedRate = SECOND_MILLIS)
	@PreDestroy
	void logSums() {
		this.seconds.forEach((client, second) -> second.logSums(client));
	}

	private Second second(Client client) {
		Second second = this.seconds.get(client);
		return (second != null) ? second : this.seconds.computeIfAbsent(client, (unused) -> new Second());
	}

	private static void warn(String id, Client client, Cause cause, String detail) {
		logger.atWarn()
			.addKeyValue("jobId", id)
			.addKeyValue("client", client)
			.log("Job {} did not complete, {}: {}", id, cause.problemType(), detail);
	}

	private static LoggingEventBuilder line(String id, Client client) {
		return logger.atInfo().addKeyValue("jobId", id).addKeyValue("client", client);
	}

	/** Logs the position of an error in a body, not its text, which may hold secrets. */
	private static String detail(EndedJob<JobReport> job, boolean stopped) {
		Long byteOffset = job.report().input().byteOffset();
		return switch (job.ending().cause()) {
			case MALFORMED_BODY ->
				(byteOffset != null) ? "at byte " + byteOffset + " of the body" : "the body broke off";
			case CANCELLED -> (stopped) ? job.ending().detail() : "the caller went away";
			default -> job.ending().detail();
		};
	}

	/** The completed jobs of a client in the current second. */
	private static final class Second {

		private final AtomicInteger lines = new AtomicInteger();

		private final LongAdder jobs = new LongAdder();

		private final LongAdder applied = new LongAdder();

		private final LongAdder noop = new LongAdder();

		/** Claims a log line for a job; if none is left, adds the job to the sums. */
		boolean claimLine(Counts counts) {
			if (this.lines.get() < MOST_LINES && this.lines.incrementAndGet() <= MOST_LINES) {
				return true;
			}
			this.jobs.increment();
			this.applied.add(counts.applied());
			this.noop.add(counts.noop());
			return false;
		}

		void logSums(Client client) {
			this.lines.set(0);
			long jobs = this.jobs.sumThenReset();
			if (jobs > 0) {
				logger.atInfo()
					.addKeyValue("client", client)
					.log("{} more jobs completed within a second: client={} applied={} noop={}", jobs, client,
							this.applied.sumThenReset(), this.noop.sumThenReset());
			}
		}

	}

}
