package io.pipeset.engine.lane;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotsAtNode;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.Redirect.Kind;
import io.pipeset.engine.slab.ResendRules;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Follows the redirections of a cluster for one lane. A redirected command did not run.
 * So it is resent within the job's timeout, as often as needed, unless a later record of
 * its key ran. All commands of a slot go to the same node, so that they stay in order:
 * <ul>
 * <li>to its new master, if any of them was answered with MOVED;</li>
 * <li>to one other node, each after an ASKING, if all of them were answered with ASK for
 * that node;</li>
 * <li>to its current master again in all other cases.</li>
 * </ul>
 * A multi-key command that was answered with TRYAGAIN does not prevent ASKING, unless a
 * later command shares a key with it. {@link InFlightKeys} delays such later commands
 * while slots move.
 */
final class RedirectFollower {

	/** If more slots than this have moved, the whole slot table is refreshed. */
	private static final int MAX_SINGLE_MOVES = 4;

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** How long a node's answer that none of its slots moves stays valid. */
	private static final long STABLE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	/** How long slots count as moving after the lane was created. */
	private static final long INITIAL_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * How long slots count as moving after one has moved, because another move is likely.
	 */
	private static final long MOVING_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LaneContext context;

	private final RedisNodes nodes;

	private final Destinations destinations;

	private final Backoff backoff;

	/** Redirections in a row without a final answer to a slab. */
	private int rounds;

	/** When a record with TRYAGAIN was last rejected, by its slot. */
	private final Map<Integer, Long> rejectedNanos = new HashMap<>(0);

	/** The slots of the node, queried at most once per call of {@link #mark}. */
	private @Nullable SlotsAtNode nowAtNode;

	/**
	 * Whether the node reports the cluster as whole, queried at most once per call of
	 * {@link #mark}.
	 */
	private @Nullable Boolean clusterWhole;

	/** The node that was last asked for its slots before commands were sent, and when. */
	private @Nullable RedisNode checkedNode;

	private long checkedNanos;

	/** The slots that {@link #checkedNode} reported then. */
	private SlotsAtNode beforeAtNode = SlotsAtNode.ALL;

	private volatile long stableUntil = System.nanoTime();

	/**
	 * Starts as if slots moved, because a short job cannot see the beginning of a move.
	 */
	private long movingUntil = System.nanoTime() + INITIAL_NANOS;

	RedirectFollower(LaneContext context, Destinations destinations) {
		this.context = context;
		this.nodes = context.nodes();
		this.destinations = destinations;
		this.backoff = new Backoff(context.settings().timeout(), context.stop());
	}

	/**
	 * Asks a node for its slots before commands are sent that depend on them, unless its
	 * last answer is still valid. If the node does not answer, its slots count as moving.
	 */
	void checkSlots(RedisNode node) {
		if (this.checkedNode != node || System.nanoTime() - this.checkedNanos > STABLE_NANOS) {
			this.checkedNode = node;
			this.checkedNanos = System.nanoTime();
			this.nowAtNode = null;
			this.beforeAtNode = nowAt(node);
			if (this.beforeAtNode == SlotsAtNode.ALL || !this.beforeAtNode.moving().isEmpty()) {
				this.movingUntil = this.checkedNanos + MOVING_NANOS;
			}
			boolean stable = this.checkedNanos - this.movingUntil >= 0;
			this.stableUntil = (stable) ? this.checkedNanos + STABLE_NANOS : this.checkedNanos;
		}
	}

	/**
	 * Whether the node has just reported that none of its slots moves. The reading thread
	 * calls this, too.
	 */
	boolean areSlotsStable() {
		return System.nanoTime() - this.stableUntil < 0;
	}

	/** Ends the redirection, because a slab has its final answer. */
	void reset() {
		this.rounds = 0;
		this.backoff.end();
	}

