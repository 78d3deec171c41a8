package io.pipeset.job;

import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/** Lets jobs begin only where the service's user may run what their settings need. */
@Component
class Requirements {

	/** The remedy for a caller whose transactions are refused. */
	static final String TRANSACTIONS_REMEDY = "Let the service's user run MULTI and EXEC, or send the job with atomic=none.";

	private final RedisNode node;

	Requirements(RedisNode node) {
		this.node = node;
	}

	/**
	 * Asks Redis whether transactions run, unless it has said yes since, and stops the
	 * job if it refuses.
	 */
	void requireTransactions(JobStop stop) {
		try {
			this.node.facts().requireTransactions();
		}
		catch (RedisCallException ex) {
			// If Redis cannot be reached or is busy, a batch finds out, and may try
			// again.
			if (!ex.isTransient()) {
				stop.because(Cause.REDIS_REFUSES,
						"atomic=batch needs transactions. " + ex.getMessage() + ". " + TRANSACTIONS_REMEDY);
			}
		}
	}

	/**
	 * Asks Redis whether it would say how many replicas have something, and stops the job
	 * if it refuses.
	 */
	void requireReplicas(JobStop stop, int replicas) {
		try {
			this.node.calls().replicas();
		}
		catch (RedisCallException ex) {
			if (!ex.isTransient()) {
				stop.because(Cause.REDIS_REFUSES, "replicas=" + replicas + " needs WAIT. " + ex.getMessage()
						+ ". Let the service's user run WAIT, on a master, or send the job with replicas=0.");
			}
		}
	}

	/** Takes note of a refusal that a job met, so that the next job asks again. */
	void learn(Account account) {
		if (account.transactionRefusal() != null) {
			this.node.facts().transactionsWereRefused();
		}
	}

}
