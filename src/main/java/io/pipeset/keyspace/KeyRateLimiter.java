package io.pipeset.keyspace;

import java.util.concurrent.TimeUnit;

import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Spreads the keys of an analysis evenly over time, over all servers together.
 * Thread-safe.
 */
final class KeyRateLimiter {

	/** How early a page may be requested, because a sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final @Nullable RateLimit limit;

	/** The rate in keys per second that {@link #keys} are counted for; 0 for no limit. */
	private long rate;

	private long since;

	private long keys;

	/**
	 * Creates a limiter without keys.
	 * @param limit the keys per second, which may change; {@code null} for no limit
	 */
	KeyRateLimiter(@Nullable RateLimit limit) {
		this.limit = limit;
	}

	/** Counts keys that are about to be queried. */
	synchronized void add(int count) {
		long now = System.nanoTime();
		adjust();
		if (this.since == 0 || now - due() > SLACK_NANOS) {
			// The analysis is late: it does not catch up with a burst.
			this.since = now;
			this.keys = 0;
		}
		this.keys += count;
	}

	/** Starts to count again if the rate was changed. */
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

	/** How long to wait before the next page, in nanoseconds; 0 if it is due. */
	synchronized long nanosUntilDue() {
		adjust();
		long early = (this.rate > 0 && this.since != 0) ? due() - System.nanoTime() : 0;
		return (early > SLACK_NANOS) ? early : 0;
	}

}
