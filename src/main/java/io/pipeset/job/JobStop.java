package io.pipeset.job;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Whether a job is to write nothing more, and why; known to all of its threads. The first
 * reason stays.
 */
final class JobStop {

	private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

	private final CountDownLatch set = new CountDownLatch(1);

	/**
	 * Stops the job.
	 * @param cause the kind of end
	 * @param detail what happened and what to do about it
	 */
	void because(Cause cause, String detail) {
		this.ending.compareAndSet(null, new Ending(cause, detail));
		this.set.countDown();
	}

	boolean isSet() {
		return this.ending.get() != null;
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

}
