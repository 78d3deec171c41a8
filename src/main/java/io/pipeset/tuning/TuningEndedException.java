package io.pipeset.tuning;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;

/** A tuning cannot go on. */
final class TuningEndedException extends RuntimeException {

	private final transient Ending ending;

	TuningEndedException(Ending ending) {
		super(ending.detail(), null, false, false);
		this.ending = ending;
	}

	/**
	 * The end by a single call that failed.
	 * @param written whether the tuning had written anything before
	 */
	static Ending by(RedisCallException failure, boolean written) {
		Cause cause = (failure.isRefusal()) ? Cause.REDIS_REFUSES
				: (written) ? Cause.REDIS_LOST : Cause.REDIS_UNREACHABLE;
		return new Ending(cause, failure.getMessage() + ". Send the request again once Redis answers.");
	}

	/** The reason, for the report. */
	Ending ending() {
		return this.ending;
	}

}
