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
 * Decides how a lane continues after a loss, which costs the job one retry, or after
 * refused commands.
 */
final class Recovery {

	/** How long to wait for a fence before each refresh of the cluster's masters. */
	private static final long FENCE_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private final LaneContext context;

	/** Follows the redirections of a cluster; {@code null} for a single server. */
	private final @Nullable RedirectFollower redirects;

	private final RetryBackoff backoff;

	/** When the lane requested the connection of its last batch. */
	private long requestedNanos;

	/** When the lane last had a working connection, as far as it knows. */
	private long healthyNanos;

	/** Whether the lane has switched to another node since Redis last answered. */
	private boolean switched;

	/** Connections in a row that were already dead when they were lent. */
	private int deadConnections;

	/** Identifies the connection of the last batch by the time when it was first lent. */
	private long lastLentNanos;

	/** The number of the lane in the job's mark. */
	private final int lane;

	Recovery(LaneContext context, @Nullable RedirectFollower redirects, int lane) {
		this.lane = lane;
		this.context = context;
		this.redirects = redirects;
		this.backoff = new RetryBackoff(context, context.retries());
	}

	/** Creates the recovery of a lane to a single server. */
	Recovery(LaneContext context) {
		this(context, null, 0);
	}

	/** Marks that the lane requests the connection of its next batch. */
	void startRequest() {
		this.requestedNanos = System.nanoTime();
		this.healthyNanos = this.requestedNanos;
	}

	/**
	 * Accepts a connection that was lent to the lane. The pool does not notice when an
	 * idle connection ends. So the lane counts as healthy only until the connection was
	 * first lent. A connection that is new to the lane may lead to a server that has
	 * forgotten pops. The job is then stopped, because values lost later could be
	 * mistaken for the forgotten ones.
	 * @param firstLentNanos when the connection was first lent, by
	 * {@link System#nanoTime()}
	 */
	void acceptConnection(long firstLentNanos) {
		if (firstLentNanos - this.healthyNanos < 0) {
			this.healthyNanos = firstLentNanos;
		}
		LostPopResolver pops = this.context.unknownPops();
		long popped = this.context.account().taken().count();
		if (pops != null && popped > 0 && firstLentNanos != this.lastLentNanos && !this.context.stop().isSet()
				&& !pops.resolve(List.of(), popped)) {
			this.context.stop()
				.stop(Cause.REDIS_LOST,
						"Redis did not confirm, on a new connection, the values that the job had popped before");
		}
		this.lastLentNanos = firstLentNanos;
	}

	/** Marks that Redis has answered, so the next loss is a new one. */
	void markHealthy() {
		this.backoff.progress();
		this.healthyNanos = this.requestedNanos;
		this.deadConnections = 0;
		this.switched = false;
		if (this.redirects != null) {
			this.redirects.reset();
		}
	}

	/**
	 * Lets the lane switch to another node without backoff, once until Redis answers.
	 * @return {@code false} if it has switched already
	 */
	boolean trySwitch() {
		boolean first = !this.switched;
		this.switched = true;
		return first;
	}

	/** Whether commands that were refused for a transient reason may be resent. */
	boolean mayRetry() {
		return this.backoff.mayRetry();
	}

	/** Whether the lane may continue after a loss. */
	boolean maySurviveLoss() {
		return this.backoff.mayRetry(this.healthyNanos);
	}

	/** Waits before the next attempt to connect, or stops the job. */
	void retryUnreachable(NoConnectionException ex) {
		if (!this.backoff.goesOn("unreachable")) {
			this.context.stop().stop(ex, JobStop.SEND_THE_REST);
		}
	}

	/** Asks a node of a cluster for its slots, and whether they move. */
	void checkSlots(RedisNode node) {
		if (this.redirects != null) {
			this.redirects.checkSlots(node);
		}
	}

	/**
	 * Whether Redis cannot answer a multi-key command with {@code TRYAGAIN}, because no
	 * slot moves.
	 */
	boolean areSlotsStable() {
		return this.redirects == null || this.redirects.areSlotsStable();
	}

	/**
	 * Marks the commands to resend after a batch, or stops the job.
	 * @param batch the result of a batch with unsettled slabs
	 */
	void recover(BatchResult batch, RedisNode node) {
		List<Slab> unsettled = batch.unsettled();
		Loss loss = batch.loss();
		if (!batch.written()) {
			recoverUnused(unsettled, batch);
		}
		else if (loss != null) {
			recoverLost(unsettled, loss, batch, node);
		}
		else {
			recoverRefused(unsettled, batch, node);
		}
	}

