package io.pipeset.lane;

import java.util.Arrays;
import java.util.BitSet;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.record.Slots;

/**
 * The slots that a node says it serves, and those that it is giving away, as its own line
 * of <a href="https://redis.io/docs/latest/commands/cluster-nodes/">CLUSTER NODES</a> has
 * them.
 */
final class SlotsAtNode {

	private static final int FIRST_SLOT = 8;

	private final BitSet served = new BitSet();

	private final BitSet givenAway = new BitSet();

	private SlotsAtNode() {
	}

	/** Asks a node. If it does not answer, it counts as serving all slots. */
	static SlotsAtNode ask(RedisNode node) {
		try {
			return of(node.calls().clusterNodes());
		}
		catch (RedisCallException ex) {
			SlotsAtNode all = new SlotsAtNode();
			all.served.set(0, Slots.COUNT);
			return all;
		}
	}

	static SlotsAtNode of(String nodes) {
		SlotsAtNode slots = new SlotsAtNode();
		nodes.lines()
			.map((line) -> line.split(" "))
			.filter((words) -> words.length > 2 && words[2].contains("myself"))
			.flatMap((words) -> Arrays.stream(words).skip(FIRST_SLOT))
			.forEach(slots::add);
		return slots;
	}

	/** Adds a slot, a range of slots, or one that is on its way. */
	private void add(String word) {
		if (word.startsWith("[")) {
			int arrow = word.indexOf("->-");
			if (arrow > 0) {
				this.givenAway.set(Integer.parseInt(word.substring(1, arrow)));
			}
			return;
		}
		int dash = word.indexOf('-');
		int first = Integer.parseInt((dash > 0) ? word.substring(0, dash) : word);
		this.served.set(first, Integer.parseInt(word.substring(dash + 1)) + 1);
	}

	boolean serves(int slot) {
		return this.served.get(slot);
	}

	boolean givesAway(int slot) {
		return this.givenAway.get(slot);
	}

}