	/**
	 * Marks the commands to resend, and determines their nodes.
	 * @param unknownToo whether commands that may have run can be resent at all
	 * @param transientToo whether commands refused for a transient reason can be resent
	 */
	void mark(List<Slab> unsettled, RedisNode node, boolean unknownToo, boolean transientToo) {
		long now = System.nanoTime();
		this.nowAtNode = null;
		this.clusterWhole = null;
		ResendRules.mark(unsettled, unknownToo, transientToo,
				(slab, redirect, byScript) -> decide(slab, redirect, byScript, node, now));
		Map<Integer, Route> routes = new HashMap<>();
		Set<ByteBuffer> deferredKeys = new HashSet<>();
		for (Slab slab : unsettled) {
			slab.slots().eachAgain((command, slot, redirect) -> {
				boolean deferred = redirect != null && redirect.kind() == Kind.TRYAGAIN;
				List<ByteBuffer> keys = (deferred || !deferredKeys.isEmpty()) ? slab.slots().keys(command) : List.of();
				boolean afterDeferred = keys.stream().anyMatch(deferredKeys::contains);
				routes.computeIfAbsent(slot, (any) -> new Route()).add(redirect, afterDeferred);
				if (deferred) {
					deferredKeys.addAll(keys);
				}
			});
		}
		// A stopped job sends nothing more, so such commands stay unprocessed.
		if (routes.values().stream().anyMatch(Route::isRedirected) && !this.context.stop().isSet()) {
			this.rounds++;
			// The state of the slots may have changed for the next commands.
			this.checkedNode = null;
			this.stableUntil = now;
			this.movingUntil = now + MOVING_NANOS;
			recordMeters(routes, node);
			updateOwners(routes, node);
			// After a backoff, the other node's role in the move may have changed.
			if (routes.values().stream().anyMatch(Route::isDown) || !routeAsking(unsettled, routes, node)) {
				backOff(routes, node);
			}
		}
	}

	private boolean decide(Slab slab, Redirect redirect, boolean byScript, RedisNode node, long now) {
		String refusal = slab.errors().askingRefusal();
		if (refusal != null) {
			this.context.stop().stop(Cause.REDIS_REFUSES, refusal);
			return false;
		}
		if (checkExpired(slab, redirect, now)) {
			if (redirect.kind() == Kind.WAIT) {
				this.context.stop()
					.stop(Cause.REDIS_REFUSES, "The cluster has refused commands at " + node.name()
							+ " for longer than the job's timeout,"
							+ " because the cluster is down or the node is loading its data. The rest was not sent."
							+ " Send again what did not run when CLUSTER INFO says that all slots are served.");
			}
			return false;
		}
		return !byScript || isConfirmed(redirect, node);
	}

	/**
	 * Whether a redirection is no longer followed. If the keys of a slot stay divided
	 * between two masters, the first record with TRYAGAIN waits for the timeout, but
	 * later ones do not.
	 */
	private boolean checkExpired(Slab slab, Redirect redirect, long now) {
		long timeout = this.context.settings().timeout().toNanos();
		boolean expired = now - slab.slots().redirectedSince(now) > timeout;
		if (redirect.kind() == Kind.TRYAGAIN) {
			Long last = this.rejectedNanos.get(redirect.slot());
			expired |= last != null && now - last < timeout;
			if (expired) {
				this.rejectedNanos.put(redirect.slot(), now);
			}
		}
		return expired;
	}

	/**
	 * Confirms the redirection of a script with the state of the node, because the script
	 * itself may have returned this error. The slot must be absent or migrating, either
	 * before the script was sent or now. Or the slot has left and come back, which gave
	 * the node a new epoch.
	 */
	private boolean isConfirmed(Redirect redirect, RedisNode node) {
		SlotsAtNode now = nowAt(node);
		SlotsAtNode before = (this.checkedNode == node) ? this.beforeAtNode : SlotsAtNode.ALL;
		if (isConfirmed(redirect, now) || isConfirmed(redirect, before)) {
			return true;
		}
		if (redirect.kind() == Kind.WAIT) {
			return !isWhole(node);
		}
		return redirect.slot() >= 0 && now != SlotsAtNode.ALL && before != SlotsAtNode.ALL && now.hasNewEpoch(before);
	}

	private static boolean isConfirmed(Redirect redirect, SlotsAtNode slots) {
		return redirect.slot() >= 0 && (!slots.isServed(redirect.slot()) || (redirect.kind() != Kind.MOVED
				&& redirect.kind() != Kind.WAIT && slots.isMigrating(redirect.slot())));
	}

	/**
	 * The slots of a node now. A node that does not answer counts as serving all slots.
	 */
	private SlotsAtNode nowAt(RedisNode node) {
		if (this.nowAtNode == null) {
			try {
				this.nowAtNode = this.nodes.slotsAt(node);
			}
			catch (RedisCallException ex) {
				this.nowAtNode = SlotsAtNode.ALL;
			}
		}
		return this.nowAtNode;
	}

	/**
	 * Whether the node reports the cluster as whole. It counts as whole if the node does
	 * not answer.
	 */
	private boolean isWhole(RedisNode node) {
		if (this.clusterWhole == null) {
			try {
				this.clusterWhole = node.calls().isClusterWhole();
			}
			catch (RedisCallException ex) {
				this.clusterWhole = true;
			}
		}
		return this.clusterWhole;
	}

	private void recordMeters(Map<Integer, Route> routes, RedisNode node) {
		boolean waits = routes.values().stream().anyMatch(Route::waits);
		boolean moved = routes.values().stream().anyMatch((route) -> route.movedTarget() != null);
		String kind = (waits) ? "cluster-wait" : (moved) ? "moved" : "ask";
		this.context.meters().retry(kind);
		this.context.meters().node(node.name()).redirected(kind);
	}

