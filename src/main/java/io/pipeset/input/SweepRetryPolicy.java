package io.pipeset.input;

import java.util.function.BooleanSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Retries;
import io.pipeset.engine.lane.RetryBackoff;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.scan.RetryPolicy;
import io.pipeset.report.Ending.Cause;

/** The retry policy of a sweep's calls, from the settings of its job. */
final class SweepRetryPolicy implements RetryPolicy {

	/**
	 * The error code of a former master that has not synchronized with its new master.
	 */
	private static final String MASTER_DOWN = "MASTERDOWN";

	private final JobStop stop;

	private final BooleanSupplier closed;

	/**
	 * The backoff while Redis cannot be reached, for a job with retries. It costs no
	 * retry, because a single call loses nothing and the lanes count the same loss.
	 */
	private final RetryBackoff lossBackoff;

	/** The backoff while Redis is busy or loading, when nothing is lost. */
	private final RetryBackoff refusalBackoff;

	/**
	 * The retry policy of a job.
	 * @param closed whether the reply is no longer needed
	 */
	SweepRetryPolicy(LaneContext job, BooleanSupplier closed) {
		this.stop = job.stop();
		this.closed = closed;
		this.lossBackoff = new RetryBackoff(job, new Retries((job.settings().retries() > 0) ? Integer.MAX_VALUE : 0));
		this.refusalBackoff = new RetryBackoff(job, new Retries(Integer.MAX_VALUE));
	}

	@Override
	public boolean isOver() {
		return this.stop.isSet() || this.closed.getAsBoolean();
	}

	@Override
	public void answered() {
		this.lossBackoff.progress();
		this.refusalBackoff.progress();
	}

	@Override
	public void backOffAfter(String command, RedisCallException failure) {
		boolean goesOn = (failure.code() != null) ? waitAfter(failure) : this.lossBackoff.goesOn("unreachable");
		if (!goesOn) {
			this.stop.stop((failure.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
					command + " failed, so that further keys were not found. " + failure.getMessage()
							+ ". Fix the cause, then send the job again.");
		}
	}

	/** Waits if the server may reply soon, or may soon be replaced. */
	private boolean waitAfter(RedisCallException refusal) {
		String code = String.valueOf(refusal.code());
		return refusal.isTransient() && this.refusalBackoff.goesOn((code.equals(MASTER_DOWN)) ? "cluster-wait" : code);
	}

}
