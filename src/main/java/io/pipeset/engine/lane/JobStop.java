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
 * Tells all threads of a job whether it is to write nothing more, and why. The first
 * reason stays, unless a defect of the service is found later. A stop wakes all threads
 * that wait on behalf of the job.
 */
public final class JobStop implements StopSignal {

	/** What to do about a job of which a part may have run, the end of a sentence. */
	static final String SEND_THE_REST = "send again what did not run";

	private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

	private final CountDownLatch set = new CountDownLatch(1);

	private volatile boolean closing;

	private volatile boolean shuttingDown;

	private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

	/**
	 * Stops the job.
	 * @param detail the event and its remedy, for the caller to read
	 */
	public void because(Cause cause, String detail) {
		this.shuttingDown |= cause == Cause.SHUTTING_DOWN;
		Ending first = this.ending.getAndAccumulate(new Ending(cause, detail), JobStop::stronger);
		if (first == null) {
			this.set.countDown();
			this.waiting.forEach(Runnable::run);
		}
	}

	/**
	 * Stops the job because a caller asked for that. A shutdown that came first does not
	 * keep the job from being cancelled.
	 * @param detail what was asked for, for the caller to read
	 */
	public void cancel(String detail) {
		Ending cancelled = new Ending(Cause.CANCELLED, detail);
		because(cancelled.cause(), detail);
		this.ending
			.updateAndGet((first) -> (first != null && first.cause() == Cause.SHUTTING_DOWN) ? cancelled : first);
	}

	/** The service takes no more jobs, and ends once this one has, or is stopped. */
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
	 * @param then what its caller is to do then, the end of a sentence
	 */
	public void because(NoConnectionException ex, String then) {
		because((ex.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE, ex.advice(then));
	}

	/** Stops the job because of an exception that is a defect of the service. */
	public void becauseOfDefect(Throwable cause) {
		because(Cause.INTERNAL_SERVER_ERROR, "By a defect of the service: " + cause);
	}

	@Override
	public boolean isSet() {
		return this.ending.get() != null;
	}

	@Override
	public void add(Runnable wake) {
		this.waiting.add(wake);
		if (isSet()) {
			wake.run();
		}
	}

	@Override
	public void remove(Runnable wake) {
		this.waiting.remove(wake);
	}

	/**
	 * Whether the service is about to end, even if the job was stopped for another reason
	 * before.
	 * @return {@code true} from then on
	 */
	public boolean isShuttingDown() {
		return this.shuttingDown;
	}

	@Override
	public boolean await(long nanos) {
		try {
			return this.set.await(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return true;
		}
	}

	/**
	 * The reason for which the job was stopped.
	 * @return the reason, or {@code null} while it goes on
	 */
	public @Nullable Ending ending() {
		return this.ending.get();
	}

	private static Ending stronger(@Nullable Ending first, Ending later) {
		boolean defect = later.cause() == Cause.INTERNAL_SERVER_ERROR;
		return (first == null || (defect && first.cause() != Cause.INTERNAL_SERVER_ERROR)) ? later : first;
	}

}
