package io.pipeset.job.run;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.job.RateLimit;

/**
 * Spreads a job's records over time. A record that is early waits, as it would for a
 * pause in the input: the records before it go out, and no connection is held meanwhile.
 * Records that could not be sent in time are not made up for by a burst.
 */
final class Pace {

	/** How early or late a record may be. A sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_SLEEP_MILLIS = 50;

	private final RateLimit limit;

	private final Lanes lanes;

	private final JobStop stop;

	/** The pace that the records below are counted for. */
	private long recordsPerSecond;

	private long since;

	private long records;

	private long waitedNanos;

	Pace(RateLimit limit, Lanes lanes, JobStop stop) {
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

	/** How long records have waited. */
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
