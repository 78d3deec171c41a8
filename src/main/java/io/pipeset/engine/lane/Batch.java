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
 * One call of {@code executePipelined}. It sends a lane's slabs until the batch is full
 * or the input pauses, and ends when each slab has come back. The lane's {@link Recovery}
 * handles slabs that came back without a final answer.
 */
final class Batch {

	/** How long a batch may hold a connection while other jobs wait for one. */
	private static final long MAX_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final LaneSlabs slabs;

	private final BooleanSupplier inputOpen;

	private final Recovery recovery;

	private final LaneContext context;

	private final Pipeline pipeline;

	private final RedisNode node;

	private final NodeMeters meters;

	private final ReplicaConfirmation confirmation;

	private final @Nullable OutcomeLog log;

	private final Deque<Slab> inFlight = new ArrayDeque<>();

	/** Slabs that came back without a final answer, and all that came back after them. */
	private final List<Slab> unsettled = new ArrayList<>();

	private @Nullable Loss loss;

	private @Nullable Fence fence;

	/** Whether the driver has returned every slab. */
	private boolean allReturned = true;

	/** Whether anything was written to the connection, or may have been. */
	private boolean written;

	/** Whether the node was asked for its slots in this batch. */
	private boolean slotsChecked;

	private long begunNanos;

	/** Whether this is the job's first batch. */
	private boolean isFirstOfJob;

	private final SilenceWatch silence;

	/** Whether the batch has sent a command that nothing may follow. */
	private boolean alone;

	private int records;

	private long bytes;

	/** Bytes that the batch's slabs count in the window. */
	private long windowBytes;

	/** Whether every answer so far was the same error, {@link #refusalCode}. */
	private boolean allRefused = true;

	private @Nullable String refusalCode;

	/**
	 * Creates a batch, which has not begun.
	 * @param inputOpen whether more slabs may come while the batch has nothing in flight
	 */
	Batch(LaneSlabs slabs, BooleanSupplier inputOpen, Recovery recovery, LaneContext context, RedisNode node,
			Pipeline pipeline) {
		this.slabs = slabs;
		this.inputOpen = inputOpen;
		this.recovery = recovery;
		this.context = context;
		this.pipeline = pipeline;
		// Closing a connection may take as long as opening it.
		this.silence = new SilenceWatch(pipeline, context.settings().timeout(), context.pipeline().connectTimeout());
		this.node = node;
		this.meters = context.meters().node(node.name());
		this.confirmation = new ReplicaConfirmation(context);
		this.log = context.account().log();
	}

	/** Runs the batch to its end. */
	BatchResult run() {
		Observation trace = JobTraces.batch(this.context.trace(), this.node.name(),
				this.context.settings().flush().kind());
		this.begunNanos = System.nanoTime();
		this.isFirstOfJob = !this.context.clock().hasBegunBatch();
		long nanos;
		this.context.clock().beginBatch();
		this.meters.connected();
		try {
			exchange();
			awaitReplicas();
		}
		catch (RuntimeException | Error ex) {
			// The next job must not find this job's commands on its connection.
			closeConnection(this.records > 0);
			trace.error(ex);
			throw ex;
		}
		finally {
			nanos = System.nanoTime() - this.begunNanos;
			this.context.clock().endBatch(nanos);
			this.meters.disconnected();
			endTrace(trace);
		}
		if (this.loss != null) {
			// The pool takes the connection for open, and would lend it again.
			closeConnection(this.unsettled.stream().anyMatch(Slab::isUnknown));
		}
		// A lost connection returns unflushed slabs before flushed ones.
		this.unsettled.sort(Comparator.comparingLong(Slab::firstIndex));
		if (this.written) {
			this.context.meters().batch(this.context.settings().flush().kind(), nanos, this.records, this.bytes);
			this.context.meters().grow(this.context.account());
			this.meters.batch(nanos, this.loss != null);
		}
		if (this.allRefused && this.refusalCode != null && !this.context.nodes().redirects(this.refusalCode)
				&& RedisErrors.means(this.refusalCode, Meaning.ENDS_JOB)) {
			this.context.stop()
				.stop(Cause.REDIS_REFUSES,
						"Redis refused a whole batch with " + RedisErrors.withRemedy(this.refusalCode)
								+ ". The rest was not sent. Fix the cause there, then " + JobStop.SEND_THE_REST + ".");
		}
		return new BatchResult(this.unsettled, this.loss, this.written, this.allReturned, this.pipeline.failure(),
				this.fence);
	}

