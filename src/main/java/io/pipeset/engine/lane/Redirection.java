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
 * A command with several keys that was told to try again does not count, unless a later
 * one shares a key with it. So that none does, {@link InFlightKeys} keeps back later
 * commands of its keys, at least while slots move.
 */
final class Redirection {

	/** With more slots than this, the cluster is asked for all of them. */
	private static final int SINGLE_MOVES = 4;

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** How long the answer of a node counts that none of its slots is on its way. */
	private static final long STILL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	/** How long a lane waits for answers in any case, after it has begun. */
	private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** How long a move is expected to be followed by another one. */
	private static final long MOVES_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LaneContext context;

	private final RedisNodes nodes;

	private final Destinations destinations;

	private final Backoff pauses;

	/** Redirections in a row without a slab that was answered for good. */
	private int rounds;

	/**
	 * When a record of a slot was rejected last that was told to try again; by the slot.
	 */
	private final Map<Integer, Long> givenUp = new HashMap<>(0);

	/** The slots of the node, asked for once in each {@link #mark}. */
	private @Nullable SlotsAtNode served;

	/** Whether the node calls the cluster whole, likewise. */
	private @Nullable Boolean whole;

	/** The node that was asked last for its slots ahead of commands, and when. */
	private @Nullable RedisNode asked;

	private long askedNanos;

	/** What it said. */
	private SlotsAtNode before = SlotsAtNode.ALL;

	private volatile long stillUntil = System.nanoTime();

	/** At first as if slots moved: a short job never meets the beginning of a move. */
	private long movesUntil = System.nanoTime() + FIRST_NANOS;

	Redirection(LaneContext context, Destinations destinations) {
		this.context = context;
		this.nodes = context.nodes();
		this.destinations = destinations;
		this.pauses = new Backoff(context.settings().timeout(), context.stop());
	}

	/**
	 * Asks a node for its slots ahead of commands that depend on them, unless it was
	 * asked just now. If it does not answer, nothing is known of the time ahead of them.
	 */
	void look(RedisNode node) {
		if (this.asked != node || System.nanoTime() - this.askedNanos > STILL_NANOS) {
			this.asked = node;
			this.askedNanos = System.nanoTime();
			this.served = null;
			this.before = slots(node);
			if (this.before == SlotsAtNode.ALL || !this.before.onTheirWay().isEmpty()) {
				this.movesUntil = this.askedNanos + MOVES_NANOS;
			}
			boolean still = this.askedNanos - this.movesUntil >= 0;
			this.stillUntil = (still) ? this.askedNanos + STILL_NANOS : this.askedNanos;
		}
	}

	/**
	 * Whether the node has just said that none of its slots moves, nor did before. The
	 * thread that reads the input asks, too.
	 */
	boolean isStill() {
		return System.nanoTime() - this.stillUntil < 0;
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
		Set<ByteBuffer> putOff = new HashSet<>();
		for (Slab slab : left) {
			slab.slots().eachAgain((command, slot, redirect) -> {
				boolean waits = redirect != null && redirect.kind() == Kind.TRYAGAIN;
				List<ByteBuffer> keys = (waits || !putOff.isEmpty()) ? slab.slots().keys(command) : List.of();
				boolean behind = keys.stream().anyMatch(putOff::contains);
				routes.computeIfAbsent(slot, (any) -> new Route()).add(redirect, behind);
				if (waits) {
					putOff.addAll(keys);
				}
			});
		}
		// A job that was stopped sends nothing more: such commands are unprocessed.
		if (routes.values().stream().anyMatch(Route::isRedirected) && !this.context.stop().isSet()) {
			this.rounds++;
			// The next commands may be of another time.
			this.asked = null;
			this.stillUntil = now;
			this.movesUntil = now + MOVES_NANOS;
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
		if (isOver(slab, redirect, now)) {
			if (redirect.kind() == Kind.WAIT) {
				this.context.stop()
					.because(Cause.REDIS_REFUSES, "The cluster has refused commands at " + node.name()
							+ " for longer than the job's timeout,"
							+ " as it is not whole or is loading: the rest was not sent. Send again what did not run"
							+ " when CLUSTER INFO says that all slots are served.");
			}
			return false;
		}
		return !byScript || isConfirmed(redirect, node);
	}

	/**
	 * Whether a redirection is not followed any longer. A slot whose keys stay at two
	 * masters is not waited for once more by each record that needs both.
	 */
	private boolean isOver(Slab slab, Redirect redirect, long now) {
		long timeout = this.context.settings().timeout().toNanos();
		boolean over = now - slab.slots().redirectedSince(now) > timeout;
		if (redirect.kind() == Kind.TRYAGAIN) {
			Long last = this.givenUp.get(redirect.slot());
			over |= last != null && now - last < timeout;
			if (over) {
				this.givenUp.put(redirect.slot(), now);
			}
		}
		return over;
	}

	/**
	 * A script may have run and made the redirection up, so the state of the node has to
	 * agree: as it was ahead of the script or is now, the slot is not there, or is
	 * leaving. Or the slot has left and come back, for which the node has a new epoch.
	 */
	private boolean isConfirmed(Redirect redirect, RedisNode node) {
		SlotsAtNode now = slots(node);
		SlotsAtNode before = (this.asked == node) ? this.before : SlotsAtNode.ALL;
		if (isConfirmed(redirect, now) || isConfirmed(redirect, before)) {
			return true;
		}
		if (redirect.kind() == Kind.WAIT) {
			return !isWhole(node);
		}
		return redirect.slot() >= 0 && now != SlotsAtNode.ALL && before != SlotsAtNode.ALL && now.hasNewEpoch(before);
	}

	private static boolean isConfirmed(Redirect redirect, SlotsAtNode slots) {
		return redirect.slot() >= 0 && (!slots.serves(redirect.slot())
				|| (redirect.kind() != Kind.MOVED && redirect.kind() != Kind.WAIT && slots.givesAway(redirect.slot())));
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
				if (found != null && redirect != null && redirect.kind() == Kind.ASK
						&& (target.isEmpty() || target.get(0) == found)) {
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

		/**
		 * Adds what a command was told that may share a key with one ahead that waits.
		 */
		void add(@Nullable Redirect redirect, boolean behind) {
			this.redirected |= redirect != null;
			this.asks &= !behind;
			if (redirect != null && redirect.kind() == Kind.ASK) {
				this.asks &= this.askedAt == null || Objects.equals(this.askedAt, redirect.target());
				this.askedAt = redirect.target();
			}
			else {
				this.asks &= redirect != null && redirect.kind() == Kind.TRYAGAIN;
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

		/**
		 * The only node that all of them were told to ask, but for those that were told
		 * to try again; or {@code null}.
		 */
		@Nullable String askedAt() {
			return (this.asks) ? this.askedAt : null;
		}

	}

}
