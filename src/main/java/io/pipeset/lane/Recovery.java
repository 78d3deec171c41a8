package io.pipeset.lane;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.pipeset.pipeline.Fence;
import io.pipeset.pipeline.NoConnectionException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.Loss;
import io.pipeset.slab.ResendRules;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The way a lane goes on after a loss. Each loss costs the job one of its retries. The
 * lane then tries again and again to get over it, with growing pauses, for as long as the
 * job's timeout.
 */
final class Recovery {

	private static final ExponentialBackOff PAUSES = pauses();

	private final LaneContext context;

	/** The pauses since the last loss; {@code null} once the lane has got over it. */
	private @Nullable BackOffExecution pauses;

	private long deadline;

	/** Connections in a row that were dead when they were lent. */
	private int deadConnections;

	Recovery(LaneContext context) {
		this.context = context;
	}

	/** Redis has answered again. */
	void progress() {
		this.pauses = null;
		this.deadConnections = 0;
	}

	/** Whether commands may be sent again that failed for a transient reason. */
	boolean mayGoOn() {
		return this.pauses != null || this.context.retries().isLeft();
	}

	/** The lane got no connection. */
	void unreachable(NoConnectionException ex) {
		if (!goesOn("unreachable")) {
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
			boolean transientToo = error != null && mayGoOn() && goesOn(error);
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
		boolean goesOn = begin(loss.code());
		boolean fenced = true;
		Fence fence = batch.fence();
		if (fence != null) {
			Fence.State state = fence.await(this.context.settings().timeout(), goesOn, this.context.stop());
			fenced = state == Fence.State.CONFIRMED;
			this.context.account().fenced(fenced);
			goesOn &= state != Fence.State.PENDING;
			UnknownPops pops = this.context.unknownPops();
			goesOn &= pops == null
					|| (fenced && batch.complete() && pops.resolve(left, this.context.account().taken().count()));
		}
		if (goesOn && pause()) {
			ResendRules.mark(left, fenced, true);
		}
		else {
			this.context.stop().because(Cause.REDIS_LOST, loss.message());
		}
	}

	private boolean goesOn(String reason) {
		return (this.pauses != null || begin(reason)) && pause();
	}

	private boolean begin(String reason) {
		if (this.context.stop().isSet() || !this.context.retries().take()) {
			return false;
		}
		this.context.meters().retry(reason.toLowerCase(Locale.ROOT).replace('_', '-'));
		this.pauses = PAUSES.start();
		this.deadline = System.nanoTime() + this.context.settings().timeout().toNanos();
		return true;
	}

	/** Pauses, longer each time; {@code false} if the job's timeout is over. */
	private boolean pause() {
		long left = this.deadline - System.nanoTime();
		if (this.pauses == null || left <= 0) {
			return false;
		}
		long nanos = TimeUnit.MILLISECONDS.toNanos(this.pauses.nextBackOff());
		return !this.context.stop().await(Math.min(nanos, left));
	}

	private static ExponentialBackOff pauses() {
		ExponentialBackOff pauses = new ExponentialBackOff(20, 2);
		pauses.setJitter(10);
		pauses.setMaxInterval(1000);
		return pauses;
	}

}
