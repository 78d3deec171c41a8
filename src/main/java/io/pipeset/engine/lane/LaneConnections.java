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
 * Shares a node's connections among the lanes of one job. A job waits for a connection
 * only while it has none to this node. Its other lanes take a free connection, or wait
 * until another lane of the job releases one. So no job waits for a connection while it
 * holds one.
 */
final class LaneConnections {

	private final LaneContext context;

	private final RedisNode node;

	private final Consumer<Lane> runner;

	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * Lanes that have left their thread. Each is run again when it may acquire a
	 * connection.
	 */
	private final Deque<Lane> deferred = new ArrayDeque<>();

	private int connections;

	private boolean requesting;

	/**
	 * Whether the job has had a connection to this node. Only one thread at a time
	 * requests one.
	 */
	private volatile boolean hadConnection;

	LaneConnections(LaneContext context, RedisNode node, Consumer<Lane> runner) {
		this.context = context;
		this.node = node;
		this.runner = runner;
	}

	/**
	 * Acquires a permit for a connection of a lane.
	 * @return {@code false} if the lane has to leave its thread; it will be run again
	 */
	boolean acquire(Lane lane) {
		this.lock.lock();
		try {
			if (this.requesting || this.connections > 0) {
				if (!this.requesting && this.node.permits().tryAcquire()) {
					this.connections++;
					runDeferred();
					return true;
				}
				this.deferred.add(lane);
				return false;
			}
			this.requesting = true;
		}
		finally {
			this.lock.unlock();
		}
		boolean acquired;
		try {
			acquired = awaitPermit();
		}
		catch (RuntimeException | Error ex) {
			endRequest(null, false);
			throw ex;
		}
		endRequest(lane, acquired);
		return acquired;
	}

	/** Ends the wait for the job's first connection. */
	private void endRequest(@Nullable Lane lane, boolean acquired) {
		this.lock.lock();
		try {
			this.requesting = false;
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

	/** Releases the connection of a lane. The node takes its permit back by itself. */
	void release() {
		this.lock.lock();
		try {
			this.connections--;
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Runs the next deferred lane, if there is one. */
	void runNext() {
		this.lock.lock();
		try {
			runDeferred();
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean awaitPermit() {
		long since = System.nanoTime();
		boolean acquired = false;
		try {
			acquired = this.node.permits()
				.acquire(!this.hadConnection, this.context.settings().timeout().toNanos(), this.context.stop());
			this.hadConnection |= acquired;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.context.clock().waited(System.nanoTime() - since);
		if (!acquired && !this.context.stop().isSet()) {
			this.context.stop()
				.stop(Cause.REDIS_UNREACHABLE,
						"None of the " + this.node.permits().count() + " connections became free at " + this.node.name()
								+ " within the job's timeout of " + DurationText.of(this.context.settings().timeout())
								+ ": send again later what did not run, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	private void runDeferred() {
		Lane next = this.deferred.poll();
		if (next != null) {
			this.runner.accept(next);
		}
	}

}
