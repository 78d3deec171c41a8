package io.pipeset.lane;

import java.util.List;

import io.pipeset.pipeline.Fence;
import io.pipeset.pipeline.NoConnectionException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.Loss;
import io.pipeset.slab.ResendRules;
import io.pipeset.slab.Slab;

/**
 * The way a lane goes on after a loss, which costs the job one of its retries.
 */
final class Recovery {

	private final LaneContext context;

	private final RetryPauses pauses;

	/** Connections in a row that were dead when they were lent. */
	private int deadConnections;

	Recovery(LaneContext context) {
		this.context = context;
		this.pauses = new RetryPauses(context, context.retries());
	}

	/** Redis has answered again. */
	void progress() {
		this.pauses.progress();
		this.deadConnections = 0;
	}

	/** Whether commands may be sent again that failed for a transient reason. */
	boolean mayGoOn() {
		return this.pauses.mayGoOn();
	}

	/** The lane got no connection. */
	void unreachable(NoConnectionException ex) {
		if (!this.pauses.goesOn("unreachable")) {
			this.context.stop()
				.because(Cause.REDIS_UNREACHABLE, ex.getMessage()
						+ ". Check that it runs and that spring.data.redis.* names it, then send the job again.");
		}
	}

	/**
	 * Marks the commands of a batch that are to be sent again.
	 * @param batch the end of a batch that left slabs behind
	 */
	void after(BatchResult batch) {
		List<Slab> left = batch.left();
		Loss loss = batch.loss();
		if (!batch.used()) {
			dead(left, batch);
		}
		else if (loss != null) {
			lost(left, loss, batch);
		}
		else {
			String error = batch.transientError();
			boolean transientToo = error != null && mayGoOn() && this.pauses.goesOn(error);
			if (transientToo || batch.hasRefusedInCommon()) {
				ResendRules.mark(left, false, transientToo);
			}
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

	private void lost(List<Slab> left, Loss loss, BatchResult batch) {
		// Until the new master is known, the old one may refuse again and again.
		boolean goesOn = (loss.code().equals(Loss.DEMOTED) && this.pauses.areUnderWay())
				|| this.pauses.begin(loss.code());
		boolean fenced = true;
		Fence fence = batch.fence();
		if (fence != null) {
			Fence.State state = fence.await(this.context.settings().timeout(), goesOn, this.context.stop());
			fenced = state == Fence.State.CONFIRMED;
			this.context.account().losses().fenced(fenced);
			goesOn &= state != Fence.State.PENDING;
			UnknownPops pops = this.context.unknownPops();
			goesOn &= pops == null
					|| (fenced && batch.complete() && pops.resolve(left, this.context.account().taken().count()));
		}
		if (goesOn && this.pauses.pause()) {
			ResendRules.mark(left, fenced, true);
		}
		else {
			this.context.stop().because(Cause.REDIS_LOST, loss.message());
		}
	}

}
