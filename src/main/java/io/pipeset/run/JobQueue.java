package io.pipeset.run;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.input.Caller;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.Job;
import io.pipeset.keep.JobRegistry;
import io.pipeset.keep.JobRun;
import io.pipeset.keep.QueueEntry;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobRefusedException.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Limits how many jobs run at once. Each running job has a permit; the others wait, first
 * come first served. A released permit goes directly to the next waiting job, so that no
 * new job can take it first. Some permits are for small jobs only, so that they need not
 * wait for large ones.
 */
@Component
class JobQueue {

	private static final Ending FAILED = new Ending(Cause.INTERNAL_SERVER_ERROR,
			"The service failed to run the job; its log says why.");

	private final JobLimits limits;

	private final JobRegistry registry;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private final Deque<Waiter> waiting = new ArrayDeque<>();

	/** The running jobs, and whether each was known to be small when it began. */
	private final IdentityHashMap<QueueEntry, Boolean> running = new IdentityHashMap<>();

	/** The permits of each client, for jobs that upload asynchronously, wait or run. */
	private final Map<String, Semaphore> clientPermits = new ConcurrentHashMap<>();

	/** The permits in use. */
	private int busy;

	/** How many of them are in use by jobs that are not known to be small. */
	private int busyLarge;

	private boolean closed;

	JobQueue(JobLimits limits, JobRegistry registry, MeterRegistry meters) {
		this.limits = limits;
		this.registry = registry;
		Gauge.builder("pipeset.jobs.queued", this, JobQueue::waiting)
			.description("Jobs that wait for others to end before they begin")
			.register(meters);
	}

	/**
	 * Waits for a permit, then runs a job in the calling thread.
	 * @return the ended job, whose memory the caller closes
	 * @throws JobRefusedException if the job may not begin; the body was not called
	 * @see #take
	 */
	<R> EndedJob<R> run(JobRun job, Client client, Caller caller, Supplier<EndedJob<R>> body) {
		try (Turn turn = take(job, client, caller)) {
			return turn.end(body.get());
		}
	}

	/**
	 * Waits for a permit of a job. If the job is stopped while it waits, it has its turn
	 * at once without a permit, sees the stop and ends.
	 * @param job the job, whose clock counts the wait
	 * @param client the client that owns the job and can see it
	 * @param caller the caller of the job. If it does not wait for the job, it has
	 * {@link #takeClientPermit taken a permit} of the client before, and the wait for the
	 * other permit has no limit
	 * @return the turn, to be closed when the job has run
	 * @throws JobRefusedException if the job may not begin
	 */
	Turn take(JobRun job, Client client, Caller caller) {
		Turn turn = new Turn(job, (client != Client.SERVICE) ? this.registry.register(job, client.name()) : null,
				caller.waits());
		boolean begun = false;
		try {
			// A caller that does not wait has taken it before its upload.
			turn.clientPermit = (caller.waits()) ? takeClientPermit(client) : null;
			turn.hasPermit = enter(job, caller.waits(), () -> {
				turn.accepted = true;
				if (turn.known != null && !caller.waits()) {
					caller.taken(turn.known.status());
				}
			});
			if (turn.known != null) {
				turn.known.markRunning();
			}
			begun = true;
			return turn;
		}
		catch (JobRefusedException ex) {
			turn.failure = ex.ending();
			throw ex;
		}
		finally {
			if (!begun) {
				turn.close();
			}
		}
	}

	/**
	 * Takes a permit of a client. Each of its jobs needs one, in addition to the permit
	 * to run.
	 * @return the semaphore to release when the job has ended
	 * @throws JobRefusedException if the client has as many jobs as it may have
	 */
	Semaphore takeClientPermit(Client client) {
		int running = this.limits.maxRunningJobs();
		int most = client.maxJobs(running);
		Semaphore permits = this.clientPermits.computeIfAbsent(client.name(), (name) -> new Semaphore(most));
		if (!permits.tryAcquire()) {
			throw new JobRefusedException(Reason.TOO_MANY,
					"The client '" + client.name() + "' has " + most + " jobs that are uploaded, wait or run,"
							+ client.maxJobsReason(running) + ": send the job again later");
		}
		return permits;
	}

