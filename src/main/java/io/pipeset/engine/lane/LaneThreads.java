package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the threads that run a job's lanes. The reading thread waits here until all
 * lanes are idle. It runs a lane itself if no thread could be started for it.
 */
final class LaneThreads {

	private static final Logger logger = LoggerFactory.getLogger(LaneThreads.class);

	private final LaneContext context;

	private final Runnable removeWindowLimits;

	private final Map<RedisNode, LaneConnections> connections = new ConcurrentHashMap<>(4);

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	/** Lanes that run on a thread, wait for a connection, or are stranded. */
	private int running;

	/** Lanes for which no thread could be started. */
	private final Deque<Lane> stranded = new ArrayDeque<>();

	/** Whether the reading thread may bring more slabs. */
	private volatile boolean inputOpen = true;

	/**
	 * Starts with no lane running.
	 * @param removeWindowLimits unblocks the reading thread, however much is in flight
	 */
	LaneThreads(LaneContext context, Runnable removeWindowLimits) {
		this.context = context;
		this.removeWindowLimits = removeWindowLimits;
	}

	/**
	 * Whether the reading thread may still bring slabs. It does not while it waits here
	 * for the lanes.
	 */
	boolean isInputOpen() {
		return this.inputOpen;
	}

	/** The connections to a node that the lanes share. */
	LaneConnections connections(RedisNode node) {
		LaneConnections known = this.connections.get(node);
		return (known != null) ? known : this.connections.computeIfAbsent(node,
				(any) -> new LaneConnections(this.context, node, this::execute));
	}

	/** Starts a thread for a lane that is not running. */
	void start(Lane lane) {
		countStarted();
		execute(lane);
	}

	/** Marks that the reading thread brings no more slabs until all lanes are idle. */
	void closeInput() {
		this.inputOpen = false;
	}

	/**
	 * Waits until no lane runs, and runs stranded lanes meanwhile.
	 * @param own an idle lane for the calling thread to run; {@code null} if there is
	 * none
	 */
	void awaitIdle(@Nullable Lane own) {
		if (own != null) {
			countStarted();
			own.run();
		}
		for (Lane lane = awaitStranded(); lane != null; lane = awaitStranded()) {
			lane.run();
		}
		this.inputOpen = true;
	}

	/** Marks a lane as idle, and gives its connection to the next one. */
	void laneIdle() {
		try {
			this.connections.values().forEach(LaneConnections::runNext);
		}
		finally {
			countEnded();
		}
	}

	/** Stops the job after a defect in a lane or in the reading thread. */
	void stopAfterDefect(Throwable cause) {
		stopJob("The service failed: " + cause);
		logger.error("A job failed by a defect of the service, and is stopped", cause);
	}

	private void stopJob(String detail) {
		try {
			this.context.stop().stop(Cause.INTERNAL_SERVER_ERROR, detail);
		}
		finally {
			this.removeWindowLimits.run();
		}
	}

	private void execute(Lane lane) {
		try {
			this.context.executor().execute(lane);
		}
		catch (RuntimeException | Error ex) {
			boolean first = !this.context.stop().isSet();
			try {
				stopJob("The service could not start a thread (" + ex
						+ "): raise its limit of threads, or lower pipeset.limits.max-running-jobs");
			}
			finally {
				addStranded(lane);
			}
			if (first) {
				logger.error("No thread could be started for a job, which is stopped", ex);
			}
		}
	}

	private void countStarted() {
		this.lock.lock();
		try {
			this.running++;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void countEnded() {
		this.lock.lock();
		try {
			this.running--;
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void addStranded(Lane lane) {
		this.lock.lock();
		try {
			this.stranded.add(lane);
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until no lane runs, or a lane is stranded. */
	private @Nullable Lane awaitStranded() {
		this.lock.lock();
		try {
			while (this.running > 0 && this.stranded.isEmpty()) {
				this.idle.awaitUninterruptibly();
			}
			return this.stranded.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

}