	/** Records the new masters of moved slots. */
	private void updateOwners(Map<Integer, Route> routes, RedisNode node) {
		boolean refresh = this.rounds > 1;
		int moves = 0;
		for (Map.Entry<Integer, Route> route : routes.entrySet()) {
			String target = route.getValue().movedTarget();
			// Only known masters are used, because a script may have made up the address.
			RedisNode master = (target != null) ? this.nodes.target(target, node) : null;
			if (master != null && master != node) {
				this.nodes.setOwner(route.getKey(), master);
				moves++;
			}
			else {
				refresh |= target != null;
			}
		}
		if (refresh || moves > MAX_SINGLE_MOVES) {
			this.nodes.startRefresh();
		}
	}

	/**
	 * Sends slabs with an ASKING if all commands of their slots were redirected to the
	 * same node.
	 */
	private boolean routeAsking(List<Slab> unsettled, Map<Integer, Route> routes, RedisNode node) {
		Map<Integer, RedisNode> askNodes = new HashMap<>();
		routes.forEach((slot, route) -> {
			String target = route.askTarget();
			RedisNode found = (target != null) ? this.nodes.target(target, node) : null;
			if (found != null) {
				askNodes.put(slot, found);
			}
		});
		for (Slab slab : unsettled) {
			List<RedisNode> target = new ArrayList<>(1);
			slab.slots().eachAgain((command, slot, redirect) -> {
				RedisNode found = askNodes.get(slot);
				if (found != null && redirect != null && redirect.kind() == Kind.ASK
						&& (target.isEmpty() || target.get(0) == found)) {
					slab.slots().ask(command);
					target.add(found);
				}
			});
			if (!target.isEmpty()) {
				this.destinations.setAskingNode(slab, target.get(0));
			}
		}
		return !askNodes.isEmpty();
	}

	private void backOff(Map<Integer, Route> routes, RedisNode node) {
		boolean waits = routes.values().stream().anyMatch(Route::waits);
		if ((waits || this.rounds > 1) && !this.backoff.next()) {
			// Each slab has its own timeout.
			this.backoff.begin();
		}
		if (routes.values().stream().anyMatch(Route::isDown)) {
			awaitWhole(node);
			this.nodes.startRefresh();
		}
	}

	/**
	 * Waits until the cluster is whole. If it became whole between two commands of one
	 * key, the later one could run first.
	 */
	private void awaitWhole(RedisNode node) {
		long deadline = System.nanoTime() + this.context.settings().timeout().toNanos();
		try {
			while (!node.calls().isClusterWhole() && System.nanoTime() < deadline
					&& !this.context.stop().await(POLL_NANOS)) {
				this.nodes.startRefresh();
			}
		}
		catch (RedisCallException ex) {
			// The next batch reports this.
		}
	}

	/** The redirections of one slot's commands that are to be sent again. */
	private static final class Route {

		private @Nullable String movedTarget;

		private @Nullable String askTarget;

		private boolean asksOneNode = true;

		private boolean waits;

		private boolean down;

		private boolean redirected;

		/**
		 * Adds the answer to a command.
		 * @param afterDeferred whether it shares a key with an earlier command that was
		 * answered with TRYAGAIN
		 */
		void add(@Nullable Redirect redirect, boolean afterDeferred) {
			this.redirected |= redirect != null;
			this.asksOneNode &= !afterDeferred;
			if (redirect != null && redirect.kind() == Kind.ASK) {
				this.asksOneNode &= this.askTarget == null || Objects.equals(this.askTarget, redirect.target());
				this.askTarget = redirect.target();
			}
			else {
				this.asksOneNode &= redirect != null && redirect.kind() == Kind.TRYAGAIN;
			}
			if (redirect != null && redirect.kind() == Kind.MOVED) {
				this.movedTarget = redirect.target();
			}
			this.down |= redirect != null && redirect.kind() == Kind.WAIT;
			this.waits |= this.down || (redirect != null && redirect.kind() == Kind.TRYAGAIN);
		}

		boolean isRedirected() {
			return this.redirected;
		}

		/** Whether some of the commands cannot run on any node now. */
		boolean waits() {
			return this.waits;
		}

		/** Whether the cluster is down, or the whole node is loading. */
		boolean isDown() {
			return this.down;
		}

		@Nullable String movedTarget() {
			return this.movedTarget;
		}

		/**
		 * The node that all commands were redirected to by ASK; {@code null} if there is
		 * none. Commands that were answered with TRYAGAIN do not count.
		 */
		@Nullable String askTarget() {
			return (this.asksOneNode) ? this.askTarget : null;
		}

	}

}
