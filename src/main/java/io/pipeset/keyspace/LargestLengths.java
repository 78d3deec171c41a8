package io.pipeset.keyspace;

import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.engine.slab.lookup.LengthLookup;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/** The number of elements of the largest keys, asked of the servers that have them. */
final class LargestLengths {

	/** How often slots that move are waited for. A slot may be on its way for long. */
	private static final int MOST_MOVES = 5;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(110);

	private final AnalysisRun run;

	private final RedisNodes nodes;

	private final JobStop stop;

	private final LargestKeys keys;

	private final KeyTypes types;

	private final AnalysisPatience patience;

	private final long[] lengths;

	/** The keys that are not asked for yet, by their place. */
	private final BitSet left = new BitSet();

	private int moves;

	/** The error that stays. */
	private @Nullable String refused;

	private @Nullable String error = "The largest keys were not asked for their number of elements";

	/** The lengths of the analysis's largest keys, which are sorted. */
	LargestLengths(AnalysisRun run) {
		this.run = run;
		this.nodes = run.nodes();
		this.stop = run.task().stop();
		this.keys = run.totals().largest();
		this.types = run.totals().types();
		this.patience = run.patience("", true, this.stop::isSet);
		this.lengths = new long[this.keys.count()];
		Arrays.fill(this.lengths, KeyPage.UNKNOWN);
		this.left.set(0, this.lengths.length);
	}

	/** Asks all servers, as often as it takes. */
	void ask() {
		while (!this.left.isEmpty() && !this.stop.isSet()) {
			for (Map.Entry<RedisNode, BitSet> keys : byMaster().entrySet()) {
				if (!this.stop.isSet()) {
					ask(keys.getKey(), keys.getValue());
				}
			}
		}
		if (this.left.isEmpty()) {
			this.error = this.refused;
		}
	}

	/** The keys that are left, by the master of their slot; without one they stay out. */
	private Map<RedisNode, BitSet> byMaster() {
		Map<RedisNode, BitSet> byMaster = new LinkedHashMap<>();
		try {
			Topology owners = this.nodes.owners();
			for (int place = this.left.nextSetBit(0); place >= 0; place = this.left.nextSetBit(place + 1)) {
				byte[] key = this.keys.key(place);
				RedisNode owner = owners.owner(Slots.of(key, 0, key.length));
				if (owner != null) {
					byMaster.computeIfAbsent(owner, (any) -> new BitSet()).set(place);
				}
				else {
					this.left.clear(place);
				}
			}
		}
		catch (NoConnectionException ex) {
			pauseAfter(String.valueOf(ex.getMessage()));
		}
		return byMaster;
	}

	/** Asks one server for the length of some keys. */
	private void ask(RedisNode node, BitSet places) {
		KeyPage page = this.keys.page(places);
		LengthLookup lookup = new LengthLookup(this.types, page);
		try {
			if (page.isTooLarge()) {
				this.left.andNot(places);
				this.refused = "There was no memory to ask the largest keys for their number of elements";
			}
			else if (!lookup.isEmpty()) {
				this.run.converse(node, (conversation) -> measure(conversation, lookup, places),
						(ex) -> () -> pauseAfter(String.valueOf(ex.getMessage())));
			}
			else {
				this.left.andNot(places);
			}
		}
		finally {
			page.close();
		}
	}

	private Runnable measure(Conversation conversation, LengthLookup lookup, BitSet places) {
		conversation.send(lookup, Conversation::doNothing);
		while (conversation.await()) {
			// Until it is answered, or lost.
		}
		String loss = conversation.loss();
		String error = lookup.error();
		if (loss != null) {
			return () -> pauseAfter(loss);
		}
		if (error != null && this.run.passes(error)) {
			return () -> pauseAfter("Redis answered " + error);
		}
		this.refused = (error != null) ? error : this.refused;
		int key = 0;
		boolean moved = false;
		for (int place = places.nextSetBit(0); place >= 0; place = places.nextSetBit(place + 1)) {
			boolean again = lookup.hasMoved(key) && this.moves < MOST_MOVES;
			this.lengths[place] = lookup.length(key++);
			this.left.set(place, again);
			moved |= again;
		}
		return (moved) ? this::awaitMove : Conversation::doNothing;
	}

	private void awaitMove() {
		this.moves++;
		this.stop.await(PAUSE_NANOS);
		this.nodes.refresh();
	}

	private void pauseAfter(String detail) {
		this.patience.pauseAfter(detail);
		this.nodes.refresh();
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
