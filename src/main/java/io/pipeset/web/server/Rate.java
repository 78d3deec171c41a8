package io.pipeset.web.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The rate at which a caller reads its response, or sends a body that is drained. It is
 * measured over periods, because the kernel takes some megabytes at once, even if the
 * caller does not read them.
 */
final class Rate {

	/** 1 MB in five seconds. */
	private static final long MIN_BYTES_PER_SECOND = (1 << 20) / 5;

	private final long periodNanos;

	private long periodStart;

	private long bytes;

	private boolean slow;

	private boolean started;

	Rate(Duration period) {
		this.periodNanos = period.toNanos();
	}

	/**
	 * Records how many bytes were written or drained so far. A period ends with the first
	 * call after its time.
	 * @param now the value of {@link System#nanoTime}
	 * @param bytes the bytes so far
	 * @return whether there were too few bytes in the last full period
	 */
	synchronized boolean update(long now, long bytes) {
		if (!this.started || now - this.periodStart >= this.periodNanos) {
			long required = (now - this.periodStart) * MIN_BYTES_PER_SECOND / TimeUnit.SECONDS.toNanos(1);
			this.slow = this.started && bytes - this.bytes < required;
			this.started = true;
			this.periodStart = now;
			this.bytes = bytes;
		}
		return this.slow;
	}

}
