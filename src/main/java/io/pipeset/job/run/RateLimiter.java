package io.pipeset.job.run;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.job.RateLimit;

/**
 * Enforces the rate limit of a job by spreading its records evenly over time. While a
 * record waits, the earlier records are sent, and the job holds no idle connection. After
 * a delay, the job does not catch up with a burst.
 */
final class RateLimiter {

	/** How early or late a record may be, because a sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_SLEEP_MILLIS = 50;

	private final RateLimit limit;

	private final Lanes lanes;

	private final JobStop stop;

	/** The limit for which {@link #records} are counted. */
	private long recordsPerSecond;

	/** When the count began, by {@link System#nanoTime}. */
	private long since;

	/** The records sent since then. */
	private long records;

	private long waitedNanos;

	RateLimiter(RateLimit limit, Lanes lanes, JobStop stop) {
		this.limit = limit;
		this.lanes = lanes;
		this.stop = stop;
	}

	/** Waits until the next record is due, or the job stops. */
	void await() {
		if (this.recordsPerSecond != this.limit.perSecond()) {
			this.recordsPerSecond = this.limit.perSecond();
			this.records = 0;
		}
		if (this.recordsPerSecond > 0) {
			awaitDue();
		}
	}

	private void awaitDue() {
		long now = System.nanoTime();
		long due = this.since + this.records * TimeUnit.SECONDS.toNanos(1) / this.recordsPerSecond;
		if (this.records == 0 || now - due > SLACK_NANOS) {
			this.since = now;
			this.records = 0;
		}
		else if (due - now > SLACK_NANOS) {
			this.lanes.lend();
			try {
				sleepUntil(due);
			}
			finally {
				this.lanes.reclaim();
				this.waitedNanos += System.nanoTime() - now;
			}
		}
		this.records++;
	}

	/** The total time that records have waited, in nanoseconds. */
	long waitedNanos() {
		return this.waitedNanos;
	}

	private void sleepUntil(long due) {
		try {
			for (long early; !this.stop.isSet() && this.limit.perSecond() == this.recordsPerSecond
					&& (early = due - System.nanoTime()) > 0;) {
				long millis = Math.min(TimeUnit.NANOSECONDS.toMillis(early) + 1, LONGEST_SLEEP_MILLIS);
				Thread.sleep(millis);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
