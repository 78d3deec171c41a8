package io.pipeset.engine.pipeline;

import java.time.Duration;

/**
 * Watches for how long Redis is silent while answers of a connection are waited for, and
 * closes the connection when that is too long. For the thread that waits.
 */
public final class SilenceWatch {

	private final Pipeline pipeline;

	private final Duration timeout;

	private final Duration closing;

	private long waitingSince;

	private long abandonedSince;

	/**
	 * A watch, of a connection on which nothing is waited for yet.
	 * @param timeout the longest silence
	 * @param closing the longest that closing the connection may take
	 */
	public SilenceWatch(Pipeline pipeline, Duration timeout, Duration closing) {
		this.pipeline = pipeline;
		this.timeout = timeout;
		this.closing = closing;
	}

	/** Something is waited for from now on, or has come. */
	public void restart() {
		this.waitingSince = System.nanoTime();
	}

	/**
	 * The time for which Redis may still be silent.
	 * @return nanoseconds; 0 or less if it was silent for too long
	 */
	public long leftNanos() {
		return leftNanos(Long.MAX_VALUE);
	}

	/**
	 * The same, with a shorter timeout.
	 * @param mostNanos the longest silence, if it is shorter than the timeout
	 */
	public long leftNanos(long mostNanos) {
		long now = System.nanoTime();
		if (this.abandonedSince != 0) {
			return this.closing.toNanos() - (now - this.abandonedSince);
		}
		long silence = Math.min(now - this.pipeline.heardNanos(), now - this.waitingSince);
		return Math.min(this.timeout.toNanos(), mostNanos) - silence;
	}

	/**
	 * Closes the connection after a silence that was too long.
	 * @return {@code false} if it was closed before, and has not ended since
	 */
	public boolean abandon() {
		if (this.abandonedSince != 0) {
			return false;
		}
		this.abandonedSince = System.nanoTime();
		this.pipeline.abandon();
		return true;
	}

}
