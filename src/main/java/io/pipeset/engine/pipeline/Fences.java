package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.pipeline.Fence.State;
import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Fences off the connections to one server that were lost with commands in flight. A
 * fence is a <a href="https://redis.io/docs/latest/commands/client-kill/">CLIENT KILL
 * ID</a> on another connection: after its reply, Redis runs no command of the lost one.
 * No new batch begins before that.
 */
final class Fences {

	private static final Logger logger = LoggerFactory.getLogger(Fences.class);

	private static final ExponentialBackOff DELAYS = delays();

	private static final long MAX_CLOSE_MILLIS = 2000;

	/**
	 * How long a job that is stopped still waits at most, even if the reply timeout is
	 * longer.
	 */
	private static final Duration MAX_WAIT_AFTER_STOP = Duration.ofSeconds(5);

	private final ConnectionLender lender;

	private final Duration replyTimeout;

	private final Thread worker = new Thread(this::work, "fences");

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Condition attemptNeeded = this.lock.newCondition();

	private final Set<Fence> pending = new LinkedHashSet<>();

	private boolean attemptRequested;

	/** Whether another server has replaced this one. */
	private boolean replaced;

	private long attempts;

	private long lastFailedAttempt;

	private String failure = "";

	/**
	 * Fences off connections.
	 * @param replyTimeout how long to wait for a reply before trying another connection
	 */
	Fences(ConnectionLender lender, Duration replyTimeout) {
		this.lender = lender;
		this.replyTimeout = replyTimeout;
	}

	/**
	 * Fences off a lost connection.
	 * @param lost a connection to this node; {@code null} if Redis did not permit the
	 * query for its client ID
	 * @throws IllegalArgumentException if the connection was one to another node, because
	 * its client ID may belong to another client here
	 */
	Fence raise(@Nullable ClientIdentity lost) {
		return raise(lost, false);
	}

