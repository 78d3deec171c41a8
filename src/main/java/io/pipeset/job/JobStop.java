package io.pipeset.job;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.pipeline.StopSignal;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Whether a job is to write nothing more, and why; known to all of its threads. The first
 * reason stays, unless a defect of the service is found later. Whoever waits on behalf of
 * the job is woken.
 */
final class JobStop implements StopSignal {

	private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

	private final CountDownLatch set = new CountDownLatch(1);

	private volatile boolean shuttingDown;

	private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

	/**
	 * Stops the job.
	 * @param cause the kind of end
	 * @param detail what happened and what to do about it
	 */
	void because(Cause cause, String detail) {
		this.shuttingDown |= cause == Cause.SHUTTING_DOWN;
		Ending first = this.ending.getAndAccumulate(new Ending(cause, detail), JobStop::stronger);
		if (first == null) {
			this.set.countDown();
			this.waiting.forEach(Runnable::run);
		}
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

	/** Whether the service is about to end, whatever the job was stopped for before. */
	boolean isShuttingDown() {
		return this.shuttingDown;
	}

	/** Pauses; {@code true} as soon as the job is to end, or the thread. */
	boolean await(long nanos) {
		try {
			return this.set.await(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return true;
		}
	}

	@Nullable Ending ending() {
		return this.ending.get();
	}

	private static Ending stronger(@Nullable Ending first, Ending later) {
		boolean defect = later.cause() == Cause.INTERNAL_SERVER_ERROR;
		return (first == null || (defect && first.cause() != Cause.INTERNAL_SERVER_ERROR)) ? later : first;
	}

}
