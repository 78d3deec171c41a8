package io.pipeset.input;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.engine.lane.JobStop;

/**
 * Wakes the thread that reads an upload when the job is stopped while the upload is idle,
 * so that the report does not wait for the caller.
 */
final class StoppedUpload {

	/**
	 * How long an input must be idle before it is ended. It is not ended at once, because
	 * data that arrives at a closed input resets the connection, so that the response is
	 * lost.
	 */
	private static final Duration IDLE_TIME = Duration.ofSeconds(1);

	private static final long POLL_MILLIS = 100;

	private final JobStop stop;

	private final Executor executor;

	private final Caller caller;

	private final CountDownLatch read = new CountDownLatch(1);

	private final AtomicBoolean started = new AtomicBoolean();

	private final Runnable wake = this::start;

	StoppedUpload(JobStop stop, Executor executor, Caller caller) {
		this.stop = stop;
		this.executor = executor;
		this.caller = caller;
		stop.add(this.wake);
	}

	private void start() {
		if (this.started.getAndSet(true)) {
			return;
		}
		try {
			this.executor.execute(this::endInputWhenIdle);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// Without a thread, the upload ends by its idle timeout.
		}
	}

	private void endInputWhenIdle() {
		try {
			while (!this.read.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
				this.caller.endInputIfPaused(IDLE_TIME);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Ends the watch, because the upload was read. */
	void end() {
		this.stop.remove(this.wake);
		this.read.countDown();
	}

}
