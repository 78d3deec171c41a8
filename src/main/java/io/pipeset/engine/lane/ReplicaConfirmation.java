package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Confirms a batch with replicas, if the job requires that. It keeps the answered slabs
 * of the batch until <a href="https://redis.io/docs/latest/commands/wait/">WAIT</a>, on
 * the same connection, has returned how many replicas have them.
 */
final class ReplicaConfirmation {

	/** The error of a WAIT whose server has become a replica. */
	private static final String UNBLOCKED = "UNBLOCKED";

	/** The longest single WAIT. A stop of the job is noticed only after it. */
	private static final Duration MAX_WAIT = Duration.ofSeconds(5);

	private final LaneContext context;

	private final int replicas;

	private final List<Slab> answered = new ArrayList<>();

	ReplicaConfirmation(LaneContext context) {
		this.context = context;
		this.replicas = context.settings().replicas();
	}

	/** Whether the job requires replicas. */
	boolean isRequired() {
		return this.replicas > 0;
	}

	/** Adds a slab whose commands are answered. */
	void add(Slab slab) {
		this.answered.add(slab);
	}

	/** The answered slabs, in the order in which they were sent. */
	List<Slab> answered() {
		return this.answered;
	}

	/**
	 * Marks slabs as unconfirmed because their connection was lost.
	 * @param slabs all slabs of the batch
	 */
	void markUnconfirmed(List<Slab> slabs, Loss loss) {
		Loss unconfirmed = new Loss(Loss.UNCONFIRMED,
				"Redis ran it, but was lost before " + replicasText() + " confirmed it. " + loss.message());
		slabs.forEach((slab) -> slab.attempt().unconfirmed(unconfirmed));
	}

	/**
	 * Waits for the replicas, and marks all slabs as unconfirmed if too few have them.
	 * @param pipeline the connection, with nothing in flight
	 * @param slabs all slabs of the batch
	 * @return why the connection was lost, or {@code null} if it is still open
	 */
	@Nullable Loss await(Pipeline pipeline, List<Slab> slabs) {
		LaneSettings settings = this.context.settings();
		try {
			long confirmed = waitForReplicas(pipeline, settings);
			if (confirmed < this.replicas) {
				if (pipeline.looksSuperseded()) {
					Loss loss = new Loss(Loss.CONNECTION_LOST, String.valueOf(pipeline.failure()));
					markUnconfirmed(slabs, loss);
					return loss;
				}
				Loss unconfirmed = new Loss(Loss.UNCONFIRMED, "Redis ran it, but " + confirmed + " of " + replicasText()
						+ " confirmed it within " + ((this.context.stop().isSet())
								? "the time until the job was stopped" : DurationText.of(settings.replicasTimeout()))
						+ ": a failover may lose it");
				slabs.forEach((slab) -> slab.attempt().unconfirmed(unconfirmed));
			}
			return null;
		}
		catch (RedisCallException ex) {
			boolean demoted = this.context.nodes().isFollowing() && ex.isOfReplica();
			if (demoted && slabs.stream().allMatch((slab) -> slab.errors().noneRan())) {
				return null;
			}
			Loss loss = new Loss((ex.isSilent()) ? Loss.TIMEOUT : Loss.CONNECTION_LOST,
					String.valueOf(ex.getMessage()));
			markUnconfirmed(slabs, loss);
			if (ex.code() == null || UNBLOCKED.equals(ex.code()) || demoted) {
				return loss;
			}
			if (!ex.isTransient()) {
				this.context.stop()
					.stop(Cause.REDIS_REFUSES, "replicas=" + this.replicas + " needs WAIT. " + ex.getMessage());
			}
			return null;
		}
	}

	/** Repeats short WAITs, so that a stopped job does not wait for the whole timeout. */
	private long waitForReplicas(Pipeline pipeline, LaneSettings settings) {
		long deadline = System.nanoTime() + settings.replicasTimeout().toNanos();
		Duration wait = min(settings.replicasTimeout(), MAX_WAIT);
		long confirmed = pipeline.waitForReplicas(this.replicas, wait, settings.timeout());
		while (confirmed < this.replicas && !this.context.stop().isSet()) {
			// WAIT 0 would wait forever.
			long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
			if (millis <= 0) {
				break;
			}
			confirmed = pipeline.waitForReplicas(this.replicas, min(Duration.ofMillis(millis), MAX_WAIT),
					settings.timeout());
		}
		return confirmed;
	}

	private static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private String replicasText() {
		return this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

}
