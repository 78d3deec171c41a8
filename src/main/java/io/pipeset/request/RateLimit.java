package io.pipeset.request;

import org.jspecify.annotations.Nullable;

/** The rate limit of a job, which may change while the job waits or runs. */
public final class RateLimit {

	/** Records or keys per second; 0 for no limit. It is read for every record. */
	private volatile long perSecond;

	/**
	 * Creates a rate limit.
	 * @param perSecond records or keys per second; {@code null} for no limit
	 */
	public RateLimit(@Nullable Long perSecond) {
		change(perSecond);
	}

	/**
	 * Changes the limit.
	 * @param perSecond records or keys per second; {@code null} for no limit
	 * @throws InvalidSettingException if the setting {@code rateLimit} does not allow it
	 */
	public void change(@Nullable Long perSecond) {
		Setting.RATE_LIMIT.check(perSecond);
		this.perSecond = (perSecond != null) ? perSecond : 0;
	}

	/**
	 * The current limit.
	 * @return records or keys per second; 0 for no limit
	 */
	public long perSecond() {
		return this.perSecond;
	}

}
