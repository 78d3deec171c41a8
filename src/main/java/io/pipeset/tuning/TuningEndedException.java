package io.pipeset.tuning;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;

/** Ends a tuning before all of its runs are done. */
final class TuningEndedException extends RuntimeException {

	private final transient Ending ending;

	TuningEndedException(Ending ending) {
		super(ending.detail(), null, false, false);
		this.ending = ending;
	}

	/**
	 * The ending after a failed single call.
	 * @param written whether the tuning had written anything before
	 */
	static Ending by(RedisCallException failure, boolean written) {
		Cause cause = (failure.isRefusal()) ? Cause.REDIS_REFUSES
				: (written) ? Cause.REDIS_LOST : Cause.REDIS_UNREACHABLE;
		return new Ending(cause, failure.getMessage() + ". Send the request again once Redis answers.");
	}

	Ending ending() {
		return this.ending;
	}

}
