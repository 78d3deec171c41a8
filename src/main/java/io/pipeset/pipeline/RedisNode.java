package io.pipeset.pipeline;

import java.time.Duration;
import java.util.function.Consumer;

import io.lettuce.core.ClientOptions;
import io.pipeset.pipeline.call.ConnectionLender;
import io.pipeset.pipeline.call.MasterWatch;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCalls;
import io.pipeset.pipeline.call.ServerFacts;
import io.pipeset.pipeline.flush.FlushPolicy;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One server of Redis, and everything of the service that is about this server only: its
 * connections, how many of them jobs may hold, the fences of those that were lost, the
 * single calls, and the facts that are known about it. Nothing of this is shared with
 * another node.
 */
public final class RedisNode implements AutoCloseable {

	private final MasterWatch watch;

	private final ConnectionPermits permits;

	private final Fences fences;

	private final Pipelines pipelines;

	private final RedisCalls calls;

	private final ServerFacts facts;

	private final MemoryLooks memory;

	/**
	 * Makes a node, which opens no connection before one is needed.
	 * @param name host and port of the server
	 * @param factory the connections to that server, and their timeouts. From now on it
	 * is the node's alone, but whoever made it destroys it, after the node is closed
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties) {
		this(name, factory, properties, MasterWatch.of(name));
	}

	/**
	 * Makes a node whose server may change.
	 * @param name the name under which the server is master
	 * @param factory the connections to the server that is master when they are opened,
	 * the node's alone as above
	 */
	public RedisNode(String name, LettuceConnectionFactory factory, PipelineProperties properties, MasterWatch watch) {
		this.watch = watch;
		LettuceClientConfiguration client = factory.getClientConfiguration();
		Duration patience = client.getCommandTimeout();
		Duration opening = client.getClientOptions()
			.map(ClientOptions::getSocketOptions)
			.map((options) -> options.getConnectTimeout())
			.orElse(properties.connectTimeout())
			.plus(patience)
			.plus((watch.isFollowing()) ? ConnectionLender.MOST_CHANGING : Duration.ZERO);
		ConnectionLender lender = ConnectionLender.of(factory, properties.pooledConnections(), name, watch);
		this.permits = new ConnectionPermits(properties.maxConnections(), properties.firstConnections());
		this.fences = new Fences(lender, patience);
		this.pipelines = new Pipelines(lender, this.fences, patience, opening);
		// The fences have one of the reserve to themselves.
		this.calls = new RedisCalls(lender, patience, PipelineProperties.RESERVE - 1);
		this.facts = new ServerFacts(this.calls, watch);
		this.memory = new MemoryLooks(this.calls, properties.memoryWarnings());
		this.fences.start();
	}

	/**
	 * The server's name, for messages.
	 * @return its host and port now
	 */
	public String name() {
		return this.watch.address();
	}

	/** Knows which server is master. */
	public MasterWatch watch() {
		return this.watch;
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
		return this.fences.raise(clientId, runId, this.watch.switches());
	}

	/** The single calls to the server. */
	public RedisCalls calls() {
		return this.calls;
	}

	/** The facts that are known about the server. */
	public ServerFacts facts() {
		return this.facts;
	}

	/** The looks at the server's memory. */
	public MemoryLooks memory() {
		return this.memory;
	}

	/** Ends the node's threads. Its connections end with their factory. */
	@Override
	public void close() {
		this.fences.close();
		this.pipelines.close();
	}

}
