package io.pipeset.keyspace;

import java.util.concurrent.TimeUnit;

import io.pipeset.job.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Spreads the keys of an analysis over time, those of all its walks together; for any
 * thread.
 */
final class KeyPace {

	/** How early a page may be. A sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final @Nullable RateLimit limit;

	/** The pace that the keys below are counted for; 0 for no limit. */
	private long rate;

	private long since;

	private long keys;

	/**
	 * A pace at which no key was looked at yet.
	 * @param limit the keys a second, which may change; {@code null} for no limit
	 */
	KeyPace(@Nullable RateLimit limit) {
		this.limit = limit;
	}

	/** Takes note of keys that are about to be looked at. */
	synchronized void scanned(int count) {
		long now = System.nanoTime();
		adjust();
		if (this.since == 0 || now - due() > SLACK_NANOS) {
			// No burst makes up for keys that could not be looked at in time.
			this.since = now;
			this.keys = 0;
		}
		this.keys += count;
	}

	/** Takes note of another pace, at which no key was looked at yet. */
	private void adjust() {
		long rate = (this.limit != null) ? this.limit.perSecond() : 0;
		if (rate != this.rate) {
			this.rate = rate;
			this.since = 0;
			this.keys = 0;
		}
	}

	private long due() {
		return (this.rate > 0) ? this.since + (long) ((double) this.keys * TimeUnit.SECONDS.toNanos(1) / this.rate)
				: this.since;
	}

	/** How long the next page has to wait, in nanoseconds; 0 if it is due. */
	synchronized long early() {
		adjust();
		long early = (this.rate > 0 && this.since != 0) ? due() - System.nanoTime() : 0;
		return (early > SLACK_NANOS) ? early : 0;
	}

}
