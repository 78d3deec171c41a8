package io.pipeset.job;

import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/**
 * Whether this user of Redis may run transactions. Where MULTI is refused, what follows
 * it in a pipeline runs by itself, so that has to be known before.
 */
@Component
class Transactions {

	/** What a caller can do who is refused them. */
	static final String REMEDY = "Let the service's user run MULTI and EXEC, or send the job with atomic=none.";

	private final RedisCalls calls;

	private volatile boolean allowed;

	Transactions(RedisCalls calls) {
		this.calls = calls;
	}

	/** Asks, unless Redis has said yes since, and stops the job where it refuses. */
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
				stop.because(Cause.REDIS_REFUSES,
						"atomic=batch needs transactions. " + ex.getMessage() + ". " + REMEDY);
			}
		}
	}

	/** Takes note of what a job found out, so that the next one asks again. */
	void learn(Account account) {
		if (account.transactionRefusal() != null) {
			this.allowed = false;
		}
	}

}
