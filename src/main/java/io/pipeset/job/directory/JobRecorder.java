package io.pipeset.job.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
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
 * Keeps the records of this instance's jobs up to date, so that all instances can answer
 * for them: twice a second, in a thread of its own, it writes how those jobs stand that
 * have come further, and does what others have asked for. No job waits for it.
 */
@Component
public class JobRecorder {

	private static final Logger logger = LoggerFactory.getLogger(JobRecorder.class);

	private static final Duration TICK = Duration.ofMillis(500);

	/** Seconds to wait at the end for a call in flight. */
	private static final int END_SECONDS = 5;

	private final JobRegistry registry;

	private final JobRecords records;

	private final ControlRedis redis;

	private final ReportJson reports;

	private final InterruptedJobs interrupted;

	private final IdempotencyKeys keys;

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

	private final Map<String, Kept> jobs = new ConcurrentHashMap<>();

	/** The jobs for which others may have asked something. */
	private final Set<String> asked = ConcurrentHashMap.newKeySet();

	private final ControlSteps steps = new ControlSteps();

	/** When the lease was renewed; {@code null} if it is not known to be there. */
	private volatile @Nullable Long renewed;

	/** The last failure that was logged, so that it is logged once. */
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

	/** Jobs that another process has left are held here now. */
	@EventListener(ApplicationStartedEvent.class)
	void begin() {
		this.registry.all().forEach((job) -> this.jobs.computeIfAbsent(job.id(), Kept::new));
		this.interrupted.broken()
			.forEach((id, reason) -> later(() -> this.records.lost(id, "The process that had the"
					+ " job has ended, and its files cannot be gone on with: " + reason + ". Post the file again")));
		this.registry.onEnter(this::entered);
		if (this.redis.isNamed()) {
			this.scheduler.execute(this::greet);
		}
		ScheduledFuture<?> unused = this.scheduler.scheduleWithFixedDelay(this::tick, TICK);
	}

	private void greet() {
		try {
			this.redis.promise();
			logger.info("Control Redis at {}", this.redis.address());
		}
		catch (ControlRedisException ex) {
			failed(ex);
		}
	}

	/**
	 * Has a job recorded as soon as it is there, and renews the lease of this process
	 * until the job has ended, or is dropped.
	 * @param id the id that the job will have
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void hold(String id) {
		this.redis.promise();
		renew();
		this.jobs.computeIfAbsent(id, Kept::new);
	}

	/**
	 * Records a job that is about to begin, so that its id can be told to others.
	 * @param client the client whose job it is
	 */
	public void enter(Client client, JobStatus job) {
		Kept kept = this.jobs.computeIfAbsent(job.jobId(), Kept::new);
		try {
			kept.enter(client.name(), job);
		}
		catch (ControlRedisException ex) {
			kept.failure = ex.getMessage();
			failed(ex);
		}
	}

	/** Forgets a job that was held and did not begin. */
	public void drop(String id) {
		Kept kept = this.jobs.remove(id);
		if (kept != null && kept.drop()) {
			try {
				this.records.remove(id);
			}
			catch (ControlRedisException ex) {
				later(() -> this.records.remove(id));
			}
		}
	}

	/** Takes a step in the control Redis as soon as it can be reached again. */
	public void later(Runnable step) {
		this.steps.add(step);
	}

	/**
	 * Has a job recorded from now on, until it has ended. Its first record is there when
	 * this returns, unless the control Redis fails.
	 * @param id a job of this instance
	 * @return what the caller is to know of its record
	 */
	public List<Warning> keep(String id) {
		Kept kept = this.jobs.computeIfAbsent(id, Kept::new);
		// Without the control Redis as well, so that it can be forgotten.
		kept.find();
		try {
			this.redis.promise();
			renew();
			kept.write();
			recovered();
		}
		catch (ControlRedisException ex) {
			kept.failure = ex.getMessage();
			failed(ex);
		}
		return warnings(id);
	}

	/**
	 * Whether a job has ended with this process only: the next one may go on with it.
	 */
	public boolean isLeft(String id) {
		return this.registry.find(id).filter(KnownJob::isLeft).isPresent();
	}

