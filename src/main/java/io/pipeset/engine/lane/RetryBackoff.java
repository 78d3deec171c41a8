package io.pipeset.engine.lane;

import java.util.Locale;

import io.pipeset.engine.pipeline.Backoff;

/**
 * The attempts to get over one trouble with Redis. A trouble costs one retry, however
 * many attempts it takes; they go on for as long as the job's timeout.
 */
public final class RetryBackoff {

	private final LaneContext context;

	private final Retries retries;

	private final Backoff pauses;

	/** Whether Redis has refused something for the time being in this trouble. */
	private boolean refused;

	/** When Redis answered last, or else the lane began. */
	private long answeredNanos = System.nanoTime();

	public RetryBackoff(LaneContext context, Retries retries) {
		this.context = context;
		this.retries = retries;
		this.pauses = new Backoff(context.settings().timeout(), context.stop());
	}

	/** Redis has answered again: the trouble is over. */
	public void progress() {
		this.pauses.end();
		this.answeredNanos = System.nanoTime();
	}

	/**
	 * Pauses before the next attempt.
	 * @param reason the trouble, for the meter, if it is a new one
	 * @return {@code false} if there is to be no other attempt
	 */
	public boolean goesOn(String reason) {
		return (this.pauses.areUnderWay() || begin(reason, this.answeredNanos)) && pause();
	}

	/**
	 * Pauses before the next attempt, after Redis has refused something for the time
	 * being. If that follows a loss, it costs no further retry, and Redis is asked for a
	 * whole timeout from the first refusal on.
	 * @param code the error's code, for the meter
	 * @return {@code false} if there is to be no other attempt
	 */
	boolean goesOnRefused(String code) {
		if (this.pauses.areUnderWay() && !this.refused) {
			this.pauses.prolong();
		}
		boolean goesOn = goesOn(code);
		this.refused = true;
		return goesOn;
	}

	/** Whether a retry was taken for a trouble that is not over. */
	boolean areUnderWay() {
		return this.pauses.areUnderWay();
	}

	/** Whether another attempt would be made after a refusal for the time being. */
	boolean mayGoOn() {
		return mayGoOn(this.answeredNanos);
	}

	/**
	 * Whether another attempt would be made.
	 * @param wellNanos when the lane was well for the last time
	 */
	boolean mayGoOn(long wellNanos) {
		return this.pauses.areUnderWay() || this.retries.isLeft(wellNanos);
	}

	/**
	 * Takes a retry for a new trouble, if it is not one that another lane has met.
	 * @param reason the trouble, for the meter
	 * @param wellNanos when the lane was well for the last time
	 * @return {@code false} if none is left
	 */
	boolean begin(String reason, long wellNanos) {
		if (this.context.stop().isSet() || !this.retries.take(wellNanos)) {
			return false;
		}
		this.context.meters().retry(reason.toLowerCase(Locale.ROOT).replace('_', '-'));
		this.pauses.begin();
		this.refused = false;
		return true;
	}

	/** Backoff, longer each time; {@code false} if the job's timeout is over. */
	boolean pause() {
		return this.pauses.areUnderWay() && this.pauses.next();
	}

}
