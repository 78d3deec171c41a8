package io.pipeset.lane;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.pipeset.pipeline.Pauses;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.servers.RedisNodes;
import io.pipeset.servers.SlotsAtNode;
import io.pipeset.slab.Redirect;
import io.pipeset.slab.Redirect.Kind;
import io.pipeset.slab.ResendRules;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The way a lane follows the redirections of a cluster. A command that was redirected did
 * not run, so it is sent again, as often as it takes within the job's timeout, unless a
 * later record of its key ran. All commands of a slot go the same way, so that they stay
 * in order:
 * <ul>
 * <li>to its new master, if any of them was told that the slot has moved;</li>
 * <li>to one other node, each behind an ASKING, if all of them were told to ask
 * there;</li>
 * <li>to its master once more in all other cases.</li>
 * </ul>
 */
final class Redirection {

	/** With more slots than this, the cluster is asked for all of them. */
	private static final int SINGLE_MOVES = 4;

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final LaneContext context;

	private final RedisNodes nodes;

	private final Destinations destinations;

	private final Pauses pauses;

	/** Redirections in a row without a slab that was answered for good. */
	private int rounds;

	/** The slots of the node, asked for once in each {@link #mark}. */
	private @Nullable SlotsAtNode served;

	/** Whether the node calls the cluster whole, likewise. */
	private @Nullable Boolean whole;

	Redirection(LaneContext context, Destinations destinations) {
		this.context = context;
		this.nodes = context.nodes();
		this.destinations = destinations;
		this.pauses = new Pauses(context.settings().timeout(), context.stop());
	}

	/** A slab was answered for good. */
	void progress() {
		this.rounds = 0;
		this.pauses.end();
	}

	/**
	 * Marks the commands that are to be sent again, and finds out where they go.
	 * @param unknownToo whether commands that may have run can be sent again at all
	 * @param transientToo whether commands can that were refused for a transient reason
	 */
	void mark(List<Slab> left, RedisNode node, boolean unknownToo, boolean transientToo) {
		long now = System.nanoTime();
		this.served = null;
		this.whole = null;
		ResendRules.mark(left, unknownToo, transientToo,
				(slab, redirect, byScript) -> follows(slab, redirect, byScript, node, now));
		Map<Integer, Route> routes = new HashMap<>();
		for (Slab slab : left) {
			slab.slots()
				.eachAgain(
						(command, slot, redirect) -> routes.computeIfAbsent(slot, (any) -> new Route()).add(redirect));
		}
		// A job that was stopped sends nothing more: such commands are unprocessed.
		if (routes.values().stream().anyMatch(Route::isRedirected) && !this.context.stop().isSet()) {
			this.rounds++;
			meter(routes, node);
			learn(routes, node);
			// By the end of a pause the other node may have another part in the move.
			if (routes.values().stream().anyMatch(Route::isDown) || !ask(left, routes, node)) {
				pause(routes, node);
			}
		}
	}

	private boolean follows(Slab slab, Redirect redirect, boolean byScript, RedisNode node, long now) {
		String refusal = slab.errors().askingRefusal();
		if (refusal != null) {
			this.context.stop().because(Cause.REDIS_REFUSES, refusal);
			return false;
		}
		if (now - slab.slots().redirectedSince(now) > this.context.settings().timeout().toNanos()) {
			if (redirect.kind() == Kind.WAIT) {
				this.context.stop()
					.because(Cause.REDIS_REFUSES,
							"The cluster has refused commands at " + node.name() + " for longer than the job's timeout,"
									+ " as it is not whole or is loading: the rest was not sent. Send the job again"
									+ " when CLUSTER INFO says that all slots are served.");
			}
			return false;
		}
		return !byScript || isConfirmed(redirect, node);
	}

	/** A script may have run and made the redirection up, so the node has to agree. */
	private boolean isConfirmed(Redirect redirect, RedisNode node) {
		SlotsAtNode known = slots(node);
		if (redirect.slot() >= 0 && !known.serves(redirect.slot())) {
			return true;
		}
		return (redirect.kind() == Kind.WAIT) ? !isWhole(node)
				: redirect.kind() != Kind.MOVED && redirect.slot() >= 0 && known.givesAway(redirect.slot());
	}

	/** If the node does not answer, it counts as serving all slots. */
	private SlotsAtNode slots(RedisNode node) {
		if (this.served == null) {
			try {
				this.served = this.nodes.slotsAt(node);
			}
			catch (RedisCallException ex) {
				this.served = SlotsAtNode.ALL;
			}
		}
		return this.served;
	}

