package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.SilenceWatch;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobTraces;
import io.pipeset.report.NodeMeters;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code executePipelined}: sends a lane's slabs until the batch is full or
 * the input pauses, and ends when every one of them has come back. Slabs that came back
 * without a final answer are left to the lane's {@link Recovery}.
 */
final class Batch {

	/** So long a batch may hold a connection while others wait for one. */
	private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final LaneSlabs slabs;

	private final BooleanSupplier fed;

	private final Recovery recovery;

	private final LaneContext context;

	private final Pipeline pipeline;

	private final RedisNode node;

	private final NodeMeters meters;

	private final Confirmation confirmation;

	private final @Nullable OutcomeLog log;

	private final Deque<Slab> onTheirWay = new ArrayDeque<>();

	/**
	 * Slabs that came back without a final answer, and those that came back behind them.
	 */
	private final List<Slab> left = new ArrayList<>();

	private @Nullable Loss loss;

	private @Nullable Fence fence;

	private boolean complete = true;

	private boolean used;

	/** Whether the node was asked for its slots. */
	private boolean looked;

	private long begun;

	private boolean isFirst;

	private final SilenceWatch silence;

	private int commands;

	private long bytes;

	private long weight;

	private boolean refused = true;

	private @Nullable String code;

	/**
	 * A batch that has not begun.
	 * @param fed whether more slabs may come while the batch has nothing on its way
	 */
	Batch(LaneSlabs slabs, BooleanSupplier fed, Recovery recovery, LaneContext context, RedisNode node,
			Pipeline pipeline) {
		this.slabs = slabs;
		this.fed = fed;
		this.recovery = recovery;
		this.context = context;
		this.pipeline = pipeline;
		// Closing may take as long as opening.
		this.silence = new SilenceWatch(pipeline, context.settings().timeout(), context.pipeline().connectTimeout());
		this.node = node;
		this.meters = context.meters().node(node.name());
		this.confirmation = new Confirmation(context);
		this.log = context.account().log();
	}

	/** Runs the batch, to its end. */
	BatchResult run() {
		Observation trace = JobTraces.batch(this.context.trace(), this.node.name(),
				this.context.settings().flush().kind());
		this.begun = System.nanoTime();
		this.isFirst = !this.context.clock().hasBegunBatch();
		long nanos;
		this.context.clock().batchBegins();
		this.meters.connected();
		try {
			converse();
			confirm();
		}
		catch (RuntimeException | Error ex) {
			// The next job must not find this one's commands on its connection.
			giveUp(this.commands > 0);
			trace.error(ex);
			throw ex;
		}
		finally {
			nanos = System.nanoTime() - this.begun;
			this.context.clock().batchEnds(nanos);
			this.meters.disconnected();
			endTrace(trace);
		}
		if (this.loss != null) {
			// The pool believes that a connection it has lent is open, and would lend it
			// again.
			giveUp(this.left.stream().anyMatch(Slab::isUnknown));
		}
		// A lost connection gives unflushed slabs back before those that it had flushed.
		this.left.sort(Comparator.comparingLong(Slab::firstIndex));
		if (this.used) {
			this.context.meters().batch(this.context.settings().flush().kind(), nanos, this.commands, this.bytes);
			this.context.meters().grow(this.context.account());
			this.meters.batch(nanos, this.loss != null);
		}
		if (this.refused && this.code != null && !this.context.nodes().redirects(this.code)
				&& RedisErrors.means(this.code, Meaning.ENDS_JOB)) {
			this.context.stop()
				.because(Cause.REDIS_REFUSES, "Redis refused a whole batch with " + RedisErrors.withRemedy(this.code)
						+ ". The rest was not sent. Mend the cause there, then " + JobStop.SEND_THE_REST + ".");
		}
		return new BatchResult(this.left, this.loss, this.used, this.complete, this.pipeline.failure(), this.fence);
	}

	private void endTrace(Observation trace) {
		if (!trace.isNoop()) {
			trace.highCardinalityKeyValue("commands", Integer.toString(this.commands))
				.highCardinalityKeyValue("bytes", Long.toString(this.bytes))
				.lowCardinalityKeyValue("loss", (this.loss != null) ? this.loss.code() : "none");
			trace.stop();
		}
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
		OutcomeLog log = this.log;
		if (log != null) {
			this.pipeline.tell(log);
		}
		boolean goesOn = true;
		while (goesOn) {
			if (takesNext()) {
				send(this.slabs.next());
			}
			else {
				goesOn = await();
			}
		}
	}

	/** Settles the slabs that have waited for replicas, or leaves them all if lost. */
	private void confirm() {
		if (!this.confirmation.isAsked() || !this.used) {
			return;
		}
		List<Slab> all = new ArrayList<>(this.confirmation.answered());
		all.addAll(this.left);
		if (this.loss == null) {
			this.loss = this.confirmation.ask(this.pipeline, all);
		}
		else {
			this.confirmation.lost(all, this.loss);
		}
		if (this.loss == null) {
			this.confirmation.answered().forEach(this.slabs::answered);
		}
		else {
			this.left.addAll(this.confirmation.answered());
		}
	}

