package io.pipeset.engine.servers;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.pipeset.record.Slots;

/**
 * The slots that a node says it serves, and those that are on their way from it or to it,
 * as its own line of
 * <a href="https://redis.io/docs/latest/commands/cluster-nodes/">CLUSTER NODES</a> has
 * them.
 */
public final class SlotsAtNode {

	/** The slots of a single server: all of them, none of which is ever on its way. */
	public static final SlotsAtNode ALL = all();

	private static final int ADDRESS = 1;

	private static final int FLAGS = 2;

	private static final int EPOCH = 6;

	private static final int FIRST_SLOT = 8;

	private static final String GIVEN_AWAY = "->-";

	private static final String TAKEN_OVER = "-<-";

	private final BitSet served = new BitSet();

	private final BitSet givenAway = new BitSet();

	private final BitSet takenOver = new BitSet();

	private final Set<String> takerIds = new TreeSet<>();

	private final Set<String> takers = new TreeSet<>();

	private String epoch = "";

	private SlotsAtNode() {
	}

	private static SlotsAtNode all() {
		SlotsAtNode all = new SlotsAtNode();
		all.served.set(0, Slots.COUNT);
		return all;
	}

	/**
	 * Reads what a node says of itself.
	 * @param nodes its answer to CLUSTER NODES
	 * @return its slots; none for a replica
	 */
	public static SlotsAtNode of(String nodes) {
		SlotsAtNode slots = new SlotsAtNode();
		Map<String, String> addresses = new HashMap<>();
		nodes.lines().map((line) -> line.split(" ")).filter((words) -> words.length > EPOCH).forEach((words) -> {
			addresses.put(words[0], words[ADDRESS].split("@", 2)[0]);
			if (words[FLAGS].contains("myself")) {
				slots.epoch = words[EPOCH];
				Arrays.stream(words).skip(FIRST_SLOT).forEach(slots::add);
			}
		});
		addresses.keySet().retainAll(slots.takerIds);
		slots.takers.addAll(addresses.values());
		return slots;
	}

	/** Adds a slot, a range of slots, or one that is on its way. */
	private void add(String word) {
		if (word.startsWith("[")) {
			int away = word.indexOf(GIVEN_AWAY);
			int over = word.indexOf(TAKEN_OVER);
			if (away > 0) {
				this.givenAway.set(Integer.parseInt(word.substring(1, away)));
				this.takerIds.add(word.substring(away + GIVEN_AWAY.length(), word.length() - 1));
			}
			else if (over > 0) {
				this.takenOver.set(Integer.parseInt(word.substring(1, over)));
			}
			return;
		}
		int dash = word.indexOf('-');
		int first = Integer.parseInt((dash > 0) ? word.substring(0, dash) : word);
		this.served.set(first, Integer.parseInt(word.substring(dash + 1)) + 1);
	}

	/** Whether this is a single server, whose slots never move. */
	public boolean areOfSingleServer() {
		return this == ALL;
	}

	/**
	 * Whether the node serves no slot.
	 * @return {@code true} for a replica, too
	 */
	public boolean isEmpty() {
		return this.served.isEmpty();
	}

	/**
	 * Whether the node serves a slot.
	 * @return {@code true} also while it gives the slot away
	 */
	public boolean serves(int slot) {
		return this.served.get(slot);
	}

	/**
	 * Whether the node gives a slot away, some of whose keys may have left.
	 * @return {@code false} once the slot is gone
	 */
	public boolean givesAway(int slot) {
		return this.givenAway.get(slot);
	}

	/**
	 * The slots that the node serves.
	 * @return slots, for the caller to change
	 */
	public BitSet served() {
		return (BitSet) this.served.clone();
	}

	/**
	 * The slots that are on their way from the node, which serves them still.
	 * @return slots, for the caller to change
	 */
	public BitSet givenAway() {
		return (BitSet) this.givenAway.clone();
	}

	/**
	 * The slots that are on their way to the node from another one, which serves them
	 * still.
	 * @return slots, for the caller to change
	 */
	public BitSet takenOver() {
		return (BitSet) this.takenOver.clone();
	}

	/**
	 * The slots that are on their way, from the node or to it.
	 * @return slots, for the caller to change
	 */
	public BitSet onTheirWay() {
		BitSet slots = takenOver();
		slots.or(this.givenAway);
		return slots;
	}

	/**
	 * The nodes that slots are on their way to.
	 * @return host and port of each
	 */
	public Set<String> takers() {
		return this.takers;
	}

	/**
	 * Whether the node has won slots since, or lost them and won them back: a cluster
	 * gives it a new epoch then.
	 * @return {@code true} also where it has won none that it keeps
	 */
	public boolean hasNewEpoch(SlotsAtNode before) {
		return !this.epoch.equals(before.epoch);
	}

}
