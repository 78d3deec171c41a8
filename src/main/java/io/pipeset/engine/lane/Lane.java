package io.pipeset.engine.lane;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import org.jspecify.annotations.Nullable;

/**
 * One series of batches, each on a connection of its own for as long as it lasts. Slabs
 * come in by the lane's {@link LaneQueue}; at most one thread runs a lane at a time, and
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

	/** The turns that the lane waited for last. */
	private @Nullable LaneTurns turns;

	/**
	 * A lane.
	 * @param home the node that its records go to; {@code null} for a single server
	 */
	Lane(LaneThreads threads, LaneContext context, @Nullable RedisNode home) {
		this.threads = threads;
		this.context = context;
		this.destinations = new Destinations(context.nodes(), home);
		this.window = new Window(context.pipeline(), context.inFlight(), context.memory());
		this.filler = new SlabFiller(this, this.queue, this.window, context);
		this.recovery = new Recovery(context,
				(context.areSlotsFollowed()) ? new Redirection(context, this.destinations) : null);
		this.slabs = new LaneSlabs(context, this.queue, this.window, this.destinations);
	}

	SlabFiller filler() {
		return this.filler;
	}

	/** Lets the reading thread go on, however many commands are unanswered. */
	void openWindow() {
		this.window.open();
	}

	/** Whether no slot of the cluster moves, as far as the lane has just heard. */
	boolean isStill() {
		return this.recovery.isStill();
	}

	/** Has a thread run the lane, after the queue has said that none does. */
	void start() {
		this.threads.start(this);
	}

	@Override
	public void run() {
		boolean ends = true;
		try {
			ends = work();
		}
		catch (RuntimeException | Error ex) {
			this.threads.crashed(ex);
		}
		finally {
			if (ends) {
				this.threads.ends();
			}
			if (ends && this.slabs.isInterrupted()) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Runs batches until the lane has nothing to do; {@code false} if it has to wait for
	 * its turn.
	 */
	private boolean work() {
		while (this.slabs.collect()) {
			if (this.context.stop().isSet()) {
				this.slabs.settleUnsent();
			}
			else if (!enter()) {
				return false;
			}
		}
		return true;
	}

	/** Runs a batch, unless the lane has to wait for its turn. */
	private boolean enter() {
		try {
			RedisNode node = this.slabs.destination();
			LaneTurns turns = this.threads.turns(node);
			if (this.turns != null && this.turns != turns) {
				// This lane gives up its place in that queue.
				this.turns.next();
			}
			this.turns = turns;
			if (!turns.enter(this)) {
				return false;
			}
			runBatch(node, turns);
		}
		catch (NoConnectionException ex) {
			this.recovery.unreachable(ex);
		}
		return true;
	}

	/**
	 * Ends the lane after the job's last record, when no thread runs it.
	 */
	void close() {
		this.slabs.close();
	}

	private void runBatch(RedisNode node, LaneTurns turns) throws NoConnectionException {
		try {
			this.recovery.asks();
			BatchResult batch = tryBatch(node, turns);
			if (!batch.left().isEmpty()) {
				this.recovery.after(batch, node);
				this.slabs.settleLeft(batch);
			}
		}
		catch (NoConnectionException ex) {
			this.context.nodes().refresh();
			this.destinations.unreachable(node);
			if (this.slabs.destination() == node || !this.recovery.mayTurn()) {
				this.recovery.unreachable(ex);
			}
		}
	}

	/** Runs a batch, after which the lane holds no connection. */
	private BatchResult tryBatch(RedisNode node, LaneTurns turns) throws NoConnectionException {
		LaneSettings settings = this.context.settings();
		AtomicReference<@Nullable BatchResult> result = new AtomicReference<>();
		long asked = System.nanoTime();
		try {
			node.run(settings.flush(), settings.timeout(), this.context.stop(), (pipeline) -> {
				this.context.clock().waited(System.nanoTime() - asked);
				this.recovery.lent(pipeline.firstLentNanos());
				result
					.set(new Batch(this.slabs, this.threads::isFed, this.recovery, this.context, node, pipeline).run());
			});
			return Objects.requireNonNull(result.get());
		}
		catch (NoConnectionException ex) {
			this.context.clock().waited(System.nanoTime() - asked);
			throw ex;
		}
		finally {
			turns.leave();
		}
	}

}
