package io.pipeset.engine.lane;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;

/**
 * Sends one ordered series of batches, each on a connection of its own. Slabs come in
 * through the lane's {@link LaneQueue}. At most one thread runs a lane at a time, and
 * none while it has nothing to do.
 */
final class Lane implements Runnable {

	private final LaneThreads threads;

	private final LaneContext context;

	private final Window window;

	private final LaneQueue queue = new LaneQueue();

	private final SlabFiller filler;

	private final Recovery recovery;

	private final LaneSlabs slabs;

	private final Destinations destinations;

	private final @Nullable JobMark mark;

	/** The number of the lane in the mark. */
	private final int number;

	/** The connections that the lane used or waited for last. */
	private @Nullable LaneConnections connections;

	/**
	 * Creates a lane.
	 * @param home the node that its records go to; {@code null} for a single server
	 */
	Lane(LaneThreads threads, LaneContext context, @Nullable RedisNode home) {
		this.threads = threads;
		this.context = context;
		this.mark = context.mark();
		this.number = (this.mark != null) ? this.mark.open() : 0;
		this.destinations = new Destinations(context.nodes(), home);
		this.window = new Window(context.pipeline(), context.inFlight(), context.memory());
		this.filler = new SlabFiller(this, this.number, this.queue, this.window, context);
		this.recovery = new Recovery(context,
				(context.isCluster()) ? new RedirectFollower(context, this.destinations) : null, this.number);
		this.slabs = new LaneSlabs(context, this.queue, this.window, this.destinations);
	}

	SlabFiller filler() {
		return this.filler;
	}

	/** Unblocks the reading thread, however many commands are unanswered. */
	void removeWindowLimit() {
		this.window.removeLimit();
	}

	/**
	 * Whether no slot is being moved, by a recent report of the lane's master.
	 * @return always {@code true} for a single server
	 */
	boolean areSlotsStable() {
		return this.recovery.areSlotsStable();
	}

	/**
	 * Starts a thread for the lane. Call it only if the queue has reported that no thread
	 * runs the lane.
	 */
	void start() {
		this.threads.start(this);
	}

	@Override
	public void run() {
		boolean finished = true;
		try {
			finished = runBatches();
		}
		catch (RuntimeException | Error ex) {
			this.threads.stopAfterDefect(ex);
		}
		finally {
			if (finished) {
				this.threads.laneIdle();
			}
			if (finished && this.slabs.isInterrupted()) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Runs batches until the lane has nothing to do; {@code false} if it has to wait for
	 * a connection.
	 */
	private boolean runBatches() {
		while (this.slabs.fetchNext()) {
			if (this.context.stop().isSet()) {
				this.slabs.settleUnsent();
			}
			else if (!tryRunBatch()) {
				return false;
			}
		}
		return true;
	}

	/** Runs a batch; {@code false} if the lane has to wait for a connection. */
	private boolean tryRunBatch() {
		try {
			RedisNode node = this.slabs.selectDestination();
			LaneConnections connections = this.threads.connections(node);
			if (this.connections != null && this.connections != connections) {
				// This lane no longer waits for the former node's connections.
				this.connections.runNext();
			}
			this.connections = connections;
			if (!connections.acquire(this)) {
				return false;
			}
			runBatch(node, connections);
		}
		catch (NoConnectionException ex) {
			this.recovery.retryUnreachable(ex);
		}
		return true;
	}

	/** Closes the lane after the job's last record, when no thread runs it. */
	void close() {
		this.slabs.close();
	}

	private void runBatch(RedisNode node, LaneConnections connections) throws NoConnectionException {
		try {
			this.recovery.startRequest();
			BatchResult batch = tryBatch(node, connections);
			if (!batch.unsettled().isEmpty()) {
				this.recovery.recover(batch, node);
				this.slabs.settleBatch(batch);
			}
		}
		catch (NoConnectionException ex) {
			this.context.nodes().refresh();
			this.destinations.markUnreachable(node);
			if (this.slabs.selectDestination() == node || !this.recovery.trySwitch()) {
				this.recovery.retryUnreachable(ex);
			}
		}
	}

	/** Whether the lane may write on a connection. If not, the job may be stopped. */
	private boolean isAccepted(Pipeline pipeline, AtomicReference<@Nullable RedisCallException> failed) {
		try {
			// A connection that was lost at once has no identity; the batch gets another.
			return this.mark == null || !pipeline.isOpen()
					|| this.mark.accept(pipeline.identityWithRun(this.context.settings().timeout()));
		}
		catch (RedisCallException ex) {
			failed.set(ex);
			return false;
		}
	}

	/** Runs a batch, and releases its connection at the end. */
	private BatchResult tryBatch(RedisNode node, LaneConnections connections) throws NoConnectionException {
		LaneSettings settings = this.context.settings();
		AtomicReference<@Nullable BatchResult> result = new AtomicReference<>();
		AtomicReference<@Nullable RedisCallException> failed = new AtomicReference<>();
		long requestedNanos = System.nanoTime();
		try {
			node.run(settings.flush(), settings.timeout(), this.context.stop(), (pipeline) -> {
				this.context.clock().waited(System.nanoTime() - requestedNanos);
				this.recovery.acceptConnection(pipeline.firstLentNanos());
				if (!isAccepted(pipeline, failed)) {
					return;
				}
				result.set(new Batch(this.slabs, this.threads::isInputOpen, this.recovery, this.context, node, pipeline)
					.run());
			});
			if (failed.get() != null) {
				throw new NoConnectionException(node.name(), failed.get());
			}
			return Objects.requireNonNullElse(result.get(), BatchResult.NONE);
		}
		catch (NoConnectionException ex) {
			this.context.clock().waited(System.nanoTime() - requestedNanos);
			throw ex;
		}
		finally {
			connections.release();
		}
	}

}
