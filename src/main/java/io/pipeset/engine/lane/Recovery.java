package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.ResendRules;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The way a lane goes on after a loss, which costs the job one of its retries.
 */
final class Recovery {

	/** How long to wait for a fence before a look at the cluster. */
	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private final LaneContext context;

	/** Follows a cluster; {@code null} for a single server. */
	private final @Nullable Redirection redirection;

	private final RetryBackoff pauses;

	/** When the lane asked for the connection of its last batch. */
	private long askedNanos;

	/** When the lane was well for the last time, as far as it knows. */
	private long wellNanos;

	/** Whether the lane has turned to another node since Redis answered last. */
	private boolean turned;

	/** Connections in a row that were dead when they were lent. */
	private int deadConnections;

	/** The connection of the last batch, by the time when it was lent first. */
	private long lentNanos;

	Recovery(LaneContext context, @Nullable Redirection redirection) {
		this.context = context;
		this.redirection = redirection;
		this.pauses = new RetryBackoff(context, context.retries());
	}

	/** The recovery of a lane to a single server. */
	Recovery(LaneContext context) {
		this(context, null);
	}

	/** The lane asks for the connection of its next batch. */
	void asks() {
		this.askedNanos = System.nanoTime();
		this.wellNanos = this.askedNanos;
	}

	/**
	 * The lane was lent a connection. An older one may have ended with those of other
	 * lanes, and nobody has noticed. One that is new to the lane may lead to a server
	 * that has forgotten pops: the job ends before it pops more, or values that were lost
	 * later could take their place unseen.
	 * @param firstLentNanos when it was lent first, by {@link System#nanoTime()}
	 */
	void lent(long firstLentNanos) {
		if (firstLentNanos - this.wellNanos < 0) {
			this.wellNanos = firstLentNanos;
		}
		LostPopResolver pops = this.context.unknownPops();
		long popped = this.context.account().taken().count();
		if (pops != null && popped > 0 && firstLentNanos != this.lentNanos && !this.context.stop().isSet()
				&& !pops.resolve(List.of(), popped)) {
			this.context.stop()
				.because(Cause.REDIS_LOST,
						"Redis did not say on a new connection whether it has what was popped before");
		}
		this.lentNanos = firstLentNanos;
	}

	/** Redis has answered again. */
	void progress() {
		this.pauses.progress();
		this.wellNanos = this.askedNanos;
		this.deadConnections = 0;
		this.turned = false;
		if (this.redirection != null) {
			this.redirection.progress();
		}
	}

	/**
	 * Whether the lane may turn to another node at once, as the cluster has named a new
	 * master.
	 */
	boolean mayTurn() {
		boolean first = !this.turned;
		this.turned = true;
		return first;
	}

	/** Whether commands may be sent again that failed for a transient reason. */
	boolean mayGoOn() {
		return this.pauses.mayGoOn();
	}

	/** Whether the lane would go on after a loss. */
	boolean maySurviveLoss() {
		return this.pauses.mayGoOn(this.wellNanos);
	}

	/** The lane got no connection. */
	void unreachable(NoConnectionException ex) {
		if (!this.pauses.goesOn("unreachable")) {
			this.context.stop().because(ex, JobStop.SEND_THE_REST);
		}
	}

	/** Finds out which slots a node of a cluster has, and whether they move. */
	void look(RedisNode node) {
		if (this.redirection != null) {
			this.redirection.look(node);
		}
	}

	/** Whether no command can be put off that has several keys. */
	boolean isStill() {
		return this.redirection == null || this.redirection.isStill();
	}

	/**
	 * Marks the commands of a batch that are to be sent again.
	 * @param batch the end of a batch that left slabs behind
	 */
	void after(BatchResult batch, RedisNode node) {
		List<Slab> left = batch.left();
		Loss loss = batch.loss();
		if (!batch.used()) {
			dead(left, batch);
		}
		else if (loss != null) {
			lost(left, loss, batch, node);
		}
		else {
			refused(left, batch, node);
		}
	}

	private void refused(List<Slab> left, BatchResult batch, RedisNode node) {
		String error = batch.transientError();
		boolean charged = error != null && !this.context.nodes().redirects(error);
		boolean transientToo = charged && mayGoOn() && this.pauses.goesOnRefused(String.valueOf(error));
		if (transientToo || batch.hasRefusedInCommon() || this.redirection != null) {
			mark(left, node, false, transientToo);
		}
	}

	private void mark(List<Slab> left, RedisNode node, boolean unknownToo, boolean transientToo) {
		if (this.redirection != null) {
			this.redirection.mark(left, node, unknownToo, transientToo);
		}
		else {
			ResendRules.mark(left, unknownToo, transientToo);
		}
	}

	/** The connection was dead before anything could be written to it. */
	private void dead(List<Slab> left, BatchResult batch) {
		if (++this.deadConnections > this.context.pipeline().maxConnections()) {
			this.context.stop()
				.because(Cause.REDIS_UNREACHABLE,
						"The connection to Redis was lost before anything could be written: " + batch.failure());
		}
		else {
			ResendRules.mark(left, false, true);
		}
	}

	private void lost(List<Slab> left, Loss loss, BatchResult batch, RedisNode node) {
		boolean demoted = left.stream().anyMatch((slab) -> slab.attempt().isDemoted());
		// Until the new master is known, the old one may refuse again and again.
		boolean goesOn = (demoted && this.pauses.areUnderWay()) || this.pauses.begin(loss.code(), this.wellNanos);
		boolean fenced = true;
		Fence fence = batch.fence();
		if (fence != null) {
			Fence.State state = await(fence, goesOn, left, node);
			fenced = state == Fence.State.CONFIRMED;
			this.context.account().losses().fenced(fenced);
			goesOn &= state != Fence.State.PENDING;
			LostPopResolver pops = this.context.unknownPops();
			goesOn &= pops == null
					|| (fenced && batch.complete() && pops.resolve(left, this.context.account().taken().count()));
		}
		if (goesOn && this.pauses.pause()) {
			this.context.nodes().refresh();
			mark(left, node, fenced, true);
		}
		else {
			this.context.stop().because(Cause.REDIS_LOST, loss.message());
		}
	}

	/**
	 * Waits for a fence. It also stands once the cluster names other masters for all
	 * slots in doubt: nothing that the former master still runs for them is kept.
	 */
	private Fence.State await(Fence fence, boolean goesOn, List<Slab> left, RedisNode node) {
		long lost = System.nanoTime();
		Duration timeout = this.context.settings().timeout();
		if (this.redirection == null) {
			return fence.await(timeout, goesOn, this.context.stop());
		}
		BitSet slots = new BitSet();
		left.forEach((slab) -> slots.or(slab.slots().unknown()));
		long until = lost + timeout.toNanos();
		while (true) {
			long nanos = Math.min(LOOK_NANOS, until - System.nanoTime());
			Fence.State state = fence.await(Duration.ofNanos(Math.max(nanos, 0)), goesOn, this.context.stop());
			if (state != Fence.State.PENDING) {
				return state;
			}
			this.context.nodes().refresh();
			if (this.context.nodes().isSuperseded(node, slots::get, lost)) {
				return Fence.State.CONFIRMED;
			}
			if (!goesOn || nanos <= 0 || this.context.stop().isSet()) {
				return state;
			}
		}
	}

}
