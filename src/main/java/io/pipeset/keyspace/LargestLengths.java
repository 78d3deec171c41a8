package io.pipeset.keyspace;

import java.time.Duration;
import java.util.Map;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.KeyFacts;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/** Queries the number of elements of the largest keys, with one command per key. */
final class LargestLengths {

	/** The commands by the type of the key; module types have none. */
	private static final Map<String, String> COMMANDS = Map.of("string", "STRLEN", "list", "LLEN", "set", "SCARD",
			"zset", "ZCARD", "hash", "HLEN", "stream", "XLEN");

	/** The error code if the key has another type now. */
	private static final String WRONG_TYPE = "WRONGTYPE";

	private final RedisNodes nodes;

	private final JobStop stop;

	private final AnalysisRetryPolicy retryPolicy;

	/** How long to follow a migrating slot; after the first failure not at all. */
	private Duration patience = Duration.ofMillis(500);

	/** A permanent error of Redis. */
	private @Nullable String refused;

	LargestLengths(AnalysisRun run) {
		this.nodes = run.nodes();
		this.stop = run.task().stop();
		this.retryPolicy = new AnalysisRetryPolicy(run, null, true, this.stop::isSet);
	}

	/**
	 * Queries the length of a key, unless the job is stopped.
	 * @return its elements, or the bytes of a string; {@code null} if it is not known
	 */
	@Nullable Long of(KeyFacts key) {
		String command = COMMANDS.get(key.type());
		Long length = (command != null) ? this.retryPolicy.ask(command, () -> query(command, key.name()), () -> false)
				: null;
		return (length != null && length > 0) ? length : null;
	}

	/** Returns 0 if the key is gone, or its length is not known. */
	private long query(String command, byte[] key) throws NoConnectionException {
		int slot = Slots.of(key, 0, key.length);
		if (this.nodes.owners().owner(slot) == null) {
			return 0;
		}
		try {
			return new SlotCalls(this.nodes, this.patience, this.stop).ask(slot,
					(calls, asking) -> calls.length(asking, command, key));
		}
		catch (RedisCallException ex) {
			Redirect redirect = ex.redirect();
			if (redirect != null && redirect.kind() != Redirect.Kind.WAIT) {
				this.patience = Duration.ZERO;
			}
			else if (ex.isTransient()) {
				throw ex;
			}
			else if (!WRONG_TYPE.equals(ex.code())) {
				this.refused = NestedExceptionUtils.getMostSpecificCause(ex).getMessage();
			}
			return 0;
		}
	}

	/**
	 * Why some lengths are not known; {@code null} if Redis refused no command and the
	 * analysis was not stopped.
	 */
	@Nullable String error() {
		return (this.stop.isSet()) ? "The analysis stopped before it queried the element counts of the largest keys"
				: this.refused;
	}

}