	private void endTrace(Observation trace) {
		if (!trace.isNoop()) {
			trace.highCardinalityKeyValue("records", Integer.toString(this.records))
				.highCardinalityKeyValue("bytes", Long.toString(this.bytes))
				.lowCardinalityKeyValue("loss", (this.loss != null) ? this.loss.code() : "none");
			trace.stop();
		}
	}

	/**
	 * Closes the connection. Creates the fence before the permit is released, so that no
	 * other batch starts while commands of this one may still run.
	 */
	private void closeConnection(boolean unknown) {
		this.pipeline.abandon();
		this.fence = (unknown) ? this.pipeline.fence() : null;
	}

	private void exchange() {
		this.context.account().losses().server(this.node.name(), this.pipeline.runId());
		this.context.account().losses().master(this.node.failovers());
		OutcomeLog log = this.log;
		if (log != null) {
			this.pipeline.tell(log);
		}
		boolean more = true;
		while (more) {
			if (maySendNext()) {
				send(this.slabs.takeNext());
			}
			else {
				more = awaitSlab();
			}
		}
	}

	/**
	 * Settles the answered slabs once enough replicas have them, or leaves them unsettled
	 * after a loss.
	 */
	private void awaitReplicas() {
		if (!this.confirmation.isRequired() || !this.written) {
			return;
		}
		List<Slab> all = new ArrayList<>(this.confirmation.answered());
		all.addAll(this.unsettled);
		if (this.loss == null) {
			this.loss = this.confirmation.await(this.pipeline, all);
		}
		else {
			this.confirmation.markUnconfirmed(all, this.loss);
		}
		if (this.loss == null) {
			this.confirmation.answered().forEach(this.slabs::settleAnswered);
		}
		else {
			this.unsettled.addAll(this.confirmation.answered());
		}
	}

	private boolean acceptsMore() {
		return !this.context.stop().isSet() && this.unsettled.isEmpty() && this.loss == null && !this.alone
				&& !this.slabs.isNextElsewhere()
				&& this.records < ((this.context.settings().atomic()) ? 1 : this.context.settings().batchSize())
				&& !(this.confirmation.isRequired() && this.context.pipeline().isHalf(this.records, this.windowBytes))
				&& !mustYield();
	}

	/**
	 * Whether other jobs wait for a connection, and this batch has held its own long
	 * enough.
	 */
	private boolean mustYield() {
		return this.records > 0 && (this.isFirstOfJob || System.nanoTime() - this.begunNanos > MAX_HOLD_NANOS)
				&& this.node.permits().isScarce();
	}

	private boolean maySendNext() {
		Slab next = this.slabs.peek();
		return next != null && acceptsMore() && this.records + next.count() <= this.context.settings().batchSize()
				&& (!next.waits() || this.inFlight.isEmpty() || this.recovery.areSlotsStable());
	}

	private void send(Slab slab) {
		if (this.records == 0) {
			this.node.memory().ask(this.pipeline);
		}
		if (this.inFlight.isEmpty()) {
			this.silence.restart();
		}
		if ((slab.waits() && this.inFlight.isEmpty()) || (slab.hasScripts() && !this.slotsChecked)) {
			this.recovery.checkSlots(this.node);
			this.slotsChecked = true;
		}
		this.inFlight.add(slab);
		this.alone = slab.attempt().isAlone();
		this.records += slab.attempt().count();
		this.windowBytes += Window.windowBytes(slab);
		Coalescing allowed = this.pipeline.coalescing();
		if (allowed != null && this.context.settings().coalesces()) {
			slab.coalesce((this.context.isCluster()) ? allowed.inCluster() : allowed);
		}
		if (!this.confirmation.isRequired()) {
			slab.attempt().master(this.node.failovers());
		}
		if (this.log != null) {
			slab.sends(this.log);
		}
		this.pipeline.send(slab, this.slabs::addDone);
	}

