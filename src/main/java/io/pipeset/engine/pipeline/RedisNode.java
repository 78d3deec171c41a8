package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.lettuce.core.ClientOptions;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.pipeline.call.ScanPosition;
import io.pipeset.engine.pipeline.call.ServerFacts;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One Redis server and everything that concerns only this server: its connections, the
 * permits for jobs, the fences of lost connections, the single calls, and the known
 * facts. Nodes share none of this.
 */
public final class RedisNode implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	private final int failovers;

	private final ConnectionLender lender;

	private final ConnectionPermits permits;

	private final Fences fences;

	private final Pipelines pipelines;

	private final RedisCalls calls;

	private final ServerFacts facts;

	private final MemoryChecks memory;

	private final LatencyProbe latency;

	/**
	 * Creates a node. It opens no connection before one is needed.
	 * @param name host and port of the server
	 * @param factory the connections to that server, and their timeouts. From now on only
	 * the node uses it, but its creator destroys it, after the node is closed
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties) {
		this(name, factory, properties, 0, null);
	}

	/**
	 * Creates a node that another server may replace.
	 * @param failovers the number of failovers before this server became master
	 * @param masterCheck runs before each use of a connection, and detects whether this
	 * server has been replaced; {@code null} if that never happens
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties, int failovers,
			@Nullable Runnable masterCheck) {
		this.factory = factory;
		this.failovers = failovers;
		LettuceClientConfiguration client = factory.getClientConfiguration();
		Duration replyTimeout = client.getCommandTimeout();
		Duration openingTimeout = client.getClientOptions()
			.map(ClientOptions::getSocketOptions)
			.map((options) -> options.getConnectTimeout())
			.orElse(properties.connectTimeout())
			.plus(replyTimeout)
			.plus((masterCheck != null) ? ConnectionLender.MAX_MASTER_CHANGE : Duration.ZERO);
		this.lender = ConnectionLender.of(factory, properties.pooledConnections(), name, masterCheck);
		this.permits = new ConnectionPermits(properties.maxConnections(), properties.firstConnections());
		this.fences = new Fences(this.lender, replyTimeout);
		this.pipelines = new Pipelines(this.lender, this.fences, replyTimeout, openingTimeout);
		// One connection of the reserve is for the fences, and one for the probe.
		this.calls = new RedisCalls(this.lender, replyTimeout, PipelineProperties.RESERVE - 2);
		this.latency = new LatencyProbe(this.lender, replyTimeout);
		this.facts = new ServerFacts(this.calls);
		this.memory = new MemoryChecks(this.calls, properties.memoryWarnings());
		this.fences.start();
	}

	/** The server's host and port. */
	public String name() {
		return this.lender.address();
	}

	/** The database that all connections use. */
	public int database() {
		return this.factory.getDatabase();
	}

	/**
	 * The number of failovers before this server became master. It distinguishes the
	 * answers of different masters. 0 in a cluster.
	 */
	public int failovers() {
		return this.failovers;
	}

	/** Whether another server has replaced this one, which is final. */
	public boolean isReplaced() {
		return this.lender.successor() != null;
	}

	/**
	 * Closes this node because another server has replaced it. When this returns, all
	 * connections to this server are closed, and none is lent any more.
	 */
	public void replacedBy(RedisNode successor) {
		this.lender.replacedBy(successor.lender);
		this.fences.markReplaced();
		this.factory.getRequiredNativeClient().shutdownAsync(0, 0, TimeUnit.SECONDS).join();
	}

	/**
	 * The permits for connections to this server, which all jobs share. A batch needs
	 * one.
	 */
	public ConnectionPermits permits() {
		return this.permits;
	}

	/**
	 * Runs a batch on a pooled connection, which the batch holds until it returns. The
	 * permit is released when the connection is back or will certainly not be borrowed.
	 * If this method gives up waiting, that happens later.
	 * @param timeout how long to wait for the fences of lost connections, and then again
	 * for a connection
	 * @param stop ends the wait for fences
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection; the batch was not called
	 */
	public void run(FlushPolicy flush, Duration timeout, StopSignal stop, Consumer<Pipeline> batch)
			throws NoConnectionException {
		this.pipelines.run(flush, timeout, stop, this.permits::release, batch);
	}

	/**
	 * Fences off a connection of a service process that has ended.
	 * @param clientId the connection's client ID at this server
	 * @param runId the server's run ID when the connection was used; a restart has ended
	 * the connection
	 */
	public Fence fence(long clientId, String runId) {
		return this.fences.raise(clientId, runId);
	}

	/** The single calls to this server, or to its successor if it has been replaced. */
	public RedisCalls calls() {
		return this.calls;
	}

	/**
	 * Queries pages of keys, and the facts about each key, on a connection for single
	 * calls. If it breaks, the pages that are not taken are queried on another at once.
	 * @param position where to continue, after all pages that were taken
	 * @param taker takes a page, or returns {@code false}; it must not wait, because it
	 * holds the connection
	 * @return the page that was not taken; empty if the query did not go on
	 * @throws RedisCallException if Redis does not answer
	 */
	public Optional<KeyPage> examine(Supplier<ScanPosition> position, KeyQuery query, Predicate<KeyPage> taker) {
		return this.calls.repeat(query.timeout(),
				(connection) -> new KeyPages(
						new Pipeline(connection.connection(), null, null, this.fences, this.lender), query)
					.read(connection, position.get(), taker));
	}

	/** The facts that are known about the server. */
	public ServerFacts facts() {
		return this.facts;
	}

	/** The checks of the server's memory. */
	public MemoryChecks memory() {
		return this.memory;
	}

	/** The probe that measures how long other clients wait for the server. */
	public LatencyProbe latency() {
		return this.latency;
	}

	/** Ends the node's threads. The factory closes its connections. */
	@Override
	public void close() {
		this.latency.close();
		this.fences.close();
		this.pipelines.close();
	}

}
