package io.pipeset.job;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.pipeset.pipeline.Fence;
import io.pipeset.pipeline.Pipeline;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.Loss;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code executePipelined}: sends a lane's slabs until the batch is full or
 * the input pauses, and ends when every one of them has come back. What came back without
 * a final answer is left to the lane's {@link Recovery}.
 */
final class Batch {

	/** Errors that say what is wrong with Redis, and not with a command. */
	private static final Set<String> HOPELESS = Set.of("MASTERDOWN", "MISCONF", "NOAUTH", "NOREPLICAS", "OOM",
			"READONLY");

	private final Lane lane;

	private final Lanes lanes;

	private final JobContext context;

	private final Pipeline pipeline;

	private final Deque<Slab> onTheirWay = new ArrayDeque<>();

	/** What came back without a final answer, and what came back behind it. */
	private final List<Slab> left = new ArrayList<>();

	private @Nullable Loss loss;

	private @Nullable Fence fence;

	private boolean complete = true;

	private boolean used;

	private long waitingSince;

	private long abandonedSince;

	private int commands;

	private long bytes;

	private boolean refused = true;

	private @Nullable String code;

	Batch(Lane lane, Lanes lanes, JobContext context, Pipeline pipeline) {
		this.lane = lane;
		this.lanes = lanes;
		this.context = context;
		this.pipeline = pipeline;
	}

	void run() {
		long begun = System.nanoTime();
		this.context.clock().batchBegins();
		try {
			converse();
		}
		catch (RuntimeException | Error ex) {
			// The next job must not find this one's commands on its connection.
			giveUp(this.commands > 0);
			throw ex;
		}
		if (this.loss != null) {
			// The pool takes for open what it has lent, and would lend it again.
			giveUp(this.left.stream().anyMatch(Slab::isUnknown));
		}
		// What a lost connection had not flushed comes back before what it had.
		this.left.sort(Comparator.comparingLong(Slab::firstIndex));
		long nanos = System.nanoTime() - begun;
		this.context.clock().batchEnds(nanos);
		if (this.used) {
			this.context.meters().batch(this.context.settings().flush().kind(), nanos, this.commands, this.bytes);
		}
		if (this.refused && this.code != null && HOPELESS.contains(this.code)) {
			this.context.stop()
				.because(Cause.REDIS_REFUSES, "Redis refused a whole batch with " + this.code
						+ ": the rest was not sent. Mend the cause there, then send the job again.");
		}
	}

	/** What has no final answer yet, in the order in which it was sent. */
	List<Slab> left() {
		return this.left;
	}

	/** Why the connection was lost, or {@code null} if it was not. */
	@Nullable Loss loss() {
		return this.loss;
	}

	/** Whether anything was written. */
	boolean isUsed() {
		return this.used;
	}

	/** Whether every slab came back from the driver. */
	boolean isComplete() {
		return this.complete;
	}

	/** What the driver says about the loss. */
	@Nullable String failure() {
		return this.pipeline.failure();
	}

	/** The error for which slabs were left, without a loss. */
	String passingError() {
		return Objects.requireNonNull(this.left.get(0).passingError());
	}

	/**
	 * What has to be waited for until nothing of the batch can run any more, or
	 * {@code null} where everything is known of its commands.
	 */
	@Nullable Fence fence() {
		return this.fence;
	}

	/**
	 * Closes the connection. The fence is raised before anybody else can have a
	 * connection, so that no batch begins beside commands that may still run.
	 */
	private void giveUp(boolean unknown) {
		this.pipeline.abandon();
		this.fence = (unknown) ? this.pipeline.fence() : null;
	}

	private void converse() {
		boolean goesOn = true;
		while (goesOn) {
			if (takesNext()) {
				send(this.lane.next());
			}
			else {
				goesOn = await();
			}
		}
	}

	private boolean isOpen() {
		return !this.context.stop().isSet() && this.left.isEmpty() && this.loss == null
				&& this.commands < ((this.context.settings().isAtomic()) ? 1 : this.context.settings().batchSize());
	}

	private boolean takesNext() {
		Slab next = this.lane.toSend().peek();
		return next != null && isOpen() && this.commands + next.count() <= this.context.settings().batchSize();
	}

	private void send(Slab slab) {
		if (this.onTheirWay.isEmpty()) {
			this.waitingSince = System.nanoTime();
		}
		this.onTheirWay.add(slab);
		this.commands += slab.count();
		this.bytes += slab.bytes();
		this.pipeline.send(slab, this.lane::comeBack);
	}

	/** Waits for the next slab, to be sent or done; {@code false} ends the batch. */
	private boolean await() {
		boolean wantsMore = isOpen() && this.lane.toSend().isEmpty();
		boolean idle = this.onTheirWay.isEmpty();
		if (idle && !(wantsMore && this.lanes.isFed())) {
			return false;
		}
		long patience = (idle) ? LaneQueue.PAUSE_NANOS : patience();
		if (this.lane.receive(patience, wantsMore, this::done) || (wantsMore && this.lane.borrow())) {
			return true;
		}
		return !idle && (patience() > 0 || abandon());
	}

	/** How much longer Redis may be silent, in nanoseconds. */
	private long patience() {
		long now = System.nanoTime();
		if (this.abandonedSince != 0) {
			// Closing may take as long as opening.
			return this.context.pipeline().connectTimeout().toNanos() - (now - this.abandonedSince);
		}
		long silence = Math.min(now - this.pipeline.heardNanos(), now - this.waitingSince);
		return this.context.settings().timeout().toNanos() - silence;
	}

	/** Gives the connection up, and in the end what was on its way as well. */
	private boolean abandon() {
		if (this.abandonedSince == 0) {
			this.abandonedSince = System.nanoTime();
			this.loss = new Loss(Loss.TIMEOUT,
					"Redis was silent for " + JobSettings.text(this.context.settings().timeout())
							+ ", the job's timeout; what was written may still run");
			this.pipeline.abandon();
			return true;
		}
		// The driver still has them, so that nobody else may, and may still write them.
		this.context.stop().because(Cause.REDIS_LOST, "A connection that was closed after a timeout did not end");
		this.used = true;
		this.onTheirWay.forEach(Slab::abandon);
		this.left.addAll(this.onTheirWay);
		this.lane.doesNotGetBack(this.onTheirWay);
		this.complete = false;
		return false;
	}

	private void done(Slab slab) {
		this.onTheirWay.remove(slab);
		this.waitingSince = System.nanoTime();
		this.used |= slab.isWritten();
		if (!slab.isAnswered() && this.loss == null) {
			String cause = this.pipeline.failure();
			this.loss = new Loss(Loss.CONNECTION_LOST,
					"The connection to Redis was lost" + ((cause != null) ? ": " + cause : ""));
		}
		if (slab.isAnswered()) {
			String sole = (this.refused) ? slab.soleError() : null;
			this.refused &= sole != null && (this.code == null || this.code.equals(sole));
			this.code = sole;
		}
		boolean asksAgain = slab.isAnswered() && this.lane.recovery().mayGoOn() && slab.passingError() != null;
		if (asksAgain || !slab.isAnswered() || !this.left.isEmpty()) {
			this.left.add(slab);
		}
		else {
			this.lane.settle(slab, null);
			this.lane.recovery().progress();
		}
	}

}
