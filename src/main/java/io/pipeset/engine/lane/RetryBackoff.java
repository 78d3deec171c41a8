package io.pipeset.engine.lane;

import java.util.Locale;

import io.pipeset.engine.pipeline.Backoff;

/**
 * Repeats attempts after a failure of Redis, with a growing backoff. A failure costs one
 * retry, however many attempts it needs. The attempts end after the job's timeout.
 */
public final class RetryBackoff {

	private final LaneContext context;

	private final Retries retries;

	private final Backoff backoff;

	/** Whether Redis has refused a command for a transient reason during this failure. */
	private boolean refused;

	/** When Redis last answered, or else when the lane began. */
	private long answeredNanos = System.nanoTime();

	public RetryBackoff(LaneContext context, Retries retries) {
		this.context = context;
		this.retries = retries;
		this.backoff = new Backoff(context.settings().timeout(), context.stop());
	}

	/** Ends the failure, because Redis has answered. */
	public void progress() {
		this.backoff.end();
		this.answeredNanos = System.nanoTime();
	}

	/**
	 * Waits before the next attempt. Takes a retry if the failure is a new one.
	 * @param reason the failure, for the meter, if it is a new one
	 * @return {@code false} if there is no further attempt
	 */
	public boolean goesOn(String reason) {
		return (this.backoff.areUnderWay() || startRetry(reason, this.answeredNanos)) && awaitBackoff();
	}

	/**
	 * Waits before the next attempt after Redis has refused a command for a transient
	 * reason. If that follows a loss, it costs no further retry. The timeout then starts
	 * again with the first refusal.
	 * @param code the error's code, for the meter
	 * @return {@code false} if there is no further attempt
	 */
	boolean awaitRefusedRetry(String code) {
		if (this.backoff.areUnderWay() && !this.refused) {
			this.backoff.prolong();
		}
		boolean retrying = goesOn(code);
		this.refused = true;
		return retrying;
	}

	/** Whether a retry was taken for a failure that has not ended. */
	boolean isRetrying() {
		return this.backoff.areUnderWay();
	}

	/** Whether another attempt would be made after a transient refusal. */
	boolean mayRetry() {
		return mayRetry(this.answeredNanos);
	}

	/**
	 * Whether another attempt would be made.
	 * @param healthyNanos when the lane was last healthy, by {@link System#nanoTime()}
	 */
	boolean mayRetry(long healthyNanos) {
		return this.backoff.areUnderWay() || this.retries.isLeft(healthyNanos);
	}

	/**
	 * Takes a retry for a new failure, unless another lane has taken one for it.
	 * @param reason the failure, for the meter
	 * @param healthyNanos when the lane was last healthy, by {@link System#nanoTime()}
	 * @return {@code false} if no retry is left, or the job is stopped
	 */
	boolean startRetry(String reason, long healthyNanos) {
		if (this.context.stop().isSet() || !this.retries.take(healthyNanos)) {
			return false;
		}
		this.context.meters().retry(reason.toLowerCase(Locale.ROOT).replace('_', '-'));
		this.backoff.begin();
		this.refused = false;
		return true;
	}

	/**
	 * Waits for the backoff, longer each time; {@code false} if the job's timeout is
	 * over.
	 */
	boolean awaitBackoff() {
		return this.backoff.areUnderWay() && this.backoff.next();
	}

}
