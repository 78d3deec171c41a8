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
 * The retry policy of an analysis. An analysis only reads, so it retries with growing
 * backoff until it has made no progress for its whole timeout.
 */
final class AnalysisRetryPolicy implements RetryPolicy {

	private final JobStop stop;

	private final String server;

	private final BooleanSupplier isOver;

	private boolean hasBegun;

	/** The backoff since the analysis last made progress. */
	private final Backoff backoff;

	/**
	 * Creates a policy for one server, or for all of them.
	 * @param server the prefix of messages; empty if the server need not be named
	 * @param hasBegun whether the analysis has counted keys; before that an unreachable
	 * server ends it at once
	 * @param isOver whether the result is no longer needed
	 */
	AnalysisRetryPolicy(Duration timeout, JobStop stop, String server, boolean hasBegun, BooleanSupplier isOver) {
		this.backoff = new Backoff(timeout, stop);
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
		this.backoff.end();
	}

	/** Notes that keys were counted. From now on the analysis retries after losses. */
	void markBegun() {
		this.hasBegun = true;
		this.backoff.end();
	}

	@Override
	public void backOffAfter(String command, RedisCallException failure) {
		if (failure.isSilent() && failure.getCause() instanceof NoConnectionException none) {
			backOffAfter(none);
		}
		else if (failure.isSilent() && !this.hasBegun) {
			this.stop.stop(Cause.REDIS_UNREACHABLE, this.server + failure.getMessage() + ". Send the analysis again.");
		}
		else if (failure.isTransient()) {
			backOffAfter(String.valueOf(failure.getMessage()));
		}
		else {
			this.stop.stop(Cause.REDIS_REFUSES,
					command + ": " + failure.getMessage() + ". Allow it by ACL SETUSER <user> +cluster|nodes");
		}
	}

	/** Backs off after a failed connection attempt, or stops the analysis. */
	void backOffAfter(NoConnectionException failure) {
		if (this.hasBegun) {
			backOffAfter(String.valueOf(failure.getMessage()));
		}
		else {
			this.stop.stop(failure, "send the analysis again");
		}
	}

	/** Backs off, or stops the analysis if it made no progress for its whole timeout. */
	void backOffAfter(String detail) {
		if (!this.backoff.next()) {
			this.stop.stop(Cause.REDIS_LOST,
					this.server + detail + ". The analysis retried for its whole timeout without progress;"
							+ " its totals include the keys counted until then");
		}
	}

}
