package io.pipeset.keyspace;

import java.util.concurrent.TimeUnit;

import io.pipeset.request.RateLimit;

/**
 * Spreads the keys of an analysis evenly over time, over all servers together. After a
 * delay the analysis does not catch up with a burst.
 */
final class KeyRate {

	/** How early a page may be requested, because a sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final RateLimit limit;

	/** When the keys before the last page were due, by {@link System#nanoTime()}. */
	private long since = System.nanoTime();

	private long keys;

	KeyRate(RateLimit limit) {
		this.limit = limit;
	}

	boolean isLimited() {
		return this.limit.perSecond() > 0;
	}

	/** Counts the keys of a page. */
	synchronized void add(int keys) {
		this.since = Math.max(due(), System.nanoTime() - SLACK_NANOS);
		this.keys = keys;
	}

	private long due() {
		long rate = this.limit.perSecond();
		return (rate > 0) ? this.since + (long) ((double) this.keys * TimeUnit.SECONDS.toNanos(1) / rate) : this.since;
	}

	/** How long to wait before the next page, in nanoseconds; 0 if it is due. */
	synchronized long nanosUntilDue() {
		long early = (isLimited()) ? due() - System.nanoTime() : 0;
		return (early > SLACK_NANOS) ? early : 0;
	}

}
