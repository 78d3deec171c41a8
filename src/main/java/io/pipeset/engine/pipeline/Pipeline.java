package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.ConnectionMemory;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.engine.slab.Exchange;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;

/** A connection that one batch uses exclusively while the batch runs. */
public final class Pipeline {

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final ConnectionMemory memory;

	private final @Nullable ClientIdentity identity;

	private @Nullable Coalescing coalescing;

	private final Fences fences;

	private final ConnectionLender lender;

	private volatile long lastReadNanos = System.nanoTime();

	private volatile @Nullable Throwable failure;

	Pipeline(StatefulRedisConnection<byte[], byte[]> connection, @Nullable ClientIdentity identity,
			@Nullable Coalescing coalescing, Fences fences, ConnectionLender lender) {
		this.connection = connection;
		this.memory = ConnectionMemory.of(connection);
		this.identity = identity;
		this.coalescing = coalescing;
		this.fences = fences;
		this.lender = lender;
	}

	/**
	 * Writes a slab to the socket, after the slabs sent before.
	 * @param slab the slab; it must not be used before it is done
	 * @param whenDone gets the slab when it is answered or lost, usually in another
	 * thread
	 */
	public void send(Slab slab, Consumer<Slab> whenDone) {
		send(slab.attempt(), () -> whenDone.accept(slab));
	}

	/**
	 * Writes commands to the socket, after the commands sent before.
	 * @param exchange the commands; they must not be used before the exchange is done,
	 * except as the exchange allows
	 * @param whenDone runs when the exchange is answered or lost, usually in another
	 * thread
	 */
	void send(Exchange exchange, Runnable whenDone) {
		this.connection.dispatch(new ExchangeCommand(exchange, this, whenDone));
		this.connection.flushCommands();
		if (!this.connection.isOpen()) {
			// If the connection ends after Lettuce has checked it, the commands stay in
			// Lettuce's buffer until the connection is closed.
			abandon();
		}
	}

	/**
	 * The coalesced commands that the connection allows.
	 * @return {@code null} if they are not known
	 */
	public @Nullable Coalescing coalescing() {
		return this.coalescing;
	}

	/**
	 * Records which coalesced commands are still allowed after Redis has refused some.
	 * This applies to this batch and to later batches on the connection.
	 */
	public void allow(Coalescing allowed) {
		this.coalescing = allowed;
		this.memory.rememberCoalescing(allowed);
	}

	/**
	 * Identifies the connection at its server.
	 * @return {@code null} if the server does not permit it
	 */
	public @Nullable ClientIdentity identity() {
		return this.identity;
	}

	/**
	 * Identifies the connection and the run of its server. Call it only when nothing is
	 * in flight.
	 * @return {@code null}, or without a run, if the server does not permit it
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
	 */
	public @Nullable ClientIdentity identityWithRun(Duration timeout) {
		ClientIdentity known = this.identity;
		return (known == null || known.runId() != null) ? known
				: ClientIdentity.withRun(new CallConnection(this.lender.address(), this.connection, timeout));
	}

	/** Whether the connection is open. One that is not opens no more. */
	public boolean isOpen() {
		return this.connection.isOpen();
	}

	/** Records the connection in the outcome log, before the first record is sent. */
	public void tell(OutcomeLog log) {
		ClientIdentity known = this.identity;
		log.connected((known != null) ? known.node() : this.lender.address(), (known != null) ? known.clientId() : null,
				runId());
	}

	/**
	 * Identifies the run of the server.
	 * @return its run ID; {@code null} if the server does not report it, or not yet
	 */
	public @Nullable String runId() {
		return (this.identity != null) ? this.identity.runId() : null;
	}

	/**
	 * When the connection was first lent. Its server cannot have restarted after that
	 * time without closing it.
	 * @return a time of {@link System#nanoTime()}
	 */
	public long firstLentNanos() {
		return this.memory.firstLentNanos();
	}

	/**
	 * Queries how many replicas have confirmed all commands sent on this connection. Call
	 * it only when all these commands are answered.
	 * @param replicasTimeout how long Redis waits for the replicas
	 * @param extraWait how much longer to wait for the reply
	 * @return the number of replicas, which may exceed {@code replicas}
	 * @throws RedisCallException if Redis refuses WAIT, or if no reply comes, which
	 * closes the connection
	 */
	public long waitForReplicas(int replicas, Duration replicasTimeout, Duration extraWait) {
		return new CallConnection(this.lender.address(), this.connection, replicasTimeout.plus(extraWait))
			.call((commands) -> commands.waitForReplication(replicas, replicasTimeout.toMillis()));
	}

	/**
	 * Checks whether another server has become master since the connection was lent.
	 * @return {@code true} if the connection leads to a former master
	 */
	public boolean looksSuperseded() {
		this.lender.checkMaster();
		return this.lender.successor() != null;
	}

	/**
	 * When the last bytes of a reply arrived on this connection.
	 * @return a time of {@link System#nanoTime()}; before the first reply, it is the time
	 * at which the batch began
	 */
	public long lastReadNanos() {
		return this.lastReadNanos;
	}

	/**
	 * Why the connection was lost.
	 * @return that another server has become master, otherwise Lettuce's message;
	 * {@code null} if there is neither
	 */
	public @Nullable String failure() {
		ConnectionLender master = this.lender.successor();
		if (master != null) {
			return "Redis at " + master.address() + " has become master";
		}
		Throwable cause = this.failure;
		return (cause != null) ? cause.getMessage() : null;
	}

	/**
	 * Closes the connection for good: the pool does not lend it again, and slabs in
	 * flight come back as lost.
	 */
	public void abandon() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

	/**
	 * Fences off this connection, so that its unanswered commands no longer run. The
	 * connection must be lost or {@linkplain #abandon() abandoned}.
	 */
	public Fence fence() {
		return this.fences.raise(this.identity);
	}

	void markRead() {
		this.lastReadNanos = System.nanoTime();
	}

	void setFailure(Throwable cause) {
		this.failure = cause;
	}

}
