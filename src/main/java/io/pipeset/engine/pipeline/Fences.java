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
 * The connections to one server that were lost with commands on their way. Each is fenced
 * off by <a href="https://redis.io/docs/latest/commands/client-kill/">CLIENT KILL ID</a>
 * on another connection: after its answer Redis runs no command of the lost one. Until
 * then no new batch begins.
 */
final class Fences {

	private static final Logger logger = LoggerFactory.getLogger(Fences.class);

	private static final ExponentialBackOff PAUSES = pauses();

	private static final long MOST_MILLIS_AT_END = 2000;

	/** A stop ends the job soon, however long a single answer may take. */
	private static final Duration MOST_AFTER_STOP = Duration.ofSeconds(5);

	private final ConnectionLender lender;

	private final Duration patience;

	private final Thread worker = new Thread(this::work, "fences");

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Condition wanted = this.lock.newCondition();

	private final Set<Fence> raised = new LinkedHashSet<>();

	private boolean isWanted;

	/** Whether another server has taken this one's place. */
	private boolean replaced;

	private long attempts;

	private long failedAttempt;

	private String failure = "";

	/**
	 * Fences off connections.
	 * @param patience how long to wait for an answer before another connection is tried
	 */
	Fences(ConnectionLender lender, Duration patience) {
		this.lender = lender;
		this.patience = patience;
	}

	/**
	 * Fences off a connection that was lost.
	 * @param lost a connection to this node; {@code null} where Redis did not permit to
	 * ask which
	 * @throws IllegalArgumentException if the connection was one to another node, where
	 * its number is that of somebody else
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
				this.raised.add(fence);
				want();
			}
			return fence;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Fences off a connection of a process that has ended. It is refused where the server
	 * does not tell its life, as the number may be that of somebody else by now.
	 */
	Fence raise(long clientId, String runId) {
		return raise(new ClientIdentity(this.lender.address(), clientId, runId, null), true);
	}

	State await(Fence fence, Duration timeout, boolean patient, StopSignal stop) {
		// The report says whether the fence stands, so that a stop only shortens the
		// wait.
		Duration afterStop = (this.patience.compareTo(MOST_AFTER_STOP) < 0) ? this.patience : MOST_AFTER_STOP;
		await(() -> fence.state() != State.PENDING, timeout, patient, stop, afterStop);
		this.lock.lock();
		try {
			return fence.state();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits, before a batch begins, until no command of a lost connection can run beside
	 * it.
	 * @throws NoConnectionException if Redis cannot be reached, or does not answer in
	 * time
	 */
	void await(Duration timeout, StopSignal stop) throws NoConnectionException {
		if (!await(this.raised::isEmpty, timeout, false, stop, Duration.ZERO)) {
			throw new NoConnectionException(this.lender.address(),
					"commands of a connection that was lost may still run, and until Redis"
							+ " has closed it nothing else is sent (" + this.failure + ")");
		}
	}

	private boolean await(BooleanSupplier done, Duration timeout, boolean patient, StopSignal stop,
			Duration mostAfterStop) {
		Runnable wake = this::wake;
		this.lock.lock();
		try {
			long deadline = System.nanoTime() + timeout.toNanos();
			long begun = this.attempts;
			boolean stopped = false;
			if (done.getAsBoolean()) {
				return true;
			}
			want();
			stop.add(wake);
			while (!done.getAsBoolean()) {
				if (!stopped && stop.isSet()) {
					stopped = true;
					deadline = Math.min(deadline, System.nanoTime() + mostAfterStop.toNanos());
				}
				long left = deadline - System.nanoTime();
				if (left <= 0 || (!patient && this.failedAttempt > begun)) {
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

	/** Goes on whatever happens; without this thread no batch would ever begin again. */
	private void work() {
		boolean defect = false;
		BackOffExecution pauses = PAUSES.start();
		try {
			while (true) {
				List<Fence> fences = next();
				String cause = null;
				try {
					cause = attempt(fences);
				}
				catch (RuntimeException | Error ex) {
					cause = ex.toString();
					if (!defect) {
						logger.warn("A lost connection could not be fenced off by a defect; it is tried again", ex);
					}
					defect = true;
				}
				if (cause != null) {
					failed(cause, pauses.nextBackOff());
				}
				else {
					defect = false;
					pauses = PAUSES.start();
				}
			}
		}
		catch (InterruptedException ex) {
			// The service ends.
		}
	}

	/** Waits until there is something to do. */
	private List<Fence> next() throws InterruptedException {
		this.lock.lock();
		try {
			while (this.raised.isEmpty()) {
				this.wanted.await();
			}
			this.attempts++;
			this.isWanted = false;
			return List.copyOf(this.raised);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Asks Redis once.
	 * @return why not everything was achieved, or {@code null}
	 */
	private @Nullable String attempt(List<Fence> fences) {
		try {
			this.lender.repeat(() -> this.lender.call(this.patience, (connection) -> {
				ClientIdentity own = ClientIdentity.of(connection).orElse(null);
				for (Fence fence : fences) {
					settle(fence, ask(fence, own, connection));
				}
				return fences;
			}));
			return null;
		}
		catch (RedisCallException ex) {
			return ex.getMessage();
		}
	}

	private static State ask(Fence fence, @Nullable ClientIdentity own, CallConnection connection) {
		boolean gone = own != null && fence.lost().isOfAnotherLifeThan(own);
		if (fence.isOfEarlierProcess()) {
			String life = ClientIdentity.life(connection);
			if (life == null) {
				return State.REFUSED;
			}
			gone = !life.equals(fence.lost().runId());
		}
		return (gone || fence.lost().kill(connection)) ? State.CONFIRMED : State.REFUSED;
	}

	private void want() {
		this.isWanted = true;
		this.wanted.signal();
	}

	private void settle(Fence fence, State state) {
		this.lock.lock();
		try {
			// Another server may have taken this one's place meanwhile.
			if (fence.state() == State.PENDING) {
				fence.state(state);
			}
			this.raised.remove(fence);
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Pauses before the next attempt, unless somebody waits for it. */
	private void failed(String cause, long pauseMillis) throws InterruptedException {
		this.lock.lock();
		try {
			this.failure = cause;
			this.failedAttempt = this.attempts;
			this.changed.signalAll();
			long left = TimeUnit.MILLISECONDS.toNanos(pauseMillis);
			while (!this.isWanted && left > 0) {
				left = this.wanted.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Another server has taken this one's place: nothing that this one still runs is
	 * kept, so that all fences stand.
	 */
	void replaced() {
		this.lock.lock();
		try {
			this.replaced = true;
			this.raised.forEach((fence) -> fence.state(State.CONFIRMED));
			this.raised.clear();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends the thread. Fences that are still raised stay so. */
	void close() {
		this.worker.interrupt();
		try {
			// Its connection goes back to the pool before the pool ends.
			this.worker.join(Math.max(1, Math.min(this.patience.toMillis(), MOST_MILLIS_AT_END)));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static ExponentialBackOff pauses() {
		ExponentialBackOff pauses = new ExponentialBackOff(20, 2);
		pauses.setMaxInterval(500);
		return pauses;
	}

}