	/** If the node does not answer, the cluster counts as whole. */
	private boolean isWhole(RedisNode node) {
		if (this.whole == null) {
			try {
				this.whole = node.calls().isClusterWhole();
			}
			catch (RedisCallException ex) {
				this.whole = true;
			}
		}
		return this.whole;
	}

	private void meter(Map<Integer, Route> routes, RedisNode node) {
		boolean waits = routes.values().stream().anyMatch(Route::waits);
		boolean moved = routes.values().stream().anyMatch((route) -> route.movedTo() != null);
		String kind = (waits) ? "cluster-wait" : (moved) ? "moved" : "ask";
		this.context.meters().retry(kind);
		this.context.meters().node(node.name()).redirected(kind);
	}

	/** Takes note of the masters that slots have moved to. */
	private void learn(Map<Integer, Route> routes, RedisNode node) {
		boolean puzzled = this.rounds > 1;
		int moves = 0;
		for (Map.Entry<Integer, Route> route : routes.entrySet()) {
			String target = route.getValue().movedTo();
			// No other node is sent anything, as a script may have made its address up.
			RedisNode master = (target != null) ? this.nodes.target(target, node) : null;
			if (master != null && master != node) {
				this.nodes.moved(route.getKey(), master);
				moves++;
			}
			else {
				puzzled |= target != null;
			}
		}
		if (puzzled || moves > SINGLE_MOVES) {
			this.nodes.refreshSoon();
		}
	}

	/** Has slabs go to the only nodes that all commands of their slots are sent to. */
	private boolean ask(List<Slab> left, Map<Integer, Route> routes, RedisNode node) {
		Map<Integer, RedisNode> asked = new HashMap<>();
		routes.forEach((slot, route) -> {
			String target = route.askedAt();
			RedisNode found = (target != null) ? this.nodes.target(target, node) : null;
			if (found != null) {
				asked.put(slot, found);
			}
		});
		for (Slab slab : left) {
			List<RedisNode> target = new ArrayList<>(1);
			slab.slots().eachAgain((command, slot, redirect) -> {
				RedisNode found = asked.get(slot);
				if (found != null && (target.isEmpty() || target.get(0) == found)) {
					slab.slots().ask(command);
					target.add(found);
				}
			});
			if (!target.isEmpty()) {
				this.destinations.ask(slab, target.get(0));
			}
		}
		return !asked.isEmpty();
	}

	private void pause(Map<Integer, Route> routes, RedisNode node) {
		boolean waits = routes.values().stream().anyMatch(Route::waits);
		if ((waits || this.rounds > 1) && !this.pauses.next()) {
			// Each slab has a timeout of its own.
			this.pauses.begin();
		}
		if (routes.values().stream().anyMatch(Route::isDown)) {
			awaitWhole(node);
			this.nodes.refreshSoon();
		}
	}

	/**
	 * Waits until the cluster is whole, so that it does not become so between the
	 * commands of one key.
	 */
	private void awaitWhole(RedisNode node) {
		long deadline = System.nanoTime() + this.context.settings().timeout().toNanos();
		try {
			while (!node.calls().isClusterWhole() && System.nanoTime() < deadline
					&& !this.context.stop().await(POLL_NANOS)) {
				this.nodes.refreshSoon();
			}
		}
		catch (RedisCallException ex) {
			// The next batch finds out.
		}
	}

	/** The redirections of one slot's commands that are to be sent again. */
	private static final class Route {

		private @Nullable String movedTo;

		private @Nullable String askedAt;

		private boolean asks = true;

		private boolean waits;

		private boolean down;

		private boolean redirected;

		void add(@Nullable Redirect redirect) {
			this.redirected |= redirect != null;
			if (redirect == null || redirect.kind() != Kind.ASK) {
				this.asks = false;
			}
			else {
				this.asks &= this.askedAt == null || Objects.equals(this.askedAt, redirect.target());
				this.askedAt = redirect.target();
			}
			if (redirect != null && redirect.kind() == Kind.MOVED) {
				this.movedTo = redirect.target();
			}
			this.down |= redirect != null && redirect.kind() == Kind.WAIT;
			this.waits |= this.down || (redirect != null && redirect.kind() == Kind.TRYAGAIN);
		}

		boolean isRedirected() {
			return this.redirected;
		}

		/** Whether some of them can run nowhere now. */
		boolean waits() {
			return this.waits;
		}

		/** Whether that is a state of the whole node. */
		boolean isDown() {
			return this.down;
		}

		@Nullable String movedTo() {
			return this.movedTo;
		}

		/** The only node that all of them were told to ask, or {@code null}. */
		@Nullable String askedAt() {
			return (this.asks) ? this.askedAt : null;
		}

	}

}
