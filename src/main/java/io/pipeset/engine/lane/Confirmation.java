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
 * The end of a batch whose job asks for replicas: its answered slabs are kept here, and
 * are settled when <a href="https://redis.io/docs/latest/commands/wait/">WAIT</a> on the
 * batch's own connection has told how many replicas have them.
 */
final class Confirmation {

	/** The error by which Redis ends a WAIT when it becomes a replica itself. */
	private static final String UNBLOCKED = "UNBLOCKED";

	/** How long a single WAIT lasts, during which no stop is noticed. */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

	private final LaneContext context;

	private final int replicas;

	private final List<Slab> answered = new ArrayList<>();

	Confirmation(LaneContext context) {
		this.context = context;
		this.replicas = context.settings().replicas();
	}

	/** Whether the job asks for replicas at all. */
	boolean isAsked() {
		return this.replicas > 0;
	}

	/** Keeps a slab that has its answers. */
	void add(Slab slab) {
		this.answered.add(slab);
	}

	/** The slabs that are kept, in the order in which they were sent. */
	List<Slab> answered() {
		return this.answered;
	}

	/**
	 * Marks slabs with a lost connection, on which nobody can be asked any more.
	 * @param slabs all slabs of the batch
	 */
	void lost(List<Slab> slabs, Loss loss) {
		Loss unconfirmed = new Loss(Loss.UNCONFIRMED,
				"Redis ran it, but was lost before " + replicas() + " confirmed it. " + loss.message());
		slabs.forEach((slab) -> slab.attempt().unconfirmed(unconfirmed));
	}

	/**
	 * Asks for the replicas, and marks slabs if too few have confirmed them.
	 * @param pipeline the connection, on which nothing is on its way
	 * @param slabs all slabs of the batch
	 * @return why the connection was lost, or {@code null} if it is still there
	 */
	@Nullable Loss ask(Pipeline pipeline, List<Slab> slabs) {
		LaneSettings settings = this.context.settings();
		try {
			long confirmed = confirmed(pipeline, settings);
			if (confirmed < this.replicas) {
				if (pipeline.looksSuperseded()) {
					Loss loss = new Loss(Loss.CONNECTION_LOST, String.valueOf(pipeline.failure()));
					lost(slabs, loss);
					return loss;
				}
				Loss unconfirmed = new Loss(Loss.UNCONFIRMED, "Redis ran it, but " + confirmed + " of " + replicas()
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
			lost(slabs, loss);
			if (ex.code() == null || UNBLOCKED.equals(ex.code()) || demoted) {
				return loss;
			}
			if (!ex.isTransient()) {
				this.context.stop()
					.because(Cause.REDIS_REFUSES, "replicas=" + this.replicas + " needs WAIT. " + ex.getMessage());
			}
			return null;
		}
	}

	/** Asks again and again, so that a job that is stopped does not wait for hours. */
	private long confirmed(Pipeline pipeline, LaneSettings settings) {
		long until = System.nanoTime() + settings.replicasTimeout().toNanos();
		Duration first = min(settings.replicasTimeout(), LONGEST_WAIT);
		long confirmed = pipeline.confirmed(this.replicas, first, settings.timeout());
		while (confirmed < this.replicas && !this.context.stop().isSet()) {
			// WAIT 0 would wait for ever.
			long millis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
			if (millis <= 0) {
				break;
			}
			confirmed = pipeline.confirmed(this.replicas, min(Duration.ofMillis(millis), LONGEST_WAIT),
					settings.timeout());
		}
		return confirmed;
	}

	private static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private String replicas() {
		return this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

}
