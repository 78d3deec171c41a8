package io.pipeset.engine.lane;

import java.util.HashMap;
import java.util.Map;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that the slabs of a lane go to. Nearly all go to the lane's home. In a
 * cluster a slab goes elsewhere if the home has lost all of its slots, or if commands of
 * the slab were redirected. A slab is not divided for that: it goes to the master of its
 * first command, and the commands that do not belong there are redirected once more.
 */
final class Destinations {

	private final RedisNodes nodes;

	private final @Nullable RedisNode home;

	/** The nodes that slabs with an ASKING go to. */
	private final Map<Slab, RedisNode> asked = new HashMap<>(0);

	private @Nullable RedisNode current;

	/** The last node that could not be reached, which a script without keys avoids. */
	private @Nullable RedisNode unreachable;

	/**
	 * The destinations of a lane.
	 * @param home the node that its slabs are filled for; {@code null} for a single
	 * server
	 */
	Destinations(RedisNodes nodes, @Nullable RedisNode home) {
		this.nodes = nodes;
		this.home = home;
	}

	/**
	 * Begins a batch.
	 * @return the node that it goes to
	 */
	RedisNode begin(Slab first) throws NoConnectionException {
		this.current = of(first);
		return this.current;
	}

	/** Whether a slab does not belong into the batch that has begun. */
	boolean isElsewhere(Slab slab) {
		try {
			return of(slab) != this.current;
		}
		catch (NoConnectionException ex) {
			// The next batch finds out.
			return true;
		}
	}

	private RedisNode of(Slab slab) throws NoConnectionException {
		RedisNode asked = (this.asked.isEmpty()) ? null : this.asked.get(slab);
		if (asked != null) {
			return asked;
		}
		Topology owners = this.nodes.owners();
		RedisNode only = owners.only();
		if (only != null) {
			return only;
		}
		RedisNode home = this.home;
		RedisNode avoided = this.unreachable;
		if (avoided != null && slab.slots().first() == Slots.NONE) {
			return owners.after(avoided);
		}
		return (!slab.isSentAgain() && home != null && owners.isMaster(home)) ? home
				: owners.ownerOrAny(slab.slots().first());
	}

	/** Sends a slab to a node that is to be asked. */
	void ask(Slab slab, RedisNode node) {
		this.asked.put(slab, node);
	}

	/** A slab is sent. */
	void leaves(Slab slab) {
		this.asked.remove(slab);
	}

	/** A node cannot be reached: gives up asking, as it may be the one to be asked. */
	void unreachable(RedisNode node) {
		this.unreachable = node;
		this.asked.keySet().forEach((slab) -> slab.slots().askNothing());
		this.asked.clear();
	}

}
