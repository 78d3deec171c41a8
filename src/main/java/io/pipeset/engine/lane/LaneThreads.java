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
 * The threads that run the lanes of a job, and the lanes' turns at connections. The
 * thread that reads waits here until all lanes are idle, and runs those itself for which
 * no thread could be started.
 */
final class LaneThreads {

	private static final Logger logger = LoggerFactory.getLogger(LaneThreads.class);

	private final LaneContext context;

	private final Runnable openWindows;

	private final Map<RedisNode, LaneTurns> turns = new ConcurrentHashMap<>(4);

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	/** Lanes that a thread runs, or that wait for their turn. */
	private int running;

	private final Deque<Lane> stranded = new ArrayDeque<>();

	private volatile boolean fed = true;

	/**
	 * No lane runs.
	 * @param openWindows lets the reading thread go on, however much is on its way
	 */
	LaneThreads(LaneContext context, Runnable openWindows) {
		this.context = context;
		this.openWindows = openWindows;
	}

	/**
	 * Whether the reading thread may still bring slabs by itself. It does not while it
	 * waits here.
	 */
	boolean isFed() {
		return this.fed;
	}

	/** The lanes' turns at a connection to a node. */
	LaneTurns turns(RedisNode node) {
		LaneTurns known = this.turns.get(node);
		return (known != null) ? known
				: this.turns.computeIfAbsent(node, (any) -> new LaneTurns(this.context, node, this::execute));
	}

	/** Has a thread run a lane that none runs. */
	void start(Lane lane) {
		begins();
		execute(lane);
	}

	/** The reading thread brings no more slabs until all lanes are idle. */
	void drain() {
		this.fed = false;
	}

	/**
	 * Waits until no lane runs.
	 * @param own a lane that none runs, for the calling thread to run; {@code null} if
	 * there is none
	 */
	void awaitIdle(@Nullable Lane own) {
		if (own != null) {
			begins();
			own.run();
		}
		for (Lane lane = awaitStranded(); lane != null; lane = awaitStranded()) {
			lane.run();
		}
		this.fed = true;
	}

	/** A lane has nothing more to do. */
	void ends() {
		try {
			this.turns.values().forEach(LaneTurns::next);
		}
		finally {
			ended();
		}
	}

	/**
	 * A lane, or the thread that reads, ends by a defect: the job writes nothing more.
	 */
	void crashed(Throwable cause) {
		fail("The service failed: " + cause);
		logger.error("A job failed by a defect of the service, and is stopped", cause);
	}

	private void fail(String detail) {
		try {
			this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
		}
		finally {
			this.openWindows.run();
		}
	}

	private void execute(Lane lane) {
		try {
			this.context.executor().execute(lane);
		}
		catch (RuntimeException | Error ex) {
			boolean first = !this.context.stop().isSet();
			try {
				fail("The service could not start a thread (" + ex
						+ "): raise its limit of threads, or lower pipeset.limits.max-running-jobs");
			}
			finally {
				strand(lane);
			}
			if (first) {
				logger.error("No thread could be started for a job, which is stopped", ex);
			}
		}
	}

	private void begins() {
		this.lock.lock();
		try {
			this.running++;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void ended() {
		this.lock.lock();
		try {
			this.running--;
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void strand(Lane lane) {
		this.lock.lock();
		try {
			this.stranded.add(lane);
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until no lane runs, or one is to be run here. */
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