	private void recoverRefused(List<Slab> unsettled, BatchResult batch, RedisNode node) {
		String error = batch.transientError();
		boolean costsRetry = error != null && !this.context.nodes().redirects(error);
		boolean transientToo = costsRetry && mayRetry() && this.backoff.awaitRefusedRetry(String.valueOf(error));
		if (transientToo || batch.hasCoalescedRefusals() || this.redirects != null) {
			mark(unsettled, node, false, transientToo);
		}
	}

	private void mark(List<Slab> unsettled, RedisNode node, boolean unknownToo, boolean transientToo) {
		if (this.redirects != null) {
			this.redirects.mark(unsettled, node, unknownToo, transientToo);
		}
		else {
			ResendRules.mark(unsettled, unknownToo, transientToo);
		}
	}

	/** Handles a connection that was dead before anything was written to it. */
	private void recoverUnused(List<Slab> unsettled, BatchResult batch) {
		if (++this.deadConnections > this.context.pipeline().maxConnections()) {
			this.context.stop()
				.stop(Cause.REDIS_UNREACHABLE,
						"The connection to Redis was lost before anything could be written: " + batch.failure());
		}
		else {
			ResendRules.mark(unsettled, false, true);
		}
	}

	private void recoverLost(List<Slab> unsettled, Loss loss, BatchResult batch, RedisNode node) {
		boolean demoted = unsettled.stream().anyMatch((slab) -> slab.attempt().isDemoted());
		// Until the new master is known, the old one may refuse commands repeatedly.
		boolean retrying = (demoted && this.backoff.isRetrying())
				|| this.backoff.startRetry(loss.code(), this.healthyNanos);
		boolean fenced = true;
		Fence fence = batch.fence();
		if (fence != null) {
			JobMark mark = this.context.mark();
			Fence.State state = awaitFence(fence, retrying || mark != null, unsettled, node);
			fenced = state == Fence.State.CONFIRMED;
			this.context.account().losses().fenced(fenced);
			retrying &= state != Fence.State.PENDING;
			if (mark != null) {
				retrying &= fenced && batch.allReturned() && resolve(mark, unsettled);
			}
			LostPopResolver pops = this.context.unknownPops();
			retrying &= pops == null || (fenced && batch.allReturned()
					&& pops.resolve(unsettled, this.context.account().taken().count()));
		}
		if (retrying && this.backoff.awaitBackoff()) {
			this.context.nodes().refresh();
			mark(unsettled, node, fenced, true);
		}
		else {
			this.context.stop().stop(Cause.REDIS_LOST, loss.message());
		}
	}

	private boolean resolve(JobMark mark, List<Slab> unsettled) {
		boolean known = true;
		for (Slab slab : unsettled) {
			known &= !slab.isUnknown() || mark.resolve(this.lane, slab);
		}
		return known;
	}

	/** Notes that Redis has answered a batch. */
	void answered(Slab slab) {
		JobMark mark = this.context.mark();
		if (mark != null) {
			mark.acknowledge(this.lane, slab);
		}
	}

	/**
	 * Waits for a fence. The fence also counts as confirmed if the cluster names other
	 * masters for all slots in doubt. The cluster then discards the former master's
	 * writes to these slots.
	 */
	private Fence.State awaitFence(Fence fence, boolean retrying, List<Slab> unsettled, RedisNode node) {
		long lost = System.nanoTime();
		Duration timeout = this.context.settings().timeout();
		if (this.redirects == null) {
			return fence.await(timeout, retrying, this.context.stop());
		}
		BitSet slots = new BitSet();
		unsettled.forEach((slab) -> slots.or(slab.slots().unknown()));
		long until = lost + timeout.toNanos();
		while (true) {
			long nanos = Math.min(FENCE_CHECK_NANOS, until - System.nanoTime());
			Fence.State state = fence.await(Duration.ofNanos(Math.max(nanos, 0)), retrying, this.context.stop());
			if (state != Fence.State.PENDING) {
				return state;
			}
			this.context.nodes().refresh();
			if (this.context.nodes().isSuperseded(node, slots::get, lost)) {
				return Fence.State.CONFIRMED;
			}
			if (!retrying || nanos <= 0 || this.context.stop().isSet()) {
				return state;
			}
		}
	}

}
