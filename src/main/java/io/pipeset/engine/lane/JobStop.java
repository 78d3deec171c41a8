package io.pipeset.engine.lane;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Tells all threads of a job whether the job has to stop writing, and why. The first
 * reason stays, unless a defect of the service is found later. A stop wakes all threads
 * that wait for the job.
 */
public final class JobStop implements StopSignal {

	/** What to do about a job that may have run in part; the end of a sentence. */
	static final String SEND_THE_REST = "send again what did not run";

	private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

	private final CountDownLatch stopped = new CountDownLatch(1);

	private volatile boolean cancelled;

	private volatile boolean closing;

	private volatile boolean shuttingDown;

	private final Set<Runnable> wakers = ConcurrentHashMap.newKeySet();

	/**
	 * Stops the job.
	 * @param detail the event and its remedy, for the caller
	 */
	public void stop(Cause cause, String detail) {
		this.shuttingDown |= cause == Cause.SHUTTING_DOWN;
		Ending first = this.ending.getAndAccumulate(new Ending(cause, detail), JobStop::prefer);
		if (first == null) {
			this.stopped.countDown();
			this.wakers.forEach(Runnable::run);
		}
	}

	/**
	 * Stops the job because a caller asked for that. The job counts as cancelled even if
	 * a shutdown came first.
	 * @param detail the request to cancel, for the caller
	 */
	public void cancel(String detail) {
		this.cancelled = true;
		Ending cancelled = new Ending(Cause.CANCELLED, detail);
		stop(cancelled.cause(), detail);
		this.ending
			.updateAndGet((first) -> (first != null && first.cause() == Cause.SHUTTING_DOWN) ? cancelled : first);
	}

	/** Whether a caller has asked to cancel the job. */
	public boolean isCancelled() {
		return this.cancelled;
	}

	/** Marks that the service takes no more jobs. It ends once this job has ended. */
	public void serviceCloses() {
		this.closing = true;
	}

	/**
	 * Whether the service takes no more jobs.
	 * @return {@code true} from then on
	 */
	public boolean isClosing() {
		return this.closing || this.shuttingDown;
	}

	/**
	 * Stops the job because there is no connection.
	 * @param then what the caller has to do; the end of a sentence
	 */
	public void stop(NoConnectionException ex, String then) {
		stop((ex.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE, ex.advice(then));
	}

	/** Stops the job because of a defect of the service. */
	public void becauseOfDefect(Throwable cause) {
		stop(Cause.INTERNAL_SERVER_ERROR, "A defect of the service stopped the job: " + cause);
	}

	@Override
	public boolean isSet() {
		return this.ending.get() != null;
	}

	@Override
	public void add(Runnable wake) {
		this.wakers.add(wake);
		if (isSet()) {
			wake.run();
		}
	}

	@Override
	public void remove(Runnable wake) {
		this.wakers.remove(wake);
	}

	/**
	 * Whether the service is shutting down, even if the job was stopped for another
	 * reason before.
	 * @return {@code true} from then on
	 */
	public boolean isShuttingDown() {
		return this.shuttingDown;
	}

	@Override
	public boolean await(long nanos) {
		try {
			return this.stopped.await(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return true;
		}
	}

	/**
	 * The reason for the stop.
	 * @return the reason, or {@code null} if the job is not stopped
	 */
	public @Nullable Ending ending() {
		return this.ending.get();
	}

	private static Ending prefer(@Nullable Ending first, Ending later) {
		boolean defect = later.cause() == Cause.INTERNAL_SERVER_ERROR;
		return (first == null || (defect && first.cause() != Cause.INTERNAL_SERVER_ERROR)) ? later : first;
	}

}
