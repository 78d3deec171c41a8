package io.pipeset.job.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;

import io.pipeset.job.Client;
import io.pipeset.job.control.ControlRedis;
import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.IdempotencyKeys;
import io.pipeset.job.control.JobRecords;
import io.pipeset.job.control.JobRecords.PendingChanges;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.stereotype.Component;

/**
 * Keeps the records of this instance's jobs in the control Redis up to date, so that all
 * instances can show them. Twice a second, its own thread writes the status of the jobs
 * that have progressed, and applies changes that other instances have requested. No job
 * waits for it.
 */
@Component
public class JobRecorder {

	private static final Logger logger = LoggerFactory.getLogger(JobRecorder.class);

	private static final Duration TICK = Duration.ofMillis(500);

	/** Seconds to wait at shutdown for a call in flight. */
	private static final int END_SECONDS = 5;

	private final JobRegistry registry;

	private final JobRecords records;

	private final ControlRedis redis;

	private final ReportJson reports;

	private final InterruptedJobs interrupted;

	private final IdempotencyKeys keys;

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

	/** The jobs to record, by their ids. */
	private final Map<String, RecordedJob> jobs = new ConcurrentHashMap<>();

	/** The ids of jobs for which other instances may have requested changes. */
	private final Set<String> toCheck = ConcurrentHashMap.newKeySet();

	private final ControlSteps steps = new ControlSteps();

	/**
	 * When the lease was renewed, by {@link System#nanoTime}; {@code null} before the
	 * first time.
	 */
	private volatile @Nullable Long renewedNanos;

	/** The last logged failure, so that it is logged only once; {@code null} for none. */
	private volatile @Nullable String failure;

	JobRecorder(JobRegistry registry, JobRecords records, ControlRedis redis, ReportJson reports,
			InterruptedJobs interrupted, IdempotencyKeys keys) {
		this.interrupted = interrupted;
		this.registry = registry;
		this.records = records;
		this.redis = redis;
		this.reports = reports;
		this.keys = keys;
		this.scheduler.setThreadNamePrefix("records-");
		this.scheduler.setDaemon(true);
		this.scheduler.setWaitForTasksToCompleteOnShutdown(true);
		this.scheduler.setAwaitTerminationSeconds(END_SECONDS);
		this.scheduler.initialize();
	}

