package io.pipeset.run;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.report.JobClock;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Enforces {@code rateLimit} and {@code maxLatency} of a job, by spreading its records
 * evenly over time. While a record waits, the earlier records are sent, and the job holds
 * no idle connection. After a delay, the job does not catch up with a burst.
 */
final class RateLimiter implements AutoCloseable {

	/** How early or late a record may be, because a sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** How early with {@code maxLatency}, because other clients wait for each burst. */
	private static final long SHORT_SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long LONGEST_SLEEP_MILLIS = 50;

	private final RateLimit limit;

	private final Lanes lanes;

	private final JobStop stop;

	private final JobClock clock;

	private final @Nullable LatencyRateLimit latencyLimit;

	private final long earlyNanos;

	private final AtomicLong passed = new AtomicLong();

	/** The limit for which {@link #records} are counted. */
	private long recordsPerSecond;

	/** When the count began, by {@link System#nanoTime}. */
	private long since;

	/** The records sent since then. */
	private long records;

	private long waitedNanos;

	/**
	 * Limits the rate of a job.
	 * @param maxLatency the latency that slows the job down; {@code null} for none.
	 */
	RateLimiter(RateLimit limit, @Nullable Duration maxLatency, Lanes lanes, LaneContext context) {
		this.limit = limit;
		this.lanes = lanes;
		this.stop = context.stop();
		this.clock = context.clock();
		this.earlyNanos = (maxLatency != null) ? SHORT_SLACK_NANOS : SLACK_NANOS;
		this.latencyLimit = (maxLatency != null) ? new LatencyRateLimit(maxLatency, context.nodes()::named, this.clock,
				this.passed::get, System::nanoTime) : null;
	}

	/** Starts to measure the latency, if the job has a limit of it. */
	void open() {
		if (this.latencyLimit != null) {
			this.latencyLimit.open();
		}
	}

	@Override
	public void close() {
		if (this.latencyLimit != null) {
			this.latencyLimit.close();
		}
	}

	/** Waits until the next record is due, or the job stops. */
	void await() {
		long perSecond = perSecond();
		if (this.recordsPerSecond != perSecond) {
			this.recordsPerSecond = perSecond;
			this.records = 0;
		}
		if (perSecond > 0) {
			awaitDue();
		}
		if (this.latencyLimit != null) {
			this.passed.lazySet(this.passed.getPlain() + 1);
		}
	}

	/** The lower one of the two limits; 0 for none. */
	private long perSecond() {
		long limit = this.limit.perSecond();
		if (this.latencyLimit == null) {
			return limit;
		}
		return (limit > 0) ? Math.min(limit, this.latencyLimit.perSecond()) : this.latencyLimit.perSecond();
	}

	private void awaitDue() {
		long now = System.nanoTime();
		long due = this.since + this.records * TimeUnit.SECONDS.toNanos(1) / this.recordsPerSecond;
		if (this.records == 0 || now - due > SLACK_NANOS) {
			this.since = now;
			this.records = 0;
		}
		else if (due - now > this.earlyNanos) {
			this.lanes.lend();
			try {
				sleepUntil(due);
			}
			finally {
				this.lanes.reclaim();
				long waited = System.nanoTime() - now;
				this.waitedNanos += waited;
				if (this.recordsPerSecond != this.limit.perSecond()) {
					this.clock.throttled(waited);
				}
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
			for (long early; !this.stop.isSet() && perSecond() == this.recordsPerSecond
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
