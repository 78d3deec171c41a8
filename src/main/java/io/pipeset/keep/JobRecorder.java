package io.pipeset.keep;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;

import io.pipeset.keep.control.ControlRedis;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.keep.control.KeyRecords;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import io.pipeset.request.Client;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.stereotype.Component;

/**
 * Keeps the records of this instance's jobs in the control Redis up to date, so that all
 * instances can show them. Twice a second, it writes the status of the jobs that have
 * progressed, and that the others live, and applies the changes that other instances have
 * requested in the records. The end of a job is written at once, by its own thread.
 */
@Component
public class JobRecorder {

	private static final Logger logger = LoggerFactory.getLogger(JobRecorder.class);

	private static final int MOST_LEFT = 10_000;

	private static final Duration TICK = Duration.ofMillis(500);

	private final JobRegistry registry;

	private final JobRecords records;

	private final KeyRecords keys;

	private final ControlRedis redis;

	private final ReportJson reports;

	private final InterruptedJobs interrupted;

	private final TaskScheduler scheduler;

	/** The jobs to record, by their ids. */
	private final Map<String, RecordedJob> jobs = new ConcurrentHashMap<>();

	/** The jobs that are left to repeats, by their keys, if the control Redis forgets. */
	private final Map<String, String> left = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
			return size() > MOST_LEFT;
		}

	};

	private final ControlSteps steps = new ControlSteps();

	private @Nullable ScheduledFuture<?> ticks;

	/** When an ended job's record was looked for, by {@link System#nanoTime}. */
	private long lookedNanos = System.nanoTime();

	/** The last logged failure, so that it is logged only once; {@code null} for none. */
	private volatile @Nullable String failure;

	JobRecorder(JobRegistry registry, JobRecords records, KeyRecords keys, ControlRedis redis, ReportJson reports,
			InterruptedJobs interrupted, TaskScheduler scheduler) {
		this.scheduler = scheduler;
		this.interrupted = interrupted;
		this.registry = registry;
		this.records = records;
		this.keys = keys;
		this.redis = redis;
		this.reports = reports;
	}

	/** Starts recording, including the jobs of an earlier process. */
	@EventListener(ApplicationStartedEvent.class)
	void start() {
		this.registry.all().forEach((job) -> this.jobs.computeIfAbsent(job.id(), this::recorded));
		this.interrupted.broken().keySet().forEach(this::recordLost);
		ScheduledFuture<?> unusedFences = this.scheduler.schedule(this.interrupted::raiseFences, Instant.now());
		this.registry.onRegister((job) -> {
			// Changes may have been requested while its body was uploaded.
			if (this.jobs.containsKey(job.id())) {
				writeNow(job);
			}
		});
		this.registry.onEnd(this::writeNow);
		if (this.redis.isNamed()) {
			ScheduledFuture<?> unusedCheck = this.scheduler.schedule(this::checkControlRedis, Instant.now());
		}
		this.ticks = this.scheduler.scheduleWithFixedDelay(this::tick, TICK);
	}

	/**
	 * Takes over the jobs of processes that have ended since the start, and records them.
	 */
	public void takeOver() {
		for (String id : this.interrupted.takeOver()) {
			if (this.registry.find(id).isPresent()) {
				keep(id);
			}
			else {
				recordLost(id);
			}
		}
		this.interrupted.raiseFences();
	}

	private RecordedJob recorded(String id) {
		return new RecordedJob(id, this.records, this.keys, this.registry, this.reports);
	}

	private void recordLost(String id) {
		String reason = this.interrupted.broken().get(id);
		if (reason != null) {
			later(() -> this.records.lost(id,
					"The process that had the job has ended, and the job cannot be resumed: " + reason));
		}
	}

	/** Logs at the start whether the control Redis can be reached. */
	private void checkControlRedis() {
		try {
			this.redis.checkStorage();
			logger.info("Control Redis at {}", this.redis.address());
		}
		catch (ControlRedisException ex) {
			logFailure(ex);
		}
	}

	/**
	 * Writes the first record of a job before it begins, so that a caller can query it at
	 * any instance.
	 * @param client the client that owns the job
	 * @param key its idempotency key
	 * @throws ControlRedisException if the control Redis fails
	 */
	void enter(Client client, JobStatus job, String key) {
		enter(client, job, key, true);
	}

	private void enter(Client client, JobStatus job, String key, boolean unsent) {
		this.redis.checkStorage();
		RecordedJob recorded = recorded(job.jobId());
		this.jobs.put(job.jobId(), recorded);
		recorded.enter(client.name(), job, key, unsent);
	}

	/**
	 * Writes the record of an interrupted job that a repeat of its request finishes.
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void enterAgain(Client client, JobStatus job, String key) {
		try {
			enter(client, job, key, false);
		}
		catch (ControlRedisException ex) {
			this.jobs.remove(job.jobId());
			throw ex;
		}
	}

	/** The id of a job that this process has left to a repeat; {@code null} for none. */
	@Nullable String left(String key) {
		synchronized (this.left) {
			return this.left.get(key);
		}
	}

	/** Leaves an interrupted job to a repeat of its request, at any instance. */
	public void leave(String id) {
		RecordedJob recorded = this.jobs.remove(id);
		String key = (recorded != null) ? recorded.key() : null;
		if (key != null) {
			synchronized (this.left) {
				this.left.put(key, id);
			}
		}
		this.registry.remove(id);
		ControlRedisException unused = nowOrLater(() -> this.records.leave(id));
	}

	/**
	 * Lets this process resume a job that it has interrupted, like a former process's.
	 */
	public void interrupt(String id) {
		this.interrupted.interrupt(id);
		// Without a key: the job that is resumed is recorded by its end.
		this.jobs.put(id, recorded(id));
		List<Warning> unused = keep(id);
	}

	/** Stops recording a job that did not begin, and removes its record and its key. */
	void drop(String id) {
		RecordedJob recorded = this.jobs.remove(id);
		if (recorded != null && recorded.drop()) {
			nowOrLater(() -> {
				String key = recorded.key();
				if (key != null) {
					this.keys.release(key, id);
				}
				this.records.remove(id);
			});
		}
	}

	/**
	 * Runs a write to the control Redis, again and again until it can be reached.
	 * @return why it failed for now; {@code null} if it did not
	 */
	@Nullable ControlRedisException nowOrLater(Runnable step) {
		try {
			step.run();
			return null;
		}
		catch (ControlRedisException ex) {
			later(step);
			return ex;
		}
	}

	/** The job of this process that has an idempotency key; {@code null} if none has. */
	@Nullable RecordedJob ofKey(String key) {
		return this.jobs.values().stream().filter((job) -> key.equals(job.key())).findFirst().orElse(null);
	}

	@Nullable RecordedJob find(String id) {
		return this.jobs.get(id);
	}

	/** The stored form of a report. */
	StoredReport stored(Object report) {
		return this.reports.stored(report);
	}

	/** Runs a write to the control Redis as soon as it can be reached. */
	public void later(Runnable step) {
		this.steps.add(step);
	}

	/**
	 * Records a job until it has ended. This method writes the first record, unless the
	 * control Redis fails.
	 * @param id the id of a job of this instance
	 * @return warnings for the caller about the record
	 */
	public List<Warning> keep(String id) {
		RecordedJob recorded = this.jobs.computeIfAbsent(id, this::recorded);
		// Before the control Redis may fail, so that the job can be forgotten.
		recorded.find();
		try {
			this.redis.checkStorage();
			recorded.write();
			logRecovery();
		}
		catch (ControlRedisException ex) {
			recorded.setFailure(ex.getMessage());
			logFailure(ex);
		}
		return warnings(id);
	}

	/**
	 * Warnings about the record of a job.
	 * @return none for a job that is not recorded
	 */
	public List<Warning> warnings(String id) {
		RecordedJob recorded = this.jobs.get(id);
		if (recorded == null) {
			return List.of();
		}
		List<Warning> warnings = new ArrayList<>();
		String failed = recorded.failure();
		if (failed != null) {
			warnings.add(new Warning("NOT_RECORDED", null,
					failed + ". Until the control Redis can be reached, other instances do not know "
							+ ((recorded.isWritten()) ? "how far the job has come" : "the job"),
					null));
		}
		warnings.addAll(bestEffort());
		return warnings;
	}

	/** A warning if the control Redis may evict records; otherwise none. */
	public List<Warning> bestEffort() {
		return this.redis.warnings();
	}

	private synchronized void tick() {
		try {
			this.jobs.values().removeIf(RecordedJob::isForgotten);
			if (this.steps.isEmpty() && this.jobs.values().stream().allMatch(RecordedJob::isDone)) {
				lookForLostRecords();
			}
			this.steps.runAll();
			ControlRedisException failed = null;
			for (RecordedJob recorded : this.jobs.values()
				.stream()
				.sorted(Comparator.comparing(RecordedJob::id))
				.toList()) {
				try {
					recorded.write();
				}
				catch (ControlRedisException ex) {
					// It may refuse this one only.
					recorded.setFailure(ex.getMessage());
					failed = ex;
				}
			}
			if (failed != null) {
				logFailure(failed);
				return;
			}
			this.records.tidy();
			logRecovery();
		}
		catch (ControlRedisException ex) {
			this.jobs.values()
				.stream()
				.filter((recorded) -> !recorded.isDone())
				.forEach((recorded) -> recorded.setFailure(ex.getMessage()));
			logFailure(ex);
		}
		catch (RuntimeException | Error ex) {
			logger.error("The records of jobs could not be written", ex);
		}
	}

	/**
	 * If the control Redis has lost the record of an ended job before its time, it may
	 * have lost those of the others as well, so they are written again.
	 */
	private void lookForLostRecords() {
		if (this.redis.isUsed() && System.nanoTime() - this.lookedNanos > this.records.lease().toNanos() / 3) {
			this.lookedNanos = System.nanoTime();
			// Also without jobs, because only regular calls show an outage.
			Optional<String> last = this.jobs.values()
				.stream()
				.filter(RecordedJob::mustHaveRecord)
				.map(RecordedJob::id)
				.max(Comparator.naturalOrder());
			if (!this.records.exists(last.orElse("none")) && last.isPresent()) {
				this.jobs.values().forEach(RecordedJob::setLost);
			}
		}
	}

	/** Writes the record of a job at once, and hears of the changes requested in it. */
	private void writeNow(Job job) {
		RecordedJob recorded = this.jobs.computeIfAbsent(job.id(), this::recorded);
		try {
			recorded.write();
		}
		catch (ControlRedisException ex) {
			recorded.setFailure(ex.getMessage());
			logFailure(ex);
		}
	}

	/** Records that a job is cancelled, so that all instances show it at once. */
	public void cancelled(String id) {
		if (this.jobs.containsKey(id)) {
			try {
				this.records.cancel(id);
			}
			catch (ControlRedisException ex) {
				logFailure(ex);
			}
		}
	}

	/**
	 * Applies changes that were requested while no process had an interrupted job, before
	 * it is resumed.
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void hearOf(Job job) {
		RecordedJob recorded = this.jobs.get(job.id());
		if (recorded != null) {
			recorded.hear();
		}
	}

	private void logFailure(ControlRedisException failure) {
		String message = failure.getMessage();
		if (!message.equals(this.failure)) {
			this.failure = message;
			logger.warn("{}. Jobs continue, but other instances cannot show or change them", message);
		}
	}

	private void logRecovery() {
		if (this.failure != null) {
			this.failure = null;
			logger.info("The control Redis at {} can be reached again, and jobs are recorded", this.redis.address());
		}
	}

	/**
	 * Writes the last records before the connections are closed. Jobs that have not ended
	 * are interrupted from now on.
	 */
	@PreDestroy
	void shutDown() {
		if (this.ticks != null) {
			this.ticks.cancel(false);
		}
		tick();
		for (RecordedJob recorded : this.jobs.values()) {
			if (!recorded.isDone()) {
				ControlRedisException unused = nowOrLater(() -> this.records.leave(recorded.id()));
			}
		}
	}

}
