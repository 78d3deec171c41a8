package io.pipeset.engine.scan;

import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.pipeset.engine.servers.SlotsAtNode;

/**
 * The slots of a cluster's masters, as each of them says itself, between two scans.
 *
 * @param <N> a master
 * @param byNode the slots of each master, and of each node that slots are on their way to
 */
record SlotViews<N>(Map<N, SlotsAtNode> byNode) {

	private static final SlotsAtNode NONE = SlotsAtNode.of("");

	/** Whether this is a single server, which has all slots for good. */
	boolean areOfSingleServer() {
		return this.byNode.values().stream().allMatch(SlotsAtNode::areOfSingleServer);
	}

	Collection<N> nodes() {
		return this.byNode.keySet();
	}

	SlotsAtNode of(N node) {
		return this.byNode.getOrDefault(node, NONE);
	}

	/** Those of some slots that no node serves. */
	BitSet unserved(BitSet slots) {
		BitSet unserved = (BitSet) slots.clone();
		this.byNode.values().forEach((node) -> unserved.andNot(node.served()));
		return unserved;
	}

	/**
	 * The slots whose keys may have been at no node while it was scanned between this
	 * look and another one, since they moved meanwhile.
	 * @param later the look behind the scans
	 * @param inOrder whether each node that takes a slot over was scanned behind the node
	 * that gives it away: keys can then only have moved to a node still to be scanned
	 */
	BitSet doubtful(SlotViews<N> later, boolean inOrder) {
		BitSet doubtful = new BitSet();
		Set<N> all = new HashSet<>(nodes());
		all.addAll(later.nodes());
		for (N node : all) {
			SlotsAtNode was = of(node);
			SlotsAtNode is = later.of(node);
			BitSet moved = moved(was, is);
			if (inOrder) {
				moved.andNot(onward(was, is));
			}
			if (is.hasNewEpoch(was)) {
				// A slot may have come back to it.
				moved.or(is.served());
			}
			doubtful.or(moved);
		}
		return doubtful;
	}

	/**
	 * The slots that a node has lost or got between two looks, or that are on their way.
	 */
	static BitSet moved(SlotsAtNode was, SlotsAtNode is) {
		BitSet moved = was.served();
		moved.xor(is.served());
		moved.or(was.onTheirWay());
		moved.or(is.onTheirWay());
		return moved;
	}

	/** The slots that a node went on to give away or to take over, or has by now. */
	private static BitSet onward(SlotsAtNode was, SlotsAtNode is) {
		BitSet kept = is.served();
		kept.andNot(is.givenAway());
		BitSet given = was.givenAway();
		given.andNot(kept);
		given.andNot(is.takenOver());
		kept.or(is.takenOver());
		BitSet onward = was.takenOver();
		onward.and(kept);
		onward.or(given);
		return onward;
	}

}
