package io.pipeset.engine.lane;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * Selects the node for each slab of a lane. Nearly all slabs go to the lane's home node.
 * In a cluster, a slab goes elsewhere if its home has lost all slots, or if some of the
 * slab's commands were redirected. The slab is not split: all of it goes to the master of
 * its first command, and commands that do not belong there are redirected again.
 */
final class Destinations {

	private final RedisNodes nodes;

	private final @Nullable RedisNode home;

	/** Where the next slab goes with an ASKING. */
	private @Nullable RedisNode askingNode;

	/** The last record of those that are sent one by one. */
	private long aloneUpTo = -1;

	private @Nullable RedisNode current;

	/** The last node that could not be reached. A script without keys avoids it. */
	private @Nullable RedisNode lastUnreachable;

	/**
	 * Creates the destinations of a lane.
	 * @param home the master whose records the lane sends; {@code null} for a single
	 * server
	 */
	Destinations(RedisNodes nodes, @Nullable RedisNode home) {
		this.nodes = nodes;
		this.home = home;
	}

	/**
	 * Selects the node of the next batch.
	 * @return the node of the batch's first slab
	 */
	RedisNode select(Slab first) throws NoConnectionException {
		this.current = nodeFor(first);
		return this.current;
	}

	/** Whether a slab goes to another node than the current batch. */
	boolean isElsewhere(Slab slab) {
		try {
			return nodeFor(slab) != this.current;
		}
		catch (NoConnectionException ex) {
			// The next batch reports this.
			return true;
		}
	}

	private RedisNode nodeFor(Slab slab) throws NoConnectionException {
		if (this.askingNode != null) {
			return this.askingNode;
		}
		Topology owners = this.nodes.owners();
		RedisNode only = owners.only();
		if (only != null) {
			return only;
		}
		RedisNode home = this.home;
		RedisNode avoided = this.lastUnreachable;
		if (avoided != null && slab.slots().first() == Slots.NONE) {
			return owners.after(avoided);
		}
		return (!slab.isSentAgain() && home != null && owners.isMaster(home)) ? home
				: owners.ownerOrAny(slab.slots().first());
	}

	/**
	 * Sends commands one by one from now on.
	 * @param last the index of the last record of these commands
	 * @param askingNode where the first one goes with an ASKING; {@code null} for none
	 */
	void sendAlone(long last, @Nullable RedisNode askingNode) {
		this.aloneUpTo = Math.max(this.aloneUpTo, last);
		this.askingNode = askingNode;
	}

	/** Prepares the next slab, which is about to be sent. */
	void prepare(Slab slab) {
		if (slab.firstIndex() <= this.aloneUpTo) {
			slab.attempt().sendAlone(this.askingNode != null);
		}
		this.askingNode = null;
	}

	/** Marks a node as unreachable. The next slab may have to go there no longer. */
	void markUnreachable(RedisNode node) {
		this.lastUnreachable = node;
		this.askingNode = null;
	}

}