	/**
	 * Waits for a permit to run a job.
	 * @param waits whether a caller waits for the job, so that the limits on waiting
	 * apply
	 * @param accepted runs once the job will certainly not be refused: before the wait if
	 * no caller waits, otherwise after it
	 * @return {@code false} if the job was stopped before and has no permit
	 * @throws JobRefusedException if the service is shutting down, or a limit on waiting
	 * is reached
	 */
	boolean enter(QueueEntry job, boolean waits, Runnable accepted) {
		this.lock.lock();
		try {
			refuseIfClosed();
			if (!waits) {
				accepted.run();
			}
			boolean small = job.isSmall();
			boolean hasPermit = hasFreePermit(small);
			if (hasPermit) {
				takePermit(small);
			}
			else {
				hasPermit = (waits) ? awaitPermitForCaller(job, small) : awaitPermitWithoutLimit(job, small);
			}
			if (waits) {
				accepted.run();
			}
			if (!hasPermit) {
				return false;
			}
			this.running.put(job, small);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Releases the permit of a job that has ended. */
	void leave(QueueEntry job) {
		this.lock.lock();
		try {
			releasePermit(Boolean.TRUE.equals(this.running.remove(job)));
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets jobs begin again. */
	void open() {
		this.lock.lock();
		try {
			this.closed = false;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets no more jobs begin. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.running.keySet().forEach((job) -> job.stop().serviceCloses());
			this.waiting.forEach((waiter) -> waiter.condition.signal());
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops all running jobs: they write nothing more. */
	void stopAll() {
		String detail = "The service is shutting down, and the job did not end within "
				+ DurationText.of(this.limits.shutdownGrace())
				+ " (pipeset.limits.shutdown-grace). Records that the report counts as unprocessed were not run: send them in a new"
				+ " request";
		this.lock.lock();
		try {
			this.running.keySet().forEach((job) -> job.stop().stop(Cause.SHUTTING_DOWN, detail));
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits until no job runs.
	 * @return {@code false} if some jobs still run after that time
	 */
	boolean awaitIdle(long nanos) throws InterruptedException {
		this.lock.lock();
		try {
			long left = nanos;
			while (isBusy() && left > 0) {
				left = this.idle.awaitNanos(left);
			}
			return !isBusy();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ignores uploads that are read without a job, because they are refused anyway. */
	private boolean isBusy() {
		return this.busy > this.running.keySet().stream().filter((entry) -> !(entry instanceof JobRun)).count();
	}

	int running() {
		this.lock.lock();
		try {
			return this.running.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	int waiting() {
		this.lock.lock();
		try {
			return this.waiting.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean awaitPermitForCaller(QueueEntry job, boolean small) {
		long callers = this.waiting.stream().filter((waiter) -> waiter.callerWaits).count();
		if (callers >= this.limits.maxWaitingJobs()) {
			throw new JobRefusedException(Reason.TOO_MANY,
					this.busy + " jobs are running and " + callers
							+ " are waiting, as many as pipeset.limits.max-running-jobs=" + this.limits.maxRunningJobs()
							+ " and pipeset.limits.max-waiting-jobs=" + this.limits.maxWaitingJobs()
							+ " allow: send the job again later");
		}
		long since = System.nanoTime();
		boolean granted = awaitPermit(job, small, true, this.limits.maxWait().toNanos());
		refuseIfClosed();
		if (!granted && !job.stop().isSet()) {
			throw new JobRefusedException(Reason.TOO_MANY, "The job waited "
					+ TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) + " ms for one of " + this.busy
					+ " running jobs to end (pipeset.limits.max-running-jobs); pipeset.limits.max-wait="
					+ DurationText.of(this.limits.maxWait()) + " allows no longer wait: send the job again later");
		}
		return granted;
	}

	/** An accepted job is not refused: if the queue closes, the job ends as stopped. */
	private boolean awaitPermitWithoutLimit(QueueEntry job, boolean small) {
		boolean granted = awaitPermit(job, small, false, Long.MAX_VALUE);
		if (this.closed) {
			job.stop()
				.stop(Cause.SHUTTING_DOWN, "The service is shutting down, and the job had not begun: no record"
						+ " was run. Send the job again, to another instance");
		}
		return granted;
	}

	/**
	 * Waits for a permit; {@code false} if none was granted, or it was released again.
	 */
	private boolean awaitPermit(QueueEntry job, boolean small, boolean callerWaits, long nanos) {
		Waiter waiter = new Waiter(this.lock.newCondition(), callerWaits, small);
		Runnable wake = () -> wake(waiter);
		this.waiting.add(waiter);
		long since = System.nanoTime();
		long left = nanos;
		try {
			job.stop().add(wake);
			while (!waiter.granted && !this.closed && !job.stop().isSet() && left > 0) {
				left = waiter.condition.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		job.stop().remove(wake);
		job.clock().waited(System.nanoTime() - since);
		boolean ends = this.closed || job.stop().isSet();
		if (waiter.granted && ends) {
			releasePermit(small);
		}
		if (!waiter.granted) {
			this.waiting.remove(waiter);
		}
		return waiter.granted && !ends;
	}

	private void wake(Waiter waiter) {
		this.lock.lock();
		try {
			waiter.condition.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Releases a permit, and grants it to the first waiting job that may have it. */
	private void releasePermit(boolean small) {
		this.busy--;
		this.busyLarge -= (small) ? 0 : 1;
		Waiter next = (this.closed) ? null
				: this.waiting.stream().filter((waiter) -> hasFreePermit(waiter.small)).findFirst().orElse(null);
		if (next != null) {
			this.waiting.remove(next);
			takePermit(next.small);
			next.granted = true;
			next.condition.signal();
		}
		else {
			this.idle.signalAll();
		}
	}

	private void takePermit(boolean small) {
		this.busy++;
		this.busyLarge += (small) ? 0 : 1;
	}

	private boolean hasFreePermit(boolean small) {
		return this.busy < this.limits.maxRunningJobs() && (small || this.busyLarge < this.limits.maxLargeJobs());
	}

	/**
	 * Checks that the queue accepts jobs.
	 * @throws JobRefusedException if the service is shutting down
	 */
	void refuseIfClosed() {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new JobRefusedException(Reason.SHUTTING_DOWN,
						"The service is shutting down and takes no more jobs; send the job again, to another instance");
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The time in which a job runs. It holds the permits until it is closed. */
	final class Turn implements AutoCloseable {

		private final JobRun job;

		/** {@code null} for a job of the service itself. */
		private final @Nullable Job known;

		private final boolean waits;

		private @Nullable Semaphore clientPermit;

		private boolean hasPermit;

		/** Whether the job will certainly not be refused. */
		private volatile boolean accepted;

		private Ending failure = FAILED;

		private boolean completed;

		private Turn(JobRun job, @Nullable Job known, boolean waits) {
			this.job = job;
			this.known = known;
			this.waits = waits;
		}

		/** Records the end of the job. */
		<R> EndedJob<R> end(EndedJob<R> ended) {
			this.job.memory().endLoad();
			if (this.known != null) {
				JobQueue.this.registry.recordEnd(this.known, ended);
			}
			this.completed = true;
			return ended;
		}

		/** Releases the permits. A job without an end was refused, or has failed. */
		@Override
		public void close() {
			// Release the permits first, because the rest may throw.
			if (this.hasPermit) {
				leave(this.job);
			}
			if (this.clientPermit != null) {
				this.clientPermit.release();
			}
			if (this.completed && this.known != null) {
				JobQueue.this.registry.keepEnded(this.known, this.job, this.waits);
			}
			if (!this.completed) {
				this.job.memory().close();
			}
			if (!this.completed && this.known != null) {
				// A caller that waits for a job which fails by a defect gets no report.
				JobQueue.this.registry.recordFailure(this.known, this.failure,
						this.accepted && (!this.waits || this.failure.equals(FAILED)));
			}
		}

	}

	/** A job that waits for a permit. */
	private static final class Waiter {

		private final Condition condition;

		private boolean granted;

		/** Whether a caller waits for the job, so that it counts for the limit. */
		private final boolean callerWaits;

		private final boolean small;

		private Waiter(Condition condition, boolean callerWaits, boolean small) {
			this.condition = condition;
			this.callerWaits = callerWaits;
			this.small = small;
		}

	}

}
