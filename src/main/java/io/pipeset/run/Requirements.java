package io.pipeset.run;

import java.util.List;
import java.util.function.Consumer;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;

import org.springframework.stereotype.Component;

/** Stops a job at its beginning if Redis refuses commands that its settings need. */
@Component
public class Requirements {

	/** What to do if Redis refuses transactions. */
	static final String TRANSACTIONS_REMEDY = "Let the service's user run MULTI and EXEC, or send the job with atomic=none and without exactlyOnce.";

	private final RedisNodes nodes;

	Requirements(RedisNodes nodes) {
		this.nodes = nodes;
	}

	/**
	 * Checks that WAIT and transactions run if the settings need them, and stops the job
	 * if not. Successful checks of transactions are cached.
	 */
	void require(JobStop stop, JobSettings settings) {
		if (settings.reliability().replicas() > 0 && !stop.isSet()) {
			require(stop, (node) -> node.calls().replicas(),
					"replicas=" + settings.reliability().replicas() + " needs WAIT.",
					"Let the service's user run WAIT, on a master, or send the job with replicas=0.");
		}
		if (settings.isAtomic() && !stop.isSet()) {
			require(stop, (node) -> node.facts().requireTransactions(),
					((settings.batching().exactlyOnce()) ? "exactlyOnce" : "atomic=batch") + " needs transactions.",
					TRANSACTIONS_REMEDY);
		}
		if (settings.batching().exactlyOnce() && !stop.isSet()) {
			require(stop, (node) -> node.calls().killNone(), "exactlyOnce needs CLIENT KILL.",
					"Let the service's user run CLIENT KILL, or send the job without exactlyOnce.");
		}
	}

	/**
	 * Checks that Redis does not evict the mark of a job.
	 * @throws InvalidSettingException if it may
	 */
	public void requireNoEviction(JobSettings settings) {
		if (!settings.batching().exactlyOnce()) {
			return;
		}
		for (RedisNode node : masters()) {
			try {
				ServerMemory memory = node.calls().memory();
				if (memory != null && memory.policy().startsWith("allkeys")) {
					throw new InvalidSettingException(Setting.EXACTLY_ONCE.name(),
							"needs a Redis that never evicts the" + " mark of the job, and the maxmemory-policy of "
									+ node.name() + " is " + memory.policy());
				}
			}
			catch (RedisCallException ex) {
				// The first batch detects it.
			}
		}
	}

	private void require(JobStop stop, Consumer<RedisNode> check, String need, String remedy) {
		for (RedisNode node : masters()) {
			try {
				check.accept(node);
			}
			catch (RedisCallException ex) {
				// If Redis cannot be reached or is busy, the first batch detects it and
				// retries. A former master gets no batch either.
				if (!ex.isTransient() && !(this.nodes.isFollowing() && ex.isOfReplica())) {
					stop.stop(Cause.REDIS_REFUSES, need + " " + ex.getMessage() + ". " + remedy);
				}
			}
		}
	}

	/** Clears the cached check if a job's transactions were refused. */
	void recordRefusal(Account account) {
		if (account.transactionRefusal() != null) {
			masters().forEach((node) -> node.facts().transactionsWereRefused());
		}
	}

	private List<RedisNode> masters() {
		try {
			return this.nodes.masters();
		}
		catch (NoConnectionException ex) {
			// The first batch of the job detects it.
			return List.of();
		}
	}

}
