package io.pipeset.engine.scan;

import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.pipeset.engine.servers.SlotsAtNode;

/**
 * The slots of a cluster's masters at one time, as each of them reports its own.
 *
 * @param <N> a master
 * @param byNode the slots of each master, and of each node that imports slots
 */
record SlotSnapshots<N>(Map<N, SlotsAtNode> byNode) {

	private static final SlotsAtNode NONE = SlotsAtNode.of("");

	/** Whether this is a single server, whose slots never move. */
	boolean isSingleServer() {
		return this.byNode.values().stream().allMatch(SlotsAtNode::isSingleServer);
	}

	Collection<N> nodes() {
		return this.byNode.keySet();
	}

	SlotsAtNode of(N node) {
		return this.byNode.getOrDefault(node, NONE);
	}

	/** The slots out of the given ones that no node serves. */
	BitSet unserved(BitSet slots) {
		BitSet unserved = (BitSet) slots.clone();
		this.byNode.values().forEach((node) -> unserved.andNot(node.served()));
		return unserved;
	}

	/**
	 * The slots that moved between this snapshot and a later one. A scan between the two
	 * may have missed their keys.
	 * @param later the snapshot after the scans
	 * @param inOrder whether each node that imports a slot was scanned after the node
	 * that migrates it. Keys can then only have moved to a node that was still to be
	 * scanned
	 */
	BitSet doubtful(SlotSnapshots<N> later, boolean inOrder) {
		BitSet doubtful = new BitSet();
		Set<N> all = new HashSet<>(nodes());
		all.addAll(later.nodes());
		for (N node : all) {
			SlotsAtNode before = of(node);
			SlotsAtNode after = later.of(node);
			BitSet moved = moved(before, after);
			if (inOrder) {
				moved.andNot(movedForward(before, after));
			}
			if (after.hasNewEpoch(before)) {
				// A slot may have left the node and come back.
				moved.or(after.served());
			}
			doubtful.or(moved);
		}
		return doubtful;
	}

	/**
	 * The slots that a node has lost or got between two snapshots, or that are moving.
	 */
	static BitSet moved(SlotsAtNode before, SlotsAtNode after) {
		BitSet moved = before.served();
		moved.xor(after.served());
		moved.or(before.moving());
		moved.or(after.moving());
		return moved;
	}

	/**
	 * The slots that kept moving in the same direction at a node, or have arrived or left
	 * by now.
	 */
	private static BitSet movedForward(SlotsAtNode before, SlotsAtNode after) {
		BitSet kept = after.served();
		kept.andNot(after.migrating());
		BitSet given = before.migrating();
		given.andNot(kept);
		given.andNot(after.importing());
		kept.or(after.importing());
		BitSet movedForward = before.importing();
		movedForward.and(kept);
		movedForward.or(given);
		return movedForward;
	}

}
