package io.pipeset.job;

import io.pipeset.job.settings.Setting;
import org.jspecify.annotations.Nullable;

/** The highest pace of a job, which may change while the job waits or runs. */
public final class RateLimit {

	/** 0 for none: it is read for every record. */
	private volatile long perSecond;

	/**
	 * The pace to begin with.
	 * @param perSecond records or keys a second; {@code null} for no limit
	 */
	public RateLimit(@Nullable Long perSecond) {
		change(perSecond);
	}

	/**
	 * Changes the pace.
	 * @param perSecond records or keys a second, as {@code rateLimit} allows them;
	 * {@code null} for no limit
	 */
	public void change(@Nullable Long perSecond) {
		Setting.RATE_LIMIT.check(perSecond);
		this.perSecond = (perSecond != null) ? perSecond : 0;
	}

	/**
	 * The pace.
	 * @return records or keys a second; 0 for no limit
	 */
	public long perSecond() {
		return this.perSecond;
	}

}
