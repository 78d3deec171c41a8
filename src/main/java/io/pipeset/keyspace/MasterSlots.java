package io.pipeset.keyspace;

import java.util.BitSet;
import java.util.Set;

import io.pipeset.lane.SlotsAtNode;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.record.Slots;

/**
 * The slots of a cluster whose keys count at one master: those that it had when its walk
 * began. So a key whose slot moves counts at no more than one master.
 */
final class MasterSlots {

	private final RedisNodes nodes;

	private final RedisNode master;

	private final BitSet counted;

	private final Set<Integer> moved;

	/**
	 * The slots of a master.
	 * @param moved takes the slots of all masters that are seen to move
	 */
	MasterSlots(RedisNodes nodes, RedisNode master, BitSet slots, Set<Integer> moved) {
		this.nodes = nodes;
		this.master = master;
		this.counted = slots;
		this.moved = moved;
	}

	/** The master's host and port. */
	String name() {
		return this.master.name();
	}

	/**
	 * Whether a key counts here. If it does not, its slot is on the move, or was.
	 * @param to the byte behind it
	 */
	boolean counts(byte[] bytes, int from, int to) {
		int slot = Slots.of(bytes, from, to - from);
		boolean counts = this.counted.get(slot);
		if (!counts) {
			this.moved.add(slot);
		}
		return counts;
	}

	/**
	 * Asks the master for its slots. Those that it no longer has, or is giving away, have
	 * moved during the walk.
	 * @return {@code false} if it has none left
	 * @throws RedisCallException if it refuses to tell or does not answer
	 */
	boolean look() {
		SlotsAtNode now = SlotsAtNode.of(this.master.calls().clusterNodes());
		if (now.isEmpty()) {
			return false;
		}
		for (int slot = this.counted.nextSetBit(0); slot >= 0; slot = this.counted.nextSetBit(slot + 1)) {
			if (!now.serves(slot)) {
				this.counted.clear(slot);
				this.moved.add(slot);
			}
			else if (now.givesAway(slot)) {
				this.moved.add(slot);
			}
		}
		return true;
	}

	/** Whether the cluster no longer names the server as a master of any slot. */
	boolean isReplaced() {
		this.nodes.refresh();
		try {
			return !this.nodes.owners().isMaster(this.master);
		}
		catch (NoConnectionException ex) {
			return false;
		}
	}

}
