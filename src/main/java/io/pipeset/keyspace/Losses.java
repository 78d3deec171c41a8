package io.pipeset.keyspace;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.pipeset.lane.JobStop;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The patience of an analysis after a loss. It only reads, so it tries again and again,
 * with growing pauses, until it has not got on for as long as its timeout.
 */
final class Losses {

	private static final ExponentialBackOff PAUSES = pauses();

	private final Duration timeout;

	private final JobStop stop;

	/** The pauses since the analysis last got on. */
	private @Nullable BackOffExecution pauses;

	private long deadline;

	Losses(Duration timeout, JobStop stop) {
		this.timeout = timeout;
		this.stop = stop;
	}

	/** Redis has answered again. */
	void progress() {
		this.pauses = null;
	}

	/** Pauses, or stops the analysis if its timeout is over. */
	void pauseAfter(String detail) {
		if (this.pauses == null) {
			this.pauses = PAUSES.start();
			this.deadline = System.nanoTime() + this.timeout.toNanos();
		}
		long left = this.deadline - System.nanoTime();
		if (left <= 0) {
			this.stop.because(Cause.REDIS_LOST, detail + ". The analysis tried to go on for its whole timeout;"
					+ " its totals are those of the keys looked at so far");
		}
		else {
			this.stop.await(Math.min(TimeUnit.MILLISECONDS.toNanos(this.pauses.nextBackOff()), left));
		}
	}

	private static ExponentialBackOff pauses() {
		ExponentialBackOff pauses = new ExponentialBackOff(20, 2);
		pauses.setJitter(10);
		pauses.setMaxInterval(1000);
		return pauses;
	}

}
