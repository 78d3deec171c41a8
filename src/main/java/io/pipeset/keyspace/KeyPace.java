package io.pipeset.keyspace;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Spreads the keys of an analysis over time, those of all its walks together; for any
 * thread.
 */
final class KeyPace {

	/** How early a page may be. A sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final @Nullable Long rateLimit;

	private long since;

	private long keys;

	/**
	 * A pace at which no key was looked at yet.
	 * @param rateLimit the keys a second; {@code null} for no limit
	 */
	KeyPace(@Nullable Long rateLimit) {
		this.rateLimit = rateLimit;
	}

	/** Takes note of keys that are about to be looked at. */
	synchronized void scanned(int count) {
		long now = System.nanoTime();
		if (this.since == 0 || now - due() > SLACK_NANOS) {
			// What could not be done in time is not made up for by a burst.
			this.since = now;
			this.keys = 0;
		}
		this.keys += count;
	}

	private long due() {
		Long rate = this.rateLimit;
		return (rate != null) ? this.since + (long) ((double) this.keys * TimeUnit.SECONDS.toNanos(1) / rate)
				: this.since;
	}

	/** How long the next page has to wait, in nanoseconds; 0 if it is due. */
	synchronized long early() {
		long early = (this.rateLimit != null && this.since != 0) ? due() - System.nanoTime() : 0;
		return (early > SLACK_NANOS) ? early : 0;
	}

}