	/**
	 * The things that are not as they should be with the record of a job.
	 * @return nothing for a job that is not recorded
	 */
	public List<Warning> warnings(String id) {
		Kept kept = this.jobs.get(id);
		if (kept == null) {
			return List.of();
		}
		List<Warning> warnings = new ArrayList<>();
		String failed = kept.failure;
		if (failed != null) {
			warnings.add(new Warning("NOT_RECORDED", null, failed + ". Other instances do not know "
					+ ((kept.written != null) ? "how far the job has come" : "the job") + " before it can be reached",
					null));
		}
		warnings.addAll(bestEffort());
		return warnings;
	}

	/** Says if nothing is promised of records. */
	public List<Warning> bestEffort() {
		return this.redis.warnings();
	}

	private void tick() {
		try {
			this.jobs.values().removeIf(Kept::isForgotten);
			boolean idle = this.steps.isEmpty() && this.keys.isIdle()
					&& this.jobs.values().stream().allMatch(Kept::isDone);
			// Without a job as well: only who renews can tell a lease that is over.
			if (!idle || this.renewed != null) {
				renewIfDue();
			}
			this.records.tidy();
			if (idle) {
				return;
			}
			this.steps.take();
			this.keys.settle();
			serveAsked();
			for (Kept kept : this.jobs.values().stream().sorted(Comparator.comparing((kept) -> kept.id)).toList()) {
				kept.write();
			}
			recovered();
		}
		catch (ControlRedisException ex) {
			this.jobs.values()
				.stream()
				.filter((kept) -> !kept.isDone())
				.forEach((kept) -> kept.failure = ex.getMessage());
			askForAll();
			failed(ex);
		}
		catch (RuntimeException | Error ex) {
			logger.error("Records of jobs could not be written", ex);
		}
	}

	/**
	 * A job is there whose caller does not wait for it: before it begins, it hears what
	 * was asked for while its body was on its way.
	 */
	private void entered(KnownJob job) {
		Kept kept = this.jobs.get(job.id());
		if (kept == null) {
			return;
		}
		try {
			serve(job.id());
		}
		catch (ControlRedisException ex) {
			this.asked.add(job.id());
			kept.failure = ex.getMessage();
			failed(ex);
		}
	}

	/** What was taken and not served is served by the next tick. */
	private void serveAsked() {
		this.asked.addAll(this.records.asked());
		for (String id : List.copyOf(this.asked)) {
			serve(id);
			this.asked.remove(id);
		}
	}

	/** A request may have been lost, or its list may have expired. */
	private void askForAll() {
		this.jobs.values().stream().filter((kept) -> !kept.isDone()).forEach((kept) -> this.asked.add(kept.id));
	}

	/**
	 * Does what other instances have asked for a job, which may not be there yet.
	 */
	private void serve(String id) {
		KnownJob job = this.registry.find(id).orElse(null);
		if (job == null) {
			return;
		}
		PendingChanges wishes = this.records.wishes(id);
		Long perSecond = wishes.rateLimit();
		if (perSecond != null && job.pace((perSecond > 0) ? perSecond : null)) {
			this.records.paced(id, perSecond);
		}
		if (wishes.cancelled()) {
			this.registry.cancel(job);
		}
	}

	/** A job of this instance is cancelled, which others are to know at once. */
	public void cancelled(String id) {
		if (this.jobs.containsKey(id)) {
			try {
				this.records.cancelled(id);
			}
			catch (ControlRedisException ex) {
				failed(ex);
			}
		}
	}

