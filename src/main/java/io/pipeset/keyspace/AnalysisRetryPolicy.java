package io.pipeset.keyspace;

import java.util.Locale;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.scan.RetryPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * The retry policy of an analysis. An analysis only reads, so it retries with growing
 * backoff until it has made no progress for its whole timeout.
 */
final class AnalysisRetryPolicy implements RetryPolicy {

	private final RedisNodes nodes;

	private final JobStop stop;

	private final @Nullable String master;

	private final BooleanSupplier isOver;

	private boolean hasBegun;

	/** The backoff since the analysis last made progress. */
	private final Backoff backoff;

	/**
	 * Creates a policy for one server, or for all of them.
	 * @param master the server, for messages; {@code null} if it need not be named
	 * @param hasBegun whether the analysis has counted keys; before that an unreachable
	 * server ends it at once
	 * @param isOver whether the result is no longer needed
	 */
	AnalysisRetryPolicy(AnalysisRun run, @Nullable String master, boolean hasBegun, BooleanSupplier isOver) {
		this.nodes = run.nodes();
		this.stop = run.task().stop();
		this.backoff = new Backoff(run.settings().timeout(), this.stop);
		this.master = master;
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

	/** Whether the same command may succeed after a backoff. */
	boolean isTemporary(RedisCallException failure) {
		String code = failure.code();
		return code == null || RedisErrors.means(code, Meaning.TRANSIENT) || this.nodes.redirects(code);
	}

	@Override
	public void backOffAfter(String command, RedisCallException failure) {
		if (!isTemporary(failure)) {
			this.stop.stop(Cause.REDIS_REFUSES, refusal(command, failure) + advice(command, failure));
		}
		else if (this.hasBegun || !failure.isSilent()) {
			backOffAfter(String.valueOf(failure.getMessage()));
		}
		else if (failure.getCause() instanceof NoConnectionException none) {
			this.stop.stop(none, "send the analysis again");
		}
		else {
			this.stop.stop(Cause.REDIS_UNREACHABLE, prefix() + failure.getMessage() + ". Send the analysis again.");
		}
	}

	/** Backs off, or stops the analysis if it made no progress for its whole timeout. */
	void backOffAfter(String detail) {
		if (!this.backoff.next()) {
			this.stop.stop(Cause.REDIS_LOST,
					prefix() + detail + ". The analysis retried for its whole timeout without progress;"
							+ " its totals include the keys counted until then");
		}
	}

	private String prefix() {
		return (this.master != null) ? this.master + ": " : "";
	}

	/** Says that Redis refused a command. Each master has its own ACL users. */
	String refusal(String command, RedisCallException failure) {
		return "Redis" + ((this.master != null) ? " at " + this.master : "") + " refused " + command + ": "
				+ NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
	}

	private static String advice(String command, RedisCallException failure) {
		return (failure.isOfCommand()) ? ". Allow it by ACL SETUSER <user> +" + command.toLowerCase(Locale.ROOT)
				+ "; if the user may read only some keys, select them with 'match'" : "";
	}

}