	/** Waits for a slab to send or a slab that is done; {@code false} ends the batch. */
	private boolean awaitSlab() {
		boolean wantsMore = acceptsMore() && this.slabs.peek() == null;
		boolean idle = this.inFlight.isEmpty();
		if (idle && !(wantsMore && this.inputOpen.getAsBoolean())) {
			return false;
		}
		long waitNanos = (idle) ? LaneQueue.INPUT_PAUSE_NANOS : this.silence.leftNanos();
		if (this.slabs.receive(waitNanos, wantsMore, this::handleDone) || (wantsMore && this.slabs.borrow())) {
			return true;
		}
		return !idle && (this.silence.leftNanos() > 0 || abandon());
	}

	/**
	 * Closes the connection after a timeout. If it does not close in time, abandons the
	 * slabs in flight and returns {@code false}.
	 */
	private boolean abandon() {
		if (this.silence.abandon()) {
			this.loss = new Loss(Loss.TIMEOUT,
					"Redis at " + this.node.name() + " was silent for "
							+ DurationText.of(this.context.settings().timeout())
							+ ", the job's timeout; commands already written may still run");
			return true;
		}
		// The driver may still write these slabs, so they must not be used again.
		this.context.stop().stop(Cause.REDIS_LOST, "After a timeout, the connection to Redis did not close in time");
		this.written = true;
		this.inFlight.forEach((slab) -> slab.attempt().abandon());
		this.unsettled.addAll(this.inFlight);
		this.slabs.markAbandoned(this.inFlight);
		this.allReturned = false;
		return false;
	}

	private void handleDone(Slab slab) {
		this.inFlight.remove(slab);
		this.silence.restart();
		this.written |= slab.isWritten();
		this.bytes += slab.attempt().bytes();
		if (!slab.isAnswered() && (this.loss == null || this.loss.code().equals(Loss.DEMOTED))) {
			String cause = this.pipeline.failure();
			this.loss = new Loss(Loss.CONNECTION_LOST, "The connection to Redis at " + this.node.name() + " was lost"
					+ ((cause != null) ? ": " + cause : ""));
		}
		if (slab.isAnswered()) {
			this.recovery.answered(slab);
			String sole = (this.allRefused) ? slab.errors().soleCode() : null;
			this.allRefused &= sole != null && (this.refusalCode == null || this.refusalCode.equals(sole));
			this.refusalCode = sole;
		}
		boolean demoted = slab.isAnswered() && this.context.nodes().isFollowing() && this.recovery.maySurviveLoss()
				&& slab.attempt().markIfDemoted();
		if (demoted) {
			this.allRefused = false;
			this.loss = (this.loss != null) ? this.loss : new Loss(Loss.DEMOTED, "Redis has become a replica");
		}
		boolean coalescedRefused = slab.errors().areInCommon();
		Coalescing allowed = this.pipeline.coalescing();
		if (coalescedRefused && allowed != null) {
			this.pipeline.allow(slab.errors().stillAllowed(allowed));
		}
		boolean mayResend = slab.isAnswered() && ((this.recovery.mayRetry() && slab.errors().transientCode() != null)
				|| (this.context.isCluster() && slab.errors().areRedirected()));
		boolean open = demoted || mayResend || coalescedRefused || !slab.isAnswered() || !this.unsettled.isEmpty();
		if (open || slab.attempt().isPartial()) {
			this.unsettled.add(slab);
		}
		else if (this.confirmation.isRequired()) {
			this.confirmation.add(slab);
		}
		else {
			this.slabs.settleAnswered(slab);
		}
		if (!open) {
			this.recovery.markHealthy();
		}
	}

}
