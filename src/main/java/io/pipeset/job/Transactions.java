package io.pipeset.job;

import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/**
 * Asks whether this user of Redis may run transactions. If MULTI is refused, the commands
 * behind it in a pipeline run by themselves, so the answer has to be known before.
 */
@Component
class Transactions {

	/** The remedy for a caller whose transactions are refused. */
	static final String REMEDY = "Let the service's user run MULTI and EXEC, or send the job with atomic=none.";

	private final RedisCalls calls;

	private volatile boolean allowed;

	Transactions(RedisCalls calls) {
		this.calls = calls;
	}

	/** Asks Redis, unless it has said yes since, and stops the job if it refuses. */
	void require(JobStop stop) {
		if (this.allowed) {
			return;
		}
		try {
			this.calls.emptyTransaction();
			this.allowed = true;
		}
		catch (RedisCallException ex) {
			// If Redis cannot be reached or is busy, a batch finds out, and may try
			// again.
			if (!ex.isPassing()) {
				stop.because(Cause.REDIS_REFUSES,
						"atomic=batch needs transactions. " + ex.getMessage() + ". " + REMEDY);
			}
		}
	}

	/** Takes note of a refusal that a job met, so that the next job asks again. */
	void learn(Account account) {
		if (account.transactionRefusal() != null) {
			this.allowed = false;
		}
	}

}
