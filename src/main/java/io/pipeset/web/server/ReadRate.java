package io.pipeset.web.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The pace at which a caller reads its answer. It is looked at in periods, as the kernel
 * takes some megabytes at once whether they are read or not.
 */
final class ReadRate {

	/** 1 MB in five seconds, as a body that is dropped has to come. */
	private static final long LEAST_BYTES_PER_SECOND = (1 << 20) / 5;

	private final long periodNanos;

	private long began;

	private long bytes;

	private boolean slow;

	private boolean begun;

	ReadRate(Duration period) {
		this.periodNanos = period.toNanos();
	}

	/**
	 * Takes note of how much was read.
	 * @param now the time, in nanoseconds
	 * @param bytes the size of what was read so far
	 * @return whether the last period had too little
	 */
	synchronized boolean isSlow(long now, long bytes) {
		if (!this.begun || now - this.began >= this.periodNanos) {
			long least = (now - this.began) * LEAST_BYTES_PER_SECOND / TimeUnit.SECONDS.toNanos(1);
			this.slow = this.begun && bytes - this.bytes < least;
			this.begun = true;
			this.began = now;
			this.bytes = bytes;
		}
		return this.slow;
	}

}