	private Fence raise(@Nullable ClientIdentity lost, boolean ofEarlierProcess) {
		if (lost != null && !lost.node().equals(this.lender.address())) {
			throw new IllegalArgumentException(
					"A connection to " + lost.node() + " cannot be fenced off at " + this.lender.address());
		}
		ClientIdentity known = (lost != null) ? lost : new ClientIdentity(this.lender.address(), 0, null, null);
		this.lock.lock();
		try {
			Fence fence = new Fence(this, known, ofEarlierProcess,
					(this.replaced) ? State.CONFIRMED : (lost != null) ? State.PENDING : State.REFUSED);
			if (fence.state() == State.PENDING) {
				this.pending.add(fence);
				requestAttempt();
			}
			return fence;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Fences off a connection of a process that has ended. The fence is refused if the
	 * server does not report its run ID, because the client ID may belong to another
	 * client by now.
	 */
	Fence raise(long clientId, String runId) {
		return raise(new ClientIdentity(this.lender.address(), clientId, runId, null), true);
	}

	State await(Fence fence, Duration timeout, boolean keepWaiting, StopSignal stop) {
		// A stop only shortens this wait: the report says whether the fence is confirmed.
		Duration afterStop = (this.replyTimeout.compareTo(MAX_WAIT_AFTER_STOP) < 0) ? this.replyTimeout
				: MAX_WAIT_AFTER_STOP;
		await(() -> fence.state() != State.PENDING, timeout, keepWaiting, stop, afterStop);
		this.lock.lock();
		try {
			return fence.state();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits, before a batch begins, until no command of a lost connection can run at the
	 * same time.
	 * @throws NoConnectionException if Redis cannot be reached, or does not answer in
	 * time
	 */
	void await(Duration timeout, StopSignal stop) throws NoConnectionException {
		if (!await(this.pending::isEmpty, timeout, false, stop, Duration.ZERO)) {
			throw new NoConnectionException(this.lender.address(),
					"commands of a lost connection may still run, and nothing else is sent until Redis"
							+ " has closed it (" + this.failure + ")");
		}
	}

	private boolean await(BooleanSupplier done, Duration timeout, boolean keepWaiting, StopSignal stop,
			Duration maxWaitAfterStop) {
		Runnable wake = this::wake;
		this.lock.lock();
		try {
			long deadline = System.nanoTime() + timeout.toNanos();
			long attemptsBefore = this.attempts;
			boolean stopped = false;
			if (done.getAsBoolean()) {
				return true;
			}
			requestAttempt();
			stop.add(wake);
			while (!done.getAsBoolean()) {
				if (!stopped && stop.isSet()) {
					stopped = true;
					deadline = Math.min(deadline, System.nanoTime() + maxWaitAfterStop.toNanos());
				}
				long left = deadline - System.nanoTime();
				if (left <= 0 || (!keepWaiting && this.lastFailedAttempt > attemptsBefore)) {
					return false;
				}
				this.changed.awaitNanos(left);
			}
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.lock.unlock();
			stop.remove(wake);
		}
	}

	private void wake() {
		this.lock.lock();
		try {
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	void start() {
		this.worker.setDaemon(true);
		this.worker.start();
	}

	/**
	 * Survives every exception, because no batch could ever begin again without this
	 * thread.
	 */
	private void work() {
		boolean loggedDefect = false;
		BackOffExecution delays = DELAYS.start();
		try {
			while (true) {
				List<Fence> fences = awaitPending();
				String cause = null;
				try {
					cause = attempt(fences);
				}
				catch (RuntimeException | Error ex) {
					cause = ex.toString();
					if (!loggedDefect) {
						logger.warn(
								"A lost connection could not be fenced off because of a defect. The service tries again",
								ex);
					}
					loggedDefect = true;
				}
				if (cause != null) {
					waitAfterFailure(cause, delays.nextBackOff());
				}
				else {
					loggedDefect = false;
					delays = DELAYS.start();
				}
			}
		}
		catch (InterruptedException ex) {
			// The service is shutting down.
		}
	}

	/** Waits until there are fences to confirm. */
	private List<Fence> awaitPending() throws InterruptedException {
		this.lock.lock();
		try {
			while (this.pending.isEmpty()) {
				this.attemptNeeded.await();
			}
			this.attempts++;
			this.attemptRequested = false;
			return List.copyOf(this.pending);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Makes one attempt to confirm the fences.
	 * @return why the attempt failed, or {@code null}
	 */
	private @Nullable String attempt(List<Fence> fences) {
		try {
			this.lender.repeat(() -> this.lender.call(this.replyTimeout, (connection) -> {
				ClientIdentity own = ClientIdentity.of(connection).orElse(null);
				for (Fence fence : fences) {
					setState(fence, kill(fence, own, connection));
				}
				return fences;
			}));
			return null;
		}
		catch (RedisCallException ex) {
			return ex.getMessage();
		}
	}

	private static State kill(Fence fence, @Nullable ClientIdentity own, CallConnection connection) {
		boolean gone = own != null && fence.lost().isFromAnotherRun(own);
		if (fence.isOfEarlierProcess()) {
			String runId = ClientIdentity.serverRunId(connection);
			if (runId == null) {
				return State.REFUSED;
			}
			gone = !runId.equals(fence.lost().runId());
		}
		return (gone || fence.lost().kill(connection)) ? State.CONFIRMED : State.REFUSED;
	}

	private void requestAttempt() {
		this.attemptRequested = true;
		this.attemptNeeded.signal();
	}

	private void setState(Fence fence, State state) {
		this.lock.lock();
		try {
			// Another server may have replaced this one meanwhile.
			if (fence.state() == State.PENDING) {
				fence.setState(state);
			}
			this.pending.remove(fence);
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits before the next attempt, unless another thread requests one. */
	private void waitAfterFailure(String cause, long delayMillis) throws InterruptedException {
		this.lock.lock();
		try {
			this.failure = cause;
			this.lastFailedAttempt = this.attempts;
			this.changed.signalAll();
			long left = TimeUnit.MILLISECONDS.toNanos(delayMillis);
			while (!this.attemptRequested && left > 0) {
				left = this.attemptNeeded.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Confirms all fences, because another server has replaced this one. The changes that
	 * this server may still make are lost.
	 */
	void markReplaced() {
		this.lock.lock();
		try {
			this.replaced = true;
			this.pending.forEach((fence) -> fence.setState(State.CONFIRMED));
			this.pending.clear();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends the thread. Pending fences stay pending. */
	void close() {
		this.worker.interrupt();
		try {
			// Let the thread return its connection before the pool is closed.
			this.worker.join(Math.max(1, Math.min(this.replyTimeout.toMillis(), MAX_CLOSE_MILLIS)));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static ExponentialBackOff delays() {
		ExponentialBackOff delays = new ExponentialBackOff(20, 2);
		delays.setMaxInterval(500);
		return delays;
	}

}
