package io.pipeset.job.run;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.JobLimits;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.JobRefusedException.Reason;
import io.pipeset.job.directory.JobRegistry;
import io.pipeset.job.directory.KnownJob;
import io.pipeset.job.directory.QueueEntry;
import io.pipeset.job.directory.QueuedJob;
import io.pipeset.job.input.Caller;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/**
 * The jobs that run, and those that wait for one of them to end, first come first served.
 * A place is handed over to the next job in the queue, so that no other slips in between.
 * Some places are for small jobs only, which do not wait until a long one ends.
 */
@Component
class JobQueue {

	private static final Ending FAILED = new Ending(Cause.INTERNAL_SERVER_ERROR,
			"The service failed to run the job; its log says why.");

	private final JobLimits limits;

	private final JobRegistry registry;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private final Deque<Turn> waiting = new ArrayDeque<>();

	/** The jobs that run, and whether each was known to be small as it began. */
	private final IdentityHashMap<QueueEntry, Boolean> running = new IdentityHashMap<>();

	/** How many more jobs each client may have that are uploaded, wait or run. */
	private final Map<String, Semaphore> placesOf = new ConcurrentHashMap<>();

	private int places;

	/** How many of the places are those of jobs that are not known to be small. */
	private int large;

	private boolean closed;

	JobQueue(JobLimits limits, JobRegistry registry, MeterRegistry meters) {
		this.limits = limits;
		this.registry = registry;
		Gauge.builder("pipeset.jobs.queued", this, JobQueue::waiting)
			.description("Jobs that wait for others to end before they begin")
			.register(meters);
	}

	/**
	 * Runs a job in the calling thread, as soon as it may begin. If it is stopped while
	 * it waits, it runs at once without a place, and finds out.
	 * @param job the job, whose clock takes note of the wait
	 * @param client the client whose job it is, which may look at it
	 * @param caller one who does not wait for the job is told once it is taken; it then
	 * waits for its turn as long as that takes, in a place of its client that was
	 * {@link #take taken} before
	 * @return the end of the job, whose memory is still to be closed
	 * @throws JobRefusedException if it may not begin; the body was not called
	 */
	<R> EndedJob<R> run(QueuedJob job, Client client, Caller caller, Supplier<EndedJob<R>> body) {
		KnownJob known = (client != Client.SERVICE) ? this.registry.enters(job, client.name()) : null;
		boolean kept = false;
		AtomicBoolean taken = new AtomicBoolean();
		Ending failure = FAILED;
		boolean placed = false;
		Semaphore place = null;
		try {
			// One who does not wait has it since before its upload.
			place = (caller.waits()) ? take(client) : null;
			placed = enter(job, caller.waits(), () -> {
				taken.set(true);
				if (known != null && !caller.waits()) {
					caller.taken(known.status());
				}
			});
			if (known != null) {
				known.begins();
			}
			EndedJob<R> ended = body.get();
			job.memory().endLoad();
			if (known != null) {
				this.registry.ends(known, ended, !caller.waits());
			}
			kept = true;
			return ended;
		}
		catch (JobRefusedException ex) {
			failure = ex.ending();
			throw ex;
		}
		finally {
			// First, as the rest may throw, and the places would be lost.
			if (placed) {
				leave(job);
			}
			if (place != null) {
				place.release();
			}
			if (!kept) {
				job.memory().close();
			}
			if (!kept && known != null) {
				// Whoever waits for a job that began, and failed, has no report of it.
				this.registry.fails(known, failure, taken.get() && (!caller.waits() || failure.equals(FAILED)));
			}
		}
	}

	/**
	 * Takes a place of a client, which each of its jobs needs.
	 * @return to be released when the job has ended
	 * @throws JobRefusedException if the client has as many jobs as it may have
	 */
	Semaphore take(Client client) {
		int running = this.limits.maxRunningJobs();
		int most = client.maxJobs(running);
		Semaphore places = this.placesOf.computeIfAbsent(client.name(), (name) -> new Semaphore(most));
		if (!places.tryAcquire()) {
			throw new JobRefusedException(Reason.TOO_MANY,
					"The client '" + client.name() + "' has " + most + " jobs that are uploaded, wait or run,"
							+ client.maxJobsReason(running) + ": send the job again later");
		}
		return places;
	}

