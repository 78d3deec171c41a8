package io.pipeset.keyspace;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.walk.Patience;
import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The patience of an analysis after a loss. It only reads, so it tries again and again,
 * with growing pauses, until it has not got on for as long as its timeout.
 */
final class AnalysisPatience implements Patience {

	private static final ExponentialBackOff PAUSES = pauses();

	private final Duration timeout;

	private final JobStop stop;

	private final String server;

	private final BooleanSupplier isOver;

	private boolean hasBegun;

	/** The pauses since the analysis last got on. */
	private @Nullable BackOffExecution pauses;

	private long deadline;

	/**
	 * The patience with one server, or with all of them.
	 * @param server begins the messages; empty where it need not be named
	 * @param hasBegun whether the analysis has begun to look at keys. Before that it does
	 * not wait for a server that is not there
	 * @param isOver whether nobody waits for an answer any longer
	 */
	AnalysisPatience(Duration timeout, JobStop stop, String server, boolean hasBegun, BooleanSupplier isOver) {
		this.timeout = timeout;
		this.stop = stop;
		this.server = server;
		this.hasBegun = hasBegun;
		this.isOver = isOver;
	}

	@Override
	public boolean isOver() {
		return this.isOver.getAsBoolean();
	}

	@Override
	public void answered() {
		this.pauses = null;
	}

	/** Keys are looked at. */
	void begun() {
		this.hasBegun = true;
		this.pauses = null;
	}

	@Override
	public void pauseAfter(String command, RedisCallException failure) {
		if (failure.isSilent() && failure.getCause() instanceof NoConnectionException none) {
			pauseAfter(none);
		}
		else if (failure.isSilent() && !this.hasBegun) {
			this.stop.because(Cause.REDIS_UNREACHABLE,
					this.server + failure.getMessage() + ". Send the analysis again.");
		}
		else if (failure.isTransient()) {
			pauseAfter(String.valueOf(failure.getMessage()));
		}
		else {
			this.stop.because(Cause.REDIS_REFUSES,
					command + ": " + failure.getMessage() + ". Permit it by ACL SETUSER <user> +cluster|nodes");
		}
	}

	/** Pauses after there was no connection, or stops the analysis. */
	void pauseAfter(NoConnectionException failure) {
		if (this.hasBegun) {
			pauseAfter(String.valueOf(failure.getMessage()));
		}
		else {
			this.stop.because(failure, "send the analysis again");
		}
	}

	/** Pauses, or stops the analysis if its timeout is over. */
	void pauseAfter(String detail) {
		if (this.pauses == null) {
			this.pauses = PAUSES.start();
			this.deadline = System.nanoTime() + this.timeout.toNanos();
		}
		long left = this.deadline - System.nanoTime();
		if (left <= 0) {
			this.stop.because(Cause.REDIS_LOST,
					this.server + detail + ". The analysis tried to go on for its whole timeout;"
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
