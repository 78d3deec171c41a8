package io.pipeset.job.sweep;

import java.util.function.BooleanSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Retries;
import io.pipeset.engine.lane.RetryBackoff;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.scan.RetryPolicy;
import io.pipeset.report.Ending.Cause;

/**
 * The patience of a sweep while Redis cannot be reached, as far as the job's settings
 * allow.
 */
final class SweepRetryPolicy implements RetryPolicy {

	/** A former master has not got the data of its new one. */
	private static final String LACKS_MASTER = "MASTERDOWN";

	private final JobStop stop;

	private final BooleanSupplier closed;

	/**
	 * The attempts while Redis cannot be reached, for a job with retries. They cost no
	 * retry: a single call loses nothing, and the lanes that meet the same loss pay for
	 * it.
	 */
	private final RetryBackoff losses;

	/** The attempts while Redis is busy or loading. Nothing is lost meanwhile. */
	private final RetryBackoff refusals;

	/**
	 * The patience of a job.
	 * @param closed whether nobody waits for an answer any longer
	 */
	SweepRetryPolicy(LaneContext job, BooleanSupplier closed) {
		this.stop = job.stop();
		this.closed = closed;
		this.losses = new RetryBackoff(job, new Retries((job.settings().retries() > 0) ? Integer.MAX_VALUE : 0));
		this.refusals = new RetryBackoff(job, new Retries(Integer.MAX_VALUE));
	}

	@Override
	public boolean isOver() {
		return this.stop.isSet() || this.closed.getAsBoolean();
	}

	@Override
	public void answered() {
		this.losses.progress();
		this.refusals.progress();
	}

	@Override
	public void pauseAfter(String command, RedisCallException failure) {
		boolean goesOn = (failure.code() != null) ? waits(failure) : this.losses.goesOn("unreachable");
		if (!goesOn) {
			this.stop.because((failure.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
					command + " could not go on, so that further keys were not found. " + failure.getMessage()
							+ ". Mend the cause there, then send the job again.");
		}
	}

	/** Waits for a server that may answer soon, or have been replaced by then. */
	private boolean waits(RedisCallException refusal) {
		String code = String.valueOf(refusal.code());
		return refusal.isTransient() && this.refusals.goesOn((code.equals(LACKS_MASTER)) ? "cluster-wait" : code);
	}

}
