package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The turns of a job's lanes at a node's connections. A job waits for a connection only
 * while it has none; its further lanes take a connection that is free, or have their turn
 * when another lane of the job is done. So no job waits for a connection while it holds
 * one.
 */
final class LaneTurns {

	private final LaneContext context;

	private final RedisNode node;

	private final Consumer<Lane> threads;

	private final ReentrantLock lock = new ReentrantLock();

	/** Lanes that have left their thread, and are run again when it is their turn. */
	private final Deque<Lane> deferred = new ArrayDeque<>();

	private int connections;

	private boolean asking;

	/** Whether the job has had a connection to this node; one thread at a time asks. */
	private volatile boolean begun;

	LaneTurns(LaneContext context, RedisNode node, Consumer<Lane> threads) {
		this.context = context;
		this.node = node;
		this.threads = threads;
	}

	/**
	 * Takes a connection for a lane.
	 * @return {@code false} if the lane is to leave its thread, and will be run again
	 */
	boolean enter(Lane lane) {
		this.lock.lock();
		try {
			if (this.asking || this.connections > 0) {
				if (!this.asking && this.node.permits().tryAcquire()) {
					this.connections++;
					runDeferred();
					return true;
				}
				this.deferred.add(lane);
				return false;
			}
			this.asking = true;
		}
		finally {
			this.lock.unlock();
		}
		boolean acquired;
		try {
			acquired = acquire();
		}
		catch (RuntimeException | Error ex) {
			asked(null, false);
			throw ex;
		}
		asked(lane, acquired);
		return acquired;
	}

	/** The wait for the job's first connection is over. */
	private void asked(@Nullable Lane lane, boolean acquired) {
		this.lock.lock();
		try {
			this.asking = false;
			if (acquired) {
				this.connections++;
			}
			else if (lane != null) {
				this.deferred.add(lane);
			}
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A lane has no connection any more; its permit comes back by itself. */
	void leave() {
		this.lock.lock();
		try {
			this.connections--;
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Runs the next lane that has left its thread, if there is one. */
	void next() {
		this.lock.lock();
		try {
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean acquire() {
		long since = System.nanoTime();
		boolean acquired = false;
		try {
			acquired = this.node.permits()
				.acquire(!this.begun, this.context.settings().timeout().toNanos(), this.context.stop());
			this.begun |= acquired;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.context.clock().waited(System.nanoTime() - since);
		if (!acquired && !this.context.stop().isSet()) {
			this.context.stop()
				.because(Cause.REDIS_UNREACHABLE,
						"None of the " + this.node.permits().count() + " connections became free at " + this.node.name()
								+ " within the job's timeout of " + DurationText.of(this.context.settings().timeout())
								+ ": send what did not run again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	private void runDeferred() {
		Lane next = this.deferred.poll();
		if (next != null) {
			this.threads.accept(next);
		}
	}

}