	/**
	 * Hears whether an interrupted job was cancelled while no process had it, before it
	 * is resumed.
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void hearOf(KnownJob job) {
		Kept kept = this.jobs.get(job.id());
		if (kept != null) {
			serve(job.id());
			kept.heard = true;
		}
	}

	private void renewIfDue() {
		Long last = this.renewed;
		if (last == null || System.nanoTime() - last > this.records.leaseTime().toNanos() / 3) {
			renew();
			this.keys.renew();
			recovered();
		}
	}

	/** A lease that is gone may have taken the records and the keys with it. */
	private void renew() {
		long now = System.nanoTime();
		Long before = this.renewed;
		if (!this.records.renewLease() && before != null) {
			// A lease that was not renewed in time says nothing about jobs that have
			// ended.
			boolean early = System.nanoTime() - before < this.records.leaseTime().toNanos();
			this.jobs.values()
				.stream()
				.filter((kept) -> early || !kept.isDone())
				.forEach((kept) -> kept.written = null);
			askForAll();
			this.keys.renew();
		}
		this.renewed = now;
	}

	private void failed(ControlRedisException failure) {
		String message = failure.getMessage();
		if (!message.equals(this.failure)) {
			this.failure = message;
			logger.warn("{}. Jobs run on, but other instances cannot answer for them", message);
		}
	}

	private void recovered() {
		if (this.failure != null) {
			this.failure = null;
			logger.info("The control Redis at {} records jobs again", this.redis.address());
		}
	}

	/** Writes how the last jobs have ended, before the connections are closed. */
	@PreDestroy
	void shutDown() {
		this.scheduler.shutdown();
		tick();
		if (this.renewed != null) {
			try {
				this.records.endLease();
			}
			catch (ControlRedisException ex) {
				logger.debug("The lease ends by itself", ex);
			}
		}
	}

	/** A job that is recorded. */
	private final class Kept {

		private final String id;

		/** {@code null} before it is there. */
		private volatile @Nullable KnownJob job;

		/** The last record, or {@code null} if it may not be there. */
		private volatile @Nullable JobStatus written;

		private long enteredNanos;

		private volatile @Nullable String failure;

		/** Whether a record may be there, whatever was heard of it. */
		private boolean tried;

		private boolean dropped;

		/** Whether it is known what others asked for while no process had the job. */
		private volatile boolean heard;

		private Kept(String id) {
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

		/** Nothing is written from now on; {@code true} if something may have been. */
		private synchronized boolean drop() {
			this.dropped = true;
			return this.tried;
		}

		private synchronized void enter(String client, JobStatus status) {
			this.tried = true;
			JobRecorder.this.records.write(client, status, null, true);
			this.written = status;
		}

		private boolean isDone() {
			JobStatus last = this.written;
			KnownJob job = this.job;
			// One that is interrupted may still be cancelled by others.
			return last != null && !last.state().isActive() && last.state() != JobState.INTERRUPTED
					&& (job == null || job.state() == last.state());
		}

		/**
		 * Writes what is new. One thread at a time, so that none writes an older state.
		 */
		private synchronized void write() {
			KnownJob job = find();
			if (job != null && job.interrupted() != null && !this.heard) {
				hearOf(job);
			}
			KnownJob.Look look = (job != null) ? job.look() : null;
			// A job that was left, maybe since the look, is interrupted by its lease.
			if (job == null || look == null || job.isLeft() || this.dropped) {
				return;
			}
			JobStatus now = look.status();
			JobStatus last = this.written;
			boolean ended = !now.state().isActive();
			// A job that waits or runs for long is not to be missed.
			boolean old = System.nanoTime() - this.enteredNanos > JobRecorder.this.records.retention().toNanos() / 2;
			if (last != null && !old && last.state() == now.state() && now.progress().done() == last.progress().done()
					&& now.progress().read() == last.progress().read()) {
				return;
			}
			Object report = look.report();
			if (!ended && report instanceof JobReport records) {
				report = records.withoutLists();
			}
			this.tried = true;
			boolean enters = last == null || old || ended;
			JobRecorder.this.records.write(job.client(), now,
					(report != null) ? JobRecorder.this.reports.stored(report) : null, enters);
			if (last == null) {
				// Others may have asked the process that had the job before.
				JobRecorder.this.asked.add(this.id);
			}
			this.written = now;
			this.enteredNanos = (enters) ? System.nanoTime() : this.enteredNanos;
			this.failure = null;
			if (ended && now.state() != JobState.INTERRUPTED) {
				JobRecorder.this.registry.published(job);
			}
		}

	}

}
