package io.pipeset.keyspace;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.keyspace.LargestKeys.LargestKey;
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

	private final KeyTypes types;

	private final AnalysisRetryPolicy retryPolicy;

	private final long[] lengths;

	/**
	 * How long to wait for migrating slots, all keys together. The wait is bounded
	 * because a migration may take long.
	 */
	private Duration migrationWaitLeft = Duration.ofMillis(500);

	/** A permanent error of Redis. */
	private @Nullable String refused;

	private final @Nullable String error;

	/** Queries the length of each key until the job is stopped. */
	LargestLengths(AnalysisRun run, List<LargestKey> keys) {
		this.nodes = run.nodes();
		this.stop = run.task().stop();
		this.types = run.totals().types();
		this.retryPolicy = run.retryPolicy("", true, this.stop::isSet);
		this.lengths = new long[keys.size()];
		Arrays.fill(this.lengths, KeyPage.UNKNOWN);
		for (int index = 0; index < this.lengths.length; index++) {
			this.lengths[index] = query(keys.get(index));
		}
		this.error = (this.stop.isSet())
				? "The analysis stopped before it queried the element counts of the largest keys" : this.refused;
	}

	private long query(LargestKey key) {
		String command = COMMANDS.get(this.types.name(key.type()));
		Long length = (command != null)
				? this.retryPolicy.ask(command, () -> query(command, key.name().array()), () -> false) : null;
		return (length != null) ? length : KeyPage.UNKNOWN;
	}

	private long query(String command, byte[] key) throws NoConnectionException {
		int slot = Slots.of(key, 0, key.length);
		if (this.nodes.owners().owner(slot) == null) {
			return KeyPage.UNKNOWN;
		}
		long begun = System.nanoTime();
		try {
			return new SlotCalls(this.nodes, this.migrationWaitLeft, this.stop).ask(slot,
					(calls, asking) -> calls.length(asking, command, key));
		}
		catch (RedisCallException ex) {
			Redirect redirect = ex.redirect();
			boolean migrating = redirect != null && redirect.kind() != Redirect.Kind.WAIT;
			if (migrating) {
				Duration left = this.migrationWaitLeft.minusNanos(System.nanoTime() - begun);
				this.migrationWaitLeft = (left.isNegative()) ? Duration.ZERO : left;
			}
			else if (ex.isTransient()) {
				throw ex;
			}
			else if (!WRONG_TYPE.equals(ex.code())) {
				this.refused = NestedExceptionUtils.getMostSpecificCause(ex).getMessage();
			}
			return KeyPage.UNKNOWN;
		}
	}

	/** The length of a key; {@link KeyPage#UNKNOWN} if it is not known. */
	long length(int index) {
		return this.lengths[index];
	}

	/**
	 * Why some lengths are not known; {@code null} if Redis refused no command and the
	 * analysis was not stopped.
	 */
	@Nullable String error() {
		return this.error;
	}

}
