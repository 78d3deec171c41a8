package io.pipeset.job.run;

import java.util.List;
import java.util.function.Consumer;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;

import org.springframework.stereotype.Component;

/** Lets jobs begin only where the service's user may run what their settings need. */
@Component
class Requirements {

	/** The remedy for a caller whose transactions are refused. */
	static final String TRANSACTIONS_REMEDY = "Let the service's user run MULTI and EXEC, or send the job with atomic=none.";

	private final RedisNodes nodes;

	Requirements(RedisNodes nodes) {
		this.nodes = nodes;
	}

	/**
	 * Asks Redis whether it would say how many replicas have something, and whether
	 * transactions run, unless it has said yes since. Stops the job if Redis refuses.
	 */
	void require(JobStop stop, JobSettings settings) {
		if (settings.replicas() > 0 && !stop.isSet()) {
			require(stop, (node) -> node.calls().replicas(), "replicas=" + settings.replicas() + " needs WAIT.",
					"Let the service's user run WAIT, on a master, or send the job with replicas=0.");
		}
		if (settings.isAtomic() && !stop.isSet()) {
			require(stop, (node) -> node.facts().requireTransactions(), "atomic=batch needs transactions.",
					TRANSACTIONS_REMEDY);
		}
	}

	private void require(JobStop stop, Consumer<RedisNode> question, String need, String remedy) {
		for (RedisNode node : masters()) {
			try {
				question.accept(node);
			}
			catch (RedisCallException ex) {
				// If Redis cannot be reached or is busy, a batch finds out, and may try
				// again. A former master is no master to the batch either.
				if (!ex.isTransient() && !(this.nodes.isFollowing() && ex.isOfReplica())) {
					stop.because(Cause.REDIS_REFUSES, need + " " + ex.getMessage() + ". " + remedy);
				}
			}
		}
	}

	/** Takes note of a refusal that a job met, so that the next job asks again. */
	void learn(Account account) {
		if (account.transactionRefusal() != null) {
			masters().forEach((node) -> node.facts().transactionsWereRefused());
		}
	}

	private List<RedisNode> masters() {
		try {
			return this.nodes.masters();
		}
		catch (NoConnectionException ex) {
			// The job finds out.
			return List.of();
		}
	}

}
