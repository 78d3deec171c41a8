package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.lettuce.core.ClientOptions;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.pipeline.call.ServerFacts;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One server of Redis, and everything of the service that is about this server only: its
 * connections, how many of them jobs may hold, the fences of those that were lost, the
 * single calls, and the facts that are known about it. Nothing of this is shared with
 * another node.
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

	/**
	 * Makes a node, which opens no connection before one is needed.
	 * @param name host and port of the server
	 * @param factory the connections to that server, and their timeouts. From now on it
	 * is the node's alone, but whoever made it destroys it, after the node is closed
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties) {
		this(name, factory, properties, 0, null);
	}

	/**
	 * Makes a node whose place another server may take.
	 * @param failovers how many failovers there were before this server became master
	 * @param look finds out, before each use of a connection, if that has happened
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties, int failovers,
			@Nullable Runnable look) {
		this.factory = factory;
		this.failovers = failovers;
		LettuceClientConfiguration client = factory.getClientConfiguration();
		Duration patience = client.getCommandTimeout();
		Duration opening = client.getClientOptions()
			.map(ClientOptions::getSocketOptions)
			.map((options) -> options.getConnectTimeout())
			.orElse(properties.connectTimeout())
			.plus(patience)
			.plus((look != null) ? ConnectionLender.MOST_CHANGING : Duration.ZERO);
		this.lender = ConnectionLender.of(factory, properties.pooledConnections(), name, look);
		this.permits = new ConnectionPermits(properties.maxConnections(), properties.firstConnections());
		this.fences = new Fences(this.lender, patience);
		this.pipelines = new Pipelines(this.lender, this.fences, patience, opening);
		// The fences have one of the reserve to themselves.
		this.calls = new RedisCalls(this.lender, patience, PipelineProperties.RESERVE - 1);
		this.facts = new ServerFacts(this.calls);
		this.memory = new MemoryChecks(this.calls, properties.memoryWarnings());
		this.fences.start();
	}

	/** The server's host and port. */
	public String name() {
		return this.lender.address();
	}

	/** The database that all connections are of. */
	public int database() {
		return this.factory.getDatabase();
	}

	/**
	 * How many failovers there were before this server became master, by which the
	 * answers of masters are told apart; 0 in a cluster.
	 */
	public int failovers() {
		return this.failovers;
	}

	/** Whether another server has taken this one's place, for good. */
	public boolean isReplaced() {
		return this.lender.successor() != null;
	}

	/**
	 * Another server has taken this one's place. When this returns, all connections to
	 * this one are closed, and none is lent any more.
	 */
	public void replacedBy(RedisNode successor) {
		this.lender.replacedBy(successor.lender);
		this.fences.replaced();
		this.factory.getRequiredNativeClient().shutdownAsync(0, 0, TimeUnit.SECONDS).join();
	}

	/**
	 * The connections to this server that all jobs together may hold. A batch needs a
	 * permit.
	 */
	public ConnectionPermits permits() {
		return this.permits;
	}

	/**
	 * Runs a batch on a pooled connection that is the batch's own until it returns, and
	 * gives its permit back: when the connection is back, or will certainly not be taken.
	 * If this method gives up waiting, the permit comes back later.
	 * @param timeout how long to wait for the fences of lost connections, and then for a
	 * connection
	 * @param stop ends the wait for fences
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection; the batch was not called
	 */
	public void run(FlushPolicy flush, Duration timeout, StopSignal stop, Consumer<Pipeline> batch)
			throws NoConnectionException {
		this.pipelines.run(flush, timeout, stop, this.permits::release, batch);
	}

	/**
	 * Fences off a connection of a process that has ended.
	 * @param clientId its number at this server
	 * @param runId the life of the server in which it was used; of a later one it is gone
	 */
	public Fence fence(long clientId, String runId) {
		return this.fences.raise(clientId, runId);
	}

	/** The single calls to the server, or to the one that has taken its place. */
	public RedisCalls calls() {
		return this.calls;
	}

	/** The facts that are known about the server. */
	public ServerFacts facts() {
		return this.facts;
	}

	/** The looks at the server's memory. */
	public MemoryChecks memory() {
		return this.memory;
	}

	/** Ends the node's threads. Its connections end with their factory. */
	@Override
	public void close() {
		this.fences.close();
		this.pipelines.close();
	}

}
