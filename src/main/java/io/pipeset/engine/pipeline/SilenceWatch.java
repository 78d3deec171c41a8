package io.pipeset.engine.pipeline;

import java.time.Duration;

/**
 * Measures how long Redis sends nothing while replies are expected on a connection, and
 * closes the connection if that takes too long. Only the waiting thread uses it.
 */
public final class SilenceWatch {

	private final Pipeline pipeline;

	private final Duration timeout;

	private final Duration closingTimeout;

	private long waitStartNanos;

	/** When the connection was closed, by {@link System#nanoTime()}; 0 if it is open. */
	private long abandonedNanos;

	/**
	 * Watches a connection on which no reply is expected yet.
	 * @param timeout the longest time without a reply
	 * @param closingTimeout the longest time that closing the connection may take
	 */
	public SilenceWatch(Pipeline pipeline, Duration timeout, Duration closingTimeout) {
		this.pipeline = pipeline;
		this.timeout = timeout;
		this.closingTimeout = closingTimeout;
	}

	/** Restarts the measurement, because a reply is expected from now on, or has come. */
	public void restart() {
		this.waitStartNanos = System.nanoTime();
	}

	/**
	 * How much longer to wait for a reply.
	 * @return nanoseconds; 0 or less if the time is over
	 */
	public long leftNanos() {
		long now = System.nanoTime();
		if (this.abandonedNanos != 0) {
			return this.closingTimeout.toNanos() - (now - this.abandonedNanos);
		}
		long silence = Math.min(now - this.pipeline.lastReadNanos(), now - this.waitStartNanos);
		return this.timeout.toNanos() - silence;
	}

	/**
	 * Closes the connection because the time is over.
	 * @return {@code false} if this watch has already closed it
	 */
	public boolean abandon() {
		if (this.abandonedNanos != 0) {
			return false;
		}
		this.abandonedNanos = System.nanoTime();
		this.pipeline.abandon();
		return true;
	}

}