	/**
	 * Waits until a job may begin.
	 * @param waits whether a caller waits for it, and the limits on waiting hold
	 * @param taken is run once the job is taken: at the beginning of an unlimited wait,
	 * and else at its end
	 * @return {@code false} if it was stopped before, and has no place
	 */
	boolean enter(QueueEntry job, boolean waits, Runnable taken) {
		this.lock.lock();
		try {
			refuseIfClosed();
			if (!waits) {
				taken.run();
			}
			boolean small = job.isSmall();
			boolean placed = hasPlace(small);
			if (placed) {
				take(small);
			}
			else {
				placed = (waits) ? awaitTurn(job, small) : awaitTurnForever(job, small);
			}
			if (waits) {
				taken.run();
			}
			if (!placed) {
				return false;
			}
			this.running.put(job, small);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A job has ended that had a place. */
	void leave(QueueEntry job) {
		this.lock.lock();
		try {
			handOver(Boolean.TRUE.equals(this.running.remove(job)));
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Begins jobs again. */
	void open() {
		this.lock.lock();
		try {
			this.closed = false;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Begins no more jobs. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.running.keySet().forEach((job) -> job.stop().serviceCloses());
			this.waiting.forEach((turn) -> turn.condition.signal());
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Stops the jobs that still run: they write nothing more. */
	void stopAll() {
		String detail = "The service is shutting down, and the job was not through within "
				+ DurationText.of(this.limits.shutdownGrace())
				+ " (pipeset.limits.shutdown-grace); what the report calls unprocessed was not run: send those records in a new request";
		this.lock.lock();
		try {
			this.running.keySet().forEach((job) -> job.stop().because(Cause.SHUTTING_DOWN, detail));
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits until no job runs.
	 * @return {@code false} if some still do after that time
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

	/** Nobody waits for a body that is read for no job: it is refused in the end. */
	private boolean isBusy() {
		return this.places > this.running.keySet().stream().filter((read) -> !(read instanceof QueuedJob)).count();
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

	private boolean awaitTurn(QueueEntry job, boolean small) {
		long callers = this.waiting.stream().filter((turn) -> turn.caller).count();
		if (callers >= this.limits.maxWaitingJobs()) {
			throw new JobRefusedException(Reason.TOO_MANY,
					this.places + " jobs are running and " + callers
							+ " are waiting, as many as pipeset.limits.max-running-jobs=" + this.limits.maxRunningJobs()
							+ " and pipeset.limits.max-waiting-jobs=" + this.limits.maxWaitingJobs()
							+ " allow: send the job again later");
		}
		long since = System.nanoTime();
		boolean come = awaitTurn(job, small, true, this.limits.maxWait().toNanos());
		refuseIfClosed();
		if (!come && !job.stop().isSet()) {
			throw new JobRefusedException(Reason.TOO_MANY, "The job waited "
					+ TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) + " ms, and none of the " + this.places
					+ " that pipeset.limits.max-running-jobs allows ended; pipeset.limits.max-wait="
					+ DurationText.of(this.limits.maxWait()) + " allows no longer wait: send the job again later");
		}
		return come;
	}

	/** A job that was taken is not refused: it ends, and says why. */
	private boolean awaitTurnForever(QueueEntry job, boolean small) {
		boolean come = awaitTurn(job, small, false, Long.MAX_VALUE);
		if (this.closed) {
			job.stop()
				.because(Cause.SHUTTING_DOWN, "The service is shutting down, and the job had not begun: nothing of it"
						+ " was run; send it again, to another instance");
		}
		return come;
	}

	/** Waits for a turn; {@code false} if it did not come, or was handed on. */
	private boolean awaitTurn(QueueEntry job, boolean small, boolean caller, long nanos) {
		Turn turn = new Turn(this.lock.newCondition(), caller, small);
		Runnable wake = () -> wake(turn);
		this.waiting.add(turn);
		long since = System.nanoTime();
		long left = nanos;
		try {
			job.stop().add(wake);
			while (!turn.come && !this.closed && !job.stop().isSet() && left > 0) {
				left = turn.condition.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		job.stop().remove(wake);
		job.clock().waited(System.nanoTime() - since);
		boolean ends = this.closed || job.stop().isSet();
		if (turn.come && ends) {
			handOver(small);
		}
		if (!turn.come) {
			this.waiting.remove(turn);
		}
		return turn.come && !ends;
	}

	private void wake(Turn turn) {
		this.lock.lock();
		try {
			turn.condition.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A place is free: the next one who may have it gets it. */
	private void handOver(boolean small) {
		this.places--;
		this.large -= (small) ? 0 : 1;
		Turn next = (this.closed) ? null
				: this.waiting.stream().filter((turn) -> hasPlace(turn.small)).findFirst().orElse(null);
		if (next != null) {
			this.waiting.remove(next);
			take(next.small);
			next.come = true;
			next.condition.signal();
		}
		else {
			this.idle.signalAll();
		}
	}

	private void take(boolean small) {
		this.places++;
		this.large += (small) ? 0 : 1;
	}

	private boolean hasPlace(boolean small) {
		return this.places < this.limits.maxRunningJobs() && (small || this.large < this.limits.maxLargeJobs());
	}

	/** Refuses a job if no more are begun. */
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

	/** The place of a job in the queue. */
	private static final class Turn {

		private final Condition condition;

		private boolean come;

		/** Whether a caller waits as well. */
		private final boolean caller;

		private final boolean small;

		private Turn(Condition condition, boolean caller, boolean small) {
			this.condition = condition;
			this.caller = caller;
			this.small = small;
		}

	}

}