	private boolean isOpen() {
		return !this.context.stop().isSet() && this.left.isEmpty() && this.loss == null && !this.slabs.leadsElsewhere()
				&& this.commands < ((this.context.settings().atomic()) ? 1 : this.context.settings().batchSize())
				&& !(this.confirmation.isAsked() && this.context.pipeline().isHalf(this.commands, this.weight))
				&& !isOver();
	}

	/** Whether other jobs wait for a connection, and this one has had its turn. */
	private boolean isOver() {
		return this.commands > 0 && (this.isFirst || System.nanoTime() - this.begun > TURN_NANOS)
				&& this.node.permits().isScarce();
	}

	private boolean takesNext() {
		Slab next = this.slabs.peek();
		return next != null && isOpen() && this.commands + next.count() <= this.context.settings().batchSize()
				&& (!next.waits() || this.onTheirWay.isEmpty() || this.recovery.isStill());
	}

	private void send(Slab slab) {
		if (this.commands == 0) {
			this.node.memory().ask(this.pipeline);
		}
		if (this.onTheirWay.isEmpty()) {
			this.silence.restart();
		}
		if ((slab.waits() && this.onTheirWay.isEmpty()) || (slab.hasScripts() && !this.looked)) {
			this.recovery.look(this.node);
			this.looked = true;
		}
		this.onTheirWay.add(slab);
		this.commands += slab.count();
		this.weight += Window.weight(slab);
		Coalescing allowed = this.pipeline.coalescing();
		if (allowed != null && this.context.settings().coalesces()) {
			slab.coalesce((this.context.areSlotsFollowed()) ? allowed.inCluster() : allowed);
		}
		if (!this.confirmation.isAsked()) {
			slab.attempt().master(this.node.failovers());
		}
		if (this.log != null) {
			slab.sends(this.log);
		}
		this.pipeline.send(slab, this.slabs::comeBack);
	}

	/** Waits for the next slab, to be sent or done; {@code false} ends the batch. */
	private boolean await() {
		boolean wantsMore = isOpen() && this.slabs.peek() == null;
		boolean idle = this.onTheirWay.isEmpty();
		if (idle && !(wantsMore && this.fed.getAsBoolean())) {
			return false;
		}
		long patience = (idle) ? LaneQueue.PAUSE_NANOS : this.silence.leftNanos();
		if (this.slabs.receive(patience, wantsMore, this::done) || (wantsMore && this.slabs.borrow())) {
			return true;
		}
		return !idle && (this.silence.leftNanos() > 0 || abandon());
	}

	/** Gives the connection up, and in the end the slabs on their way as well. */
	private boolean abandon() {
		if (this.silence.abandon()) {
			this.loss = new Loss(Loss.TIMEOUT,
					"Redis at " + this.node.name() + " was silent for "
							+ DurationText.of(this.context.settings().timeout())
							+ ", the job's timeout; what was written may still run");
			return true;
		}
		// The driver still has these slabs and may still write them, so nobody else may
		// use them.
		this.context.stop().because(Cause.REDIS_LOST, "A connection that was closed after a timeout did not end");
		this.used = true;
		this.onTheirWay.forEach((slab) -> slab.attempt().abandon());
		this.left.addAll(this.onTheirWay);
		this.slabs.doesNotGetBack(this.onTheirWay);
		this.complete = false;
		return false;
	}

	private void done(Slab slab) {
		this.onTheirWay.remove(slab);
		this.silence.restart();
		this.used |= slab.isWritten();
		this.bytes += slab.attempt().bytes();
		if (!slab.isAnswered() && (this.loss == null || this.loss.code().equals(Loss.DEMOTED))) {
			String cause = this.pipeline.failure();
			this.loss = new Loss(Loss.CONNECTION_LOST, "The connection to Redis at " + this.node.name() + " was lost"
					+ ((cause != null) ? ": " + cause : ""));
		}
		if (slab.isAnswered()) {
			String sole = (this.refused) ? slab.errors().soleCode() : null;
			this.refused &= sole != null && (this.code == null || this.code.equals(sole));
			this.code = sole;
		}
		boolean demoted = slab.isAnswered() && this.context.nodes().isFollowing() && this.recovery.maySurviveLoss()
				&& slab.attempt().markIfDemoted();
		if (demoted) {
			this.refused = false;
			this.loss = (this.loss != null) ? this.loss : new Loss(Loss.DEMOTED, "Redis has become a replica");
		}
		boolean inCommon = slab.errors().areInCommon();
		Coalescing allowed = this.pipeline.coalescing();
		if (inCommon && allowed != null) {
			this.pipeline.allow(slab.errors().stillAllowed(allowed));
		}
		boolean asksAgain = slab.isAnswered() && ((this.recovery.mayGoOn() && slab.errors().transientCode() != null)
				|| (this.context.areSlotsFollowed() && slab.errors().areRedirected()));
		if (demoted || asksAgain || inCommon || !slab.isAnswered() || !this.left.isEmpty()) {
			this.left.add(slab);
		}
		else if (this.confirmation.isAsked()) {
			this.confirmation.add(slab);
			this.recovery.progress();
		}
		else {
			this.slabs.answered(slab);
			this.recovery.progress();
		}
	}

}
