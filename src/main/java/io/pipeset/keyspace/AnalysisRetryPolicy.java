package io.pipeset.keyspace;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.scan.RetryPolicy;
import io.pipeset.report.Ending.Cause;

/**
 * The patience of an analysis after a loss. It only reads, so it tries again and again,
 * with growing pauses, until it has not got on for as long as its timeout.
 */
final class AnalysisRetryPolicy implements RetryPolicy {

	private final JobStop stop;

	private final String server;

	private final BooleanSupplier isOver;

	private boolean hasBegun;

	/** The pauses since the analysis last got on. */
	private final Backoff pauses;

	/**
	 * The patience with one server, or with all of them.
	 * @param server begins the messages; empty where it need not be named
	 * @param hasBegun whether the analysis has begun to look at keys. Before that it does
	 * not wait for a server that is not there
	 * @param isOver whether nobody waits for an answer any longer
	 */
	AnalysisRetryPolicy(Duration timeout, JobStop stop, String server, boolean hasBegun, BooleanSupplier isOver) {
		this.pauses = new Backoff(timeout, stop);
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
		this.pauses.end();
	}

	/** Keys are looked at. */
	void begun() {
		this.hasBegun = true;
		this.pauses.end();
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
		if (!this.pauses.next()) {
			this.stop.because(Cause.REDIS_LOST,
					this.server + detail + ". The analysis tried to go on for its whole timeout;"
							+ " its totals are those of the keys looked at so far");
		}
	}

}
