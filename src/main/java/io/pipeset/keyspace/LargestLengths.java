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

/** The number of elements of the largest keys, by a call for each. */
final class LargestLengths {

	/** The commands by the type of the key; modules have none. */
	private static final Map<String, String> COMMANDS = Map.of("string", "STRLEN", "list", "LLEN", "set", "SCARD",
			"zset", "ZCARD", "hash", "HLEN", "stream", "XLEN");

	/** The code of a key that has become another type. */
	private static final String GONE = "WRONGTYPE";

	private final RedisNodes nodes;

	private final JobStop stop;

	private final KeyTypes types;

	private final AnalysisRetryPolicy patience;

	private final long[] lengths;

	/**
	 * How long slots that move are waited for, all together. A slot may be on its way for
	 * long.
	 */
	private Duration movesLeft = Duration.ofMillis(500);

	/** The error that stays. */
	private @Nullable String refused;

	private final @Nullable String error;

	/** Asks for the length of each key, until the job is stopped. */
	LargestLengths(AnalysisRun run, List<LargestKey> keys) {
		this.nodes = run.nodes();
		this.stop = run.task().stop();
		this.types = run.totals().types();
		this.patience = run.patience("", true, this.stop::isSet);
		this.lengths = new long[keys.size()];
		Arrays.fill(this.lengths, KeyPage.UNKNOWN);
		for (int place = 0; place < this.lengths.length; place++) {
			this.lengths[place] = ask(keys.get(place));
		}
		this.error = (this.stop.isSet()) ? "The largest keys were not asked for their number of elements"
				: this.refused;
	}

	private long ask(LargestKey key) {
		String command = COMMANDS.get(this.types.name(key.type()));
		Long length = (command != null)
				? this.patience.ask(command, () -> ask(command, key.name().array()), () -> false) : null;
		return (length != null) ? length : KeyPage.UNKNOWN;
	}

	private long ask(String command, byte[] key) throws NoConnectionException {
		int slot = Slots.of(key, 0, key.length);
		if (this.nodes.owners().owner(slot) == null) {
			return KeyPage.UNKNOWN;
		}
		long begun = System.nanoTime();
		try {
			return new SlotCalls(this.nodes, this.movesLeft, this.stop).ask(slot,
					(calls, asking) -> calls.length(asking, command, key));
		}
		catch (RedisCallException ex) {
			Redirect redirect = ex.redirect();
			boolean moves = redirect != null && redirect.kind() != Redirect.Kind.WAIT;
			if (moves) {
				Duration left = this.movesLeft.minusNanos(System.nanoTime() - begun);
				this.movesLeft = (left.isNegative()) ? Duration.ZERO : left;
			}
			else if (ex.isTransient()) {
				throw ex;
			}
			else if (!GONE.equals(ex.code())) {
				this.refused = NestedExceptionUtils.getMostSpecificCause(ex).getMessage();
			}
			return KeyPage.UNKNOWN;
		}
	}

	/** The length of a key; {@link KeyPage#UNKNOWN} where it is not known. */
	long length(int place) {
		return this.lengths[place];
	}

	/** Why some lengths are not known; {@code null} if Redis has refused none. */
	@Nullable String error() {
		return this.error;
	}

}