	/** Starts recording, including the jobs of an earlier process. */
	@EventListener(ApplicationStartedEvent.class)
	void start() {
		this.registry.all().forEach((job) -> this.jobs.computeIfAbsent(job.id(), RecordedJob::new));
		this.interrupted.broken().keySet().forEach(this::recordLost);
		this.scheduler.execute(this.interrupted::raiseFences);
		this.registry.onRegister(this::applyEarlyChanges);
		if (this.redis.isNamed()) {
			this.scheduler.execute(this::checkControlRedis);
		}
		ScheduledFuture<?> unused = this.scheduler.scheduleWithFixedDelay(this::tick, TICK);
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

	private void recordLost(String id) {
		String reason = this.interrupted.broken().get(id);
		if (reason != null) {
			later(() -> this.records.lost(id, "The process that had the job has ended, and the job cannot be resumed: "
					+ reason + ". Post the file again"));
		}
	}

	/** Logs at the start whether the control Redis can be reached. */
	private void checkControlRedis() {
		try {
			this.redis.promise();
			logger.info("Control Redis at {}", this.redis.address());
		}
		catch (ControlRedisException ex) {
			logFailure(ex);
		}
	}

	/**
	 * Starts recording a job before it exists, and renews this instance's lease until the
	 * job has ended or is dropped.
	 * @param id the id that the job will have
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void hold(String id) {
		this.redis.promise();
		renew();
		this.jobs.computeIfAbsent(id, RecordedJob::new);
	}

	/**
	 * Writes the first record of a job before it begins, so that a caller can query it at
	 * any instance.
	 * @param client the client that owns the job
	 */
	public void enter(Client client, JobStatus job) {
		RecordedJob recorded = this.jobs.computeIfAbsent(job.jobId(), RecordedJob::new);
		try {
			recorded.enter(client.name(), job);
		}
		catch (ControlRedisException ex) {
			recorded.failure = ex.getMessage();
			logFailure(ex);
		}
	}

	/** Stops recording a job that did not begin, and removes its record. */
	public void drop(String id) {
		RecordedJob recorded = this.jobs.remove(id);
		if (recorded != null && recorded.drop()) {
			try {
				this.records.remove(id);
			}
			catch (ControlRedisException ex) {
				later(() -> this.records.remove(id));
			}
		}
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
		RecordedJob recorded = this.jobs.computeIfAbsent(id, RecordedJob::new);
		// Before the control Redis may fail, so that the job can be forgotten.
		recorded.find();
		try {
			this.redis.promise();
			renew();
			recorded.write();
			logRecovery();
		}
		catch (ControlRedisException ex) {
			recorded.failure = ex.getMessage();
			logFailure(ex);
		}
		return warnings(id);
	}

	/** Whether the shutdown interrupted a job, so that the next process can resume it. */
	public boolean isLeft(String id) {
		return this.registry.find(id).filter(KnownJob::isInterruptedByShutdown).isPresent();
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
		String failed = recorded.failure;
		if (failed != null) {
			warnings.add(new Warning("NOT_RECORDED", null,
					failed + ". Until the control Redis can be reached, other instances do not know "
							+ ((recorded.written != null) ? "how far the job has come" : "the job"),
					null));
		}
		warnings.addAll(bestEffort());
		return warnings;
	}

	/** A warning if the control Redis may evict records; otherwise none. */
	public List<Warning> bestEffort() {
		return this.redis.warnings();
	}

	private void tick() {
		try {
			this.jobs.values().removeIf(RecordedJob::isForgotten);
			boolean idle = this.steps.isEmpty() && this.keys.isIdle()
					&& this.jobs.values().stream().allMatch(RecordedJob::isDone);
			// Also without jobs, because only regular renewals show an expired lease.
			if (!idle || this.renewedNanos != null) {
				renewIfDue();
			}
			this.records.tidy();
			if (idle) {
				return;
			}
			this.steps.runAll();
			this.keys.settle();
			applyRequestedChanges();
			for (RecordedJob recorded : this.jobs.values()
				.stream()
				.sorted(Comparator.comparing((recorded) -> recorded.id))
				.toList()) {
				recorded.write();
			}
			logRecovery();
		}
		catch (ControlRedisException ex) {
			this.jobs.values()
				.stream()
				.filter((recorded) -> !recorded.isDone())
				.forEach((recorded) -> recorded.failure = ex.getMessage());
			checkAllJobs();
			logFailure(ex);
		}
		catch (RuntimeException | Error ex) {
			logger.error("The records of jobs could not be written", ex);
		}
	}

	/** Applies changes to a new job that were requested while its body was uploaded. */
	private void applyEarlyChanges(KnownJob job) {
		RecordedJob recorded = this.jobs.get(job.id());
		if (recorded == null) {
			return;
		}
		try {
			applyChanges(job.id());
		}
		catch (ControlRedisException ex) {
			this.toCheck.add(job.id());
			recorded.failure = ex.getMessage();
			logFailure(ex);
		}
	}

	/** Applies all requested changes. Those that fail are retried at the next tick. */
	private void applyRequestedChanges() {
		this.toCheck.addAll(this.records.asked());
		for (String id : List.copyOf(this.toCheck)) {
			applyChanges(id);
			this.toCheck.remove(id);
		}
	}

	/** Checks all jobs for changes, because the list of requests may be lost. */
	private void checkAllJobs() {
		this.jobs.values()
			.stream()
			.filter((recorded) -> !recorded.isDone())
			.forEach((recorded) -> this.toCheck.add(recorded.id));
	}

	/** Applies the changes that other instances have requested, if the job exists. */
	private void applyChanges(String id) {
		KnownJob job = this.registry.find(id).orElse(null);
		if (job == null) {
			return;
		}
		PendingChanges changes = this.records.wishes(id);
		Long perSecond = changes.rateLimit();
		if (perSecond != null && job.changeRateLimit((perSecond > 0) ? perSecond : null)) {
			this.records.clearRateLimit(id, perSecond);
		}
		if (changes.cancelled()) {
			this.registry.cancel(job);
		}
	}

	/** Records that a job is cancelled, so that all instances show it at once. */
	public void cancelled(String id) {
		if (this.jobs.containsKey(id)) {
			try {
				this.records.cancelled(id);
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
	public void hearOf(KnownJob job) {
		RecordedJob recorded = this.jobs.get(job.id());
		if (recorded != null) {
			applyChanges(job.id());
			recorded.changesApplied = true;
		}
	}

	private void renewIfDue() {
		Long last = this.renewedNanos;
		if (last == null || System.nanoTime() - last > this.records.leaseTime().toNanos() / 3) {
			renew();
			this.keys.renew();
			logRecovery();
		}
	}

	/**
	 * Renews the lease. If the control Redis has lost it, it may have lost records and
	 * keys as well, so they are written again.
	 */
	private void renew() {
		long now = System.nanoTime();
		Long before = this.renewedNanos;
		if (!this.records.renewLease() && before != null) {
			// If the lease expired only because it was renewed too late, the records of
			// ended jobs are not lost.
			boolean early = System.nanoTime() - before < this.records.leaseTime().toNanos();
			this.jobs.values()
				.stream()
				.filter((recorded) -> early || !recorded.isDone())
				.forEach((recorded) -> recorded.written = null);
			checkAllJobs();
			this.keys.renew();
		}
		this.renewedNanos = now;
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

	/** Writes the last records before the connections are closed, and ends the lease. */
	@PreDestroy
	void shutDown() {
		this.scheduler.shutdown();
		tick();
		if (this.renewedNanos != null) {
			try {
				this.records.endLease();
			}
			catch (ControlRedisException ex) {
				logger.debug("The lease could not be ended, and will expire", ex);
			}
		}
	}

	/** A job to record. */
	private final class RecordedJob {

		private final String id;

		/** {@code null} before the job exists. */
		private volatile @Nullable KnownJob job;

		/** The last record; {@code null} if the control Redis may not have one. */
		private volatile @Nullable JobStatus written;

		/** When the record was added to the list of jobs, by {@link System#nanoTime}. */
		private long enteredNanos;

		/** Why the last write failed; {@code null} if it did not. */
		private volatile @Nullable String failure;

		/** Whether the control Redis may have a record, even if writing it failed. */
		private boolean mayBeRecorded;

		private boolean dropped;

		/** Whether changes from the time when no process had the job are applied. */
		private volatile boolean changesApplied;

		private RecordedJob(String id) {
			this.id = id;
		}

		private boolean isForgotten() {
			return this.job != null && JobRecorder.this.registry.find(this.id).isEmpty();
		}

		private @Nullable KnownJob find() {
			KnownJob job = this.job;
			if (job == null) {
				job = JobRecorder.this.registry.find(this.id).orElse(null);
				this.job = job;
			}
			return job;
		}

		/** Stops all writes; {@code true} if the control Redis may have a record. */
		private synchronized boolean drop() {
			this.dropped = true;
			return this.mayBeRecorded;
		}

		private synchronized void enter(String client, JobStatus status) {
			this.mayBeRecorded = true;
			JobRecorder.this.records.write(client, status, null, true, null);
			this.written = status;
		}

		private boolean isDone() {
			JobStatus last = this.written;
			KnownJob job = this.job;
			// Other instances may still cancel an interrupted job.
			return last != null && !last.state().isActive() && last.state() != JobState.INTERRUPTED
					&& (job == null || job.state() == last.state());
		}

		/**
		 * Writes the record if it has changed. Synchronized, so that no older one wins.
		 */
		private synchronized void write() {
			KnownJob job = find();
			if (job != null && job.interrupted() != null && !this.changesApplied) {
				hearOf(job);
			}
			KnownJob.Look view = (job != null) ? job.look() : null;
			// A job that the shutdown interrupts, perhaps since then, gets no new record.
			// It counts as interrupted when the lease ends.
			if (job == null || view == null || job.isInterruptedByShutdown() || this.dropped) {
				return;
			}
			JobStatus now = view.status();
			JobStatus last = this.written;
			boolean ended = !now.state().isActive();
			// Refresh the record before it expires.
			boolean old = System.nanoTime() - this.enteredNanos > JobRecorder.this.records.retention().toNanos() / 2;
			if (last != null && !old && last.state() == now.state() && Objects.equals(last.ending(), now.ending())
					&& now.progress().done() == last.progress().done()
					&& now.progress().read() == last.progress().read()) {
				return;
			}
			Object report = view.report();
			if (!ended && report instanceof JobReport records) {
				report = records.withoutLists();
			}
			this.mayBeRecorded = true;
			boolean addsToList = last == null || old || ended;
			JobRecorder.this.records.write(job.client(), now,
					(report != null) ? JobRecorder.this.reports.stored(report) : null, addsToList, job.callback());
			if (last == null) {
				// Other instances may have sent requests to the process that had the job.
				JobRecorder.this.toCheck.add(this.id);
			}
			this.written = now;
			this.enteredNanos = (addsToList) ? System.nanoTime() : this.enteredNanos;
			this.failure = null;
			if (ended && now.state() != JobState.INTERRUPTED) {
				JobRecorder.this.registry.markRecorded(job);
			}
		}

	}

}
