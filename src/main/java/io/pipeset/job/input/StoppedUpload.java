package io.pipeset.job.input;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.engine.lane.JobStop;

/**
 * Wakes the thread that reads an upload when the job is stopped while its caller pauses,
 * so that the report does not wait for the pause to end.
 */
final class StoppedUpload {

	/**
	 * How long an input has to pause before it is ended. It is not ended at once, since
	 * data that arrive at a closed input reset the connection, and the answer with it.
	 */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	private static final long LOOK_MILLIS = 100;

	private final JobStop stop;

	private final Executor executor;

	private final Caller caller;

	private final CountDownLatch read = new CountDownLatch(1);

	private final AtomicBoolean begun = new AtomicBoolean();

	private final Runnable wake = this::begin;

	StoppedUpload(JobStop stop, Executor executor, Caller caller) {
		this.stop = stop;
		this.executor = executor;
		this.caller = caller;
		stop.add(this.wake);
	}

	private void begin() {
		if (this.begun.getAndSet(true)) {
			return;
		}
		try {
			this.executor.execute(this::endWhenPaused);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// Without a thread for it, the upload ends with its own idle timeout.
		}
	}

	private void endWhenPaused() {
		try {
			while (!this.read.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
				this.caller.endInputIfPaused(PAUSE);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** The upload has been read. */
	void end() {
		this.stop.remove(this.wake);
		this.read.countDown();
	}

}
