package io.pipeset.sweep;

import java.util.Optional;
import java.util.function.BooleanSupplier;

import io.pipeset.lane.JobStop;
import io.pipeset.lane.LaneContext;
import io.pipeset.lane.Retries;
import io.pipeset.lane.RetryPauses;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.report.Ending.Cause;

/**
 * Makes single calls for a sweep, each of them again and again while Redis cannot be
 * reached, as far as the job's settings allow. One thread at a time does so.
 */
final class PatientCalls {

	/** A former master has not got the data of its new one. */
	private static final String LACKS_MASTER = "MASTERDOWN";

	private final JobStop stop;

	private final boolean inCluster;

	private final BooleanSupplier closed;

	/**
	 * The attempts while Redis cannot be reached, for a job with retries. They cost no
	 * retry: a single call loses nothing, and the lanes that meet the same loss pay for
	 * it.
	 */
	private final RetryPauses losses;

	/** The attempts while Redis is busy or loading. Nothing is lost meanwhile. */
	private final RetryPauses refusals;

	/**
	 * Calls of a job.
	 * @param closed whether nobody waits for an answer any longer
	 */
	PatientCalls(LaneContext job, BooleanSupplier closed) {
		this.stop = job.stop();
		this.inCluster = job.nodes().isCluster();
		this.closed = closed;
		this.losses = new RetryPauses(job, new Retries((job.settings().retries() > 0) ? Integer.MAX_VALUE : 0));
		this.refusals = new RetryPauses(job, new Retries(Integer.MAX_VALUE));
	}

	/**
	 * Makes a call until it is answered.
	 * @param command the name of its command, for messages
	 * @param isNeedless whether an answer is no longer needed, asked where there was none
	 * @return the answer; empty if the job is stopped, or the answer is not needed
	 */
	<T> Optional<T> make(String command, Call<T> call, BooleanSupplier isNeedless) {
		while (!this.stop.isSet() && !this.closed.getAsBoolean()) {
			try {
				T answer = call.make();
				this.losses.progress();
				this.refusals.progress();
				return Optional.of(answer);
			}
			catch (RedisCallException ex) {
				if (isNeedless.getAsBoolean()) {
					return Optional.empty();
				}
				boolean goesOn = (ex.code() != null) ? waits(ex) : this.losses.goesOn("unreachable");
				if (!goesOn) {
					end(command, ex.isRefusal(), ex);
				}
			}
			catch (NoConnectionException ex) {
				if (!this.losses.goesOn("unreachable")) {
					end(command, ex.isRefusal(), ex);
				}
			}
		}
		return Optional.empty();
	}

	/** Waits for a server that may answer soon, or have been replaced by then. */
	private boolean waits(RedisCallException refusal) {
		String code = String.valueOf(refusal.code());
		if (this.inCluster && code.equals(LACKS_MASTER)) {
			return this.refusals.goesOn("cluster-wait");
		}
		return refusal.isTransient() && this.refusals.goesOn(code);
	}

	private void end(String command, boolean refused, Exception cause) {
		this.stop.because((refused) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
				command + " could not go on, so that further keys were not found. " + cause.getMessage()
						+ ". Mend the cause there, then send the job again.");
	}

	/** A call that may be made again. */
	interface Call<T> {

		T make() throws NoConnectionException;

	}

}
