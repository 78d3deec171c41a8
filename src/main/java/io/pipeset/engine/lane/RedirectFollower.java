package io.pipeset.engine.lane;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * So it is resent until the job's timeout is over without a final answer, unless a later
 * record of its key ran. If all redirections are MOVED, the commands go to their new
 * masters as usual. In all other cases, they and all that were sent with them go one by
 * one, so that none overtakes another: after an ASKING to the node that an ASK names, or
 * to the slot's master after a backoff. {@link InFlightKeys} delays the later commands of
 * a multi-key record while slots move.
 */
final class RedirectFollower {

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

	/** Redirections in a row without a final answer. */
	private int rounds;

	/** When a redirection other than ASK was last followed for too long. */
	private final Map<Redirect, Long> expiredNanos = new HashMap<>(0);

	/** The kinds of the redirections that are being followed. */
	private final Set<Kind> kinds = EnumSet.noneOf(Kind.class);

	/** The new masters' addresses, by the slot. */
	private final Map<Integer, String> moved = new HashMap<>(0);

	/** The slots of the node, queried at most once per call of {@link #mark}. */
	private @Nullable SlotsAtNode nowAtNode;

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

	/** Ends the redirection, because a command has its final answer. */
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
		this.nowAtNode = null;
		this.kinds.clear();
		this.moved.clear();
		boolean expired = this.backoff.isOver();
		ResendRules.mark(unsettled, unknownToo, transientToo,
				(slab, redirect, byScript) -> follows(slab, redirect, byScript, node, expired));
		if (expired) {
			reset();
		}
		// A stopped job sends nothing more, so such commands stay unprocessed.
		if (!this.kinds.isEmpty() && !this.context.stop().isSet()) {
			follow(unsettled, node);
		}
	}

	private void follow(List<Slab> unsettled, RedisNode node) {
		if (this.rounds++ == 0) {
			this.backoff.begin();
		}
		// The state of the slots may have changed for the next commands.
		this.checkedNode = null;
		this.stableUntil = System.nanoTime();
		this.movingUntil = this.stableUntil + MOVING_NANOS;
		boolean waits = this.kinds.contains(Kind.TRYAGAIN) || this.kinds.contains(Kind.WAIT);
		String kind = (waits) ? "cluster-wait" : (this.moved.isEmpty()) ? "ask" : "moved";
		this.context.meters().retry(kind);
		this.context.meters().node(node.name()).redirected(kind);
		this.moved.forEach((slot, target) -> {
			RedisNode master = this.nodes.target(target, node);
			// Only known masters are used, because a script may have made up the address.
			if (master != null && master != node) {
				this.nodes.setOwner(slot, master);
			}
		});
		if (!this.kinds.equals(EnumSet.of(Kind.ASK))) {
			this.nodes.startRefresh();
		}
		RedisNode askingNode = askingNode(unsettled, node);
		if (!this.kinds.equals(EnumSet.of(Kind.MOVED))) {
			this.destinations.sendAlone(unsettled.get(unsettled.size() - 1).lastIndex(), askingNode);
		}
		// After a backoff, the other node's role in the move may have changed.
		if (askingNode == null && (waits || this.rounds > 1)) {
			boolean unused = this.backoff.next();
		}
	}

	/** The node that runs the first command after an ASKING; {@code null} for none. */
	private @Nullable RedisNode askingNode(List<Slab> unsettled, RedisNode node) {
		return unsettled.stream()
			.filter(Slab::isResent)
			.findFirst()
			.map((slab) -> slab.slots().firstRedirect())
			.filter((redirect) -> redirect.kind() == Kind.ASK)
			.map((redirect) -> this.nodes.target(redirect.target(), node))
			.orElse(null);
	}

	private boolean follows(Slab slab, Redirect redirect, boolean byScript, RedisNode node, boolean expired) {
		String refusal = slab.errors().askingRefusal();
		if (refusal != null) {
			this.context.stop().stop(Cause.REDIS_REFUSES, refusal);
			return false;
		}
		if (isExpired(redirect, expired)) {
			if (redirect.kind() == Kind.WAIT) {
				this.context.stop()
					.stop(Cause.REDIS_REFUSES, "The cluster has refused commands at " + node.name()
							+ " for longer than the job's timeout,"
							+ " because the cluster is down or the node is loading its data. The rest was not sent."
							+ " Send again what did not run when CLUSTER INFO says that all slots are served.");
			}
			return false;
		}
		if (byScript && !isConfirmed(redirect, node)) {
			return false;
		}
		this.kinds.add(redirect.kind());
		if (redirect.kind() == Kind.MOVED) {
			// The last command comes first, and its answer is the latest.
			this.moved.putIfAbsent(redirect.slot(), redirect.target());
		}
		return true;
	}

	/**
	 * Whether a redirection is no longer followed. If the keys of a slot stay divided
	 * between two masters, the first record with TRYAGAIN waits for the timeout, but
	 * later ones do not.
	 */
	private boolean isExpired(Redirect redirect, boolean expired) {
		long now = System.nanoTime();
		Long last = this.expiredNanos.get(redirect);
		boolean again = last != null && now - last < this.context.settings().timeout().toNanos();
		if ((expired || again) && redirect.kind() != Kind.ASK) {
			this.expiredNanos.put(redirect, now);
		}
		return expired || again;
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
		boolean known = now != SlotsAtNode.ALL && before != SlotsAtNode.ALL;
		return (redirect.kind() == Kind.WAIT) ? now != SlotsAtNode.ALL && isDown(node)
				: redirect.slot() >= 0 && known && now.hasNewEpoch(before);
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

	/** Whether the node reports the cluster as down. */
	private boolean isDown(RedisNode node) {
		try {
			return !node.calls().isClusterWhole();
		}
		catch (RedisCallException ex) {
			// No further script is confirmed by this node now.
			this.nowAtNode = SlotsAtNode.ALL;
			return false;
		}
	}

}
