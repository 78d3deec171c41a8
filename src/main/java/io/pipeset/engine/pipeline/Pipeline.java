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

/** The connection of a batch, which nobody else uses while the batch runs. */
public final class Pipeline {

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final ConnectionMemory memory;

	private final @Nullable ClientIdentity identity;

	private final boolean tellsRunIdLater;

	private @Nullable Coalescing coalescing;

	private final Fences fences;

	private final ConnectionLender lender;

	private volatile long heardNanos = System.nanoTime();

	private volatile @Nullable Throwable failure;

	Pipeline(StatefulRedisConnection<byte[], byte[]> connection, @Nullable ClientIdentity identity,
			boolean tellsRunIdLater, @Nullable Coalescing coalescing, Fences fences, ConnectionLender lender) {
		this.connection = connection;
		this.memory = ConnectionMemory.of(connection);
		this.identity = identity;
		this.tellsRunIdLater = tellsRunIdLater;
		this.coalescing = coalescing;
		this.fences = fences;
		this.lender = lender;
	}

	/**
	 * Writes a slab to the socket, behind the slabs sent before.
	 * @param slab the slab; not to be touched before it is done
	 * @param whenDone gets the slab when it is answered or lost, in another thread
	 */
	public void send(Slab slab, Consumer<Slab> whenDone) {
		send(slab.attempt(), () -> whenDone.accept(slab));
	}

	/**
	 * Writes commands to the socket, behind those sent before.
	 * @param exchange the commands; not to be touched before it is done, but as it allows
	 * @param whenDone is run when the exchange is answered or lost, in another thread
	 */
	public void send(Exchange exchange, Runnable whenDone) {
		this.connection.dispatch(new ExchangeCommand(exchange, this, whenDone));
		this.connection.flushCommands();
		if (!this.connection.isOpen()) {
			// If it ended between the driver's look at it and the driver's buffer, the
			// commands lie in that buffer until somebody closes the connection.
			abandon();
		}
	}

	/**
	 * The common commands that the connection allows.
	 * @return {@code null} where that is not known
	 */
	public @Nullable Coalescing coalescing() {
		return this.coalescing;
	}

	/**
	 * Takes note of the common commands that are left once Redis has refused some, for
	 * this batch and for later ones on the connection.
	 */
	public void allow(Coalescing allowed) {
		this.coalescing = allowed;
		this.memory.coalescing(allowed);
	}

	/** Takes note of the connection, before the first record is sent. */
	public void tell(OutcomeLog log) {
		ClientIdentity known = this.identity;
		log.connected((known != null) ? known.node() : this.lender.address(), (known != null) ? known.clientId() : null,
				runId());
	}

	/**
	 * The life of the server. With its end, all that the server had begun is gone, such
	 * as a cursor.
	 * @return its run id; {@code null} where the server does not tell it, or not yet
	 */
	public @Nullable String runId() {
		return (this.identity != null) ? this.identity.runId() : null;
	}

	/**
	 * Whether a server that does not tell its run id was only busy or loading, or was
	 * lost while it was asked, and may tell it to the next batch.
	 * @return {@code false} also where the service's user may not ask for it
	 */
	public boolean tellsRunIdLater() {
		return this.tellsRunIdLater;
	}

	/**
	 * When the connection was lent for the first time. While it is open, its server was
	 * not started anew since.
	 * @return a time of {@link System#nanoTime()}
	 */
	public long firstLentNanos() {
		return this.memory.firstLentNanos();
	}

	/**
	 * Asks how many replicas have confirmed all that was sent on this connection, once
	 * all of it is answered.
	 * @param timeout how long Redis waits for them
	 * @param silence how much longer Redis may take to answer
	 * @return how many have, which may be more
	 * @throws RedisCallException if Redis refuses it or does not answer; the connection
	 * is then closed, unless it was refused
	 */
	public long confirmed(int replicas, Duration timeout, Duration silence) {
		return new CallConnection(this.lender.address(), this.connection, timeout.plus(silence))
			.call((commands) -> commands.waitForReplication(replicas, timeout.toMillis()));
	}

	/**
	 * Looks whether another server has become master since the connection was lent.
	 * @return {@code true} where the connection leads to a former one
	 */
	public boolean looksSuperseded() {
		this.lender.look();
		return this.lender.successor() != null;
	}

	/**
	 * When Redis was last heard on this connection.
	 * @return a time of {@link System#nanoTime()}, that of the batch's start before the
	 * first reply
	 */
	public long heardNanos() {
		return this.heardNanos;
	}

	/**
	 * Why the connection was lost.
	 * @return what the driver said, or {@code null}
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
	 * Closes the connection for good: the pool will not lend it again, and the slabs on
	 * their way come back as lost.
	 */
	public void abandon() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

	/**
	 * Sees to it that no unanswered command runs any more, once the connection is lost or
	 * {@linkplain #abandon() abandoned}.
	 */
	public Fence fence() {
		return this.fences.raise(this.identity);
	}

	void heard() {
		this.heardNanos = System.nanoTime();
	}

	void failed(Throwable cause) {
		this.failure = cause;
	}

}
