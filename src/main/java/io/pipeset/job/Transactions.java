package io.pipeset.job;

import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/**
 * Whether this user of Redis may run transactions. Where MULTI is refused, what follows
 * it in a pipeline runs by itself, so that has to be known before.
 */
@Component
class Transactions {

	private final RedisCalls calls;

	private volatile boolean allowed;

	Transactions(RedisCalls calls) {
		this.calls = calls;
	}

	/** Asks once while the service runs, and stops the job where Redis refuses. */
	void require(JobStop stop) {
		if (this.allowed) {
			return;
		}
		try {
			this.calls.emptyTransaction();
			this.allowed = true;
		}
		catch (RedisCallException ex) {
			// Where Redis cannot be reached or is busy, a batch finds out, and may try
			// again.
			if (!ex.isPassing()) {
				stop.because(Cause.REDIS_REFUSES, "atomic=batch needs transactions. " + ex.getMessage()
						+ ". Let the service's user run MULTI and EXEC, or send the job with atomic=none.");
			}
		}
	}

}
