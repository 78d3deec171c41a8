package io.pipeset.job;

import java.util.concurrent.TimeUnit;

import io.pipeset.lane.JobStop;
import io.pipeset.lane.Lanes;

/**
 * Spreads a job's records over time. A record that is early waits, as it would for a
 * pause in the input: the records before it go out, and no connection is held meanwhile.
 * Records that could not be sent in time are not made up for by a burst.
 */
final class Pace {

	/** How early or late a record may be. A sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long LONGEST_SLEEP_MILLIS = 50;

	private final long recordsPerSecond;

	private final Lanes lanes;

	private final JobStop stop;

	private long since;

	private long records;

	private long waitedNanos;

	Pace(long recordsPerSecond, Lanes lanes, JobStop stop) {
		this.recordsPerSecond = recordsPerSecond;
		this.lanes = lanes;
		this.stop = stop;
	}

	/** Waits until the next record is due, or the job stops. */
	void await() {
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
			for (long early; !this.stop.isSet() && (early = due - System.nanoTime()) > 0;) {
				long millis = Math.min(TimeUnit.NANOSECONDS.toMillis(early) + 1, LONGEST_SLEEP_MILLIS);
				Thread.sleep(millis);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
