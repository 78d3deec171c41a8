package io.pipeset.engine.servers;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.SentinelLink.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The master that Sentinels name. All Sentinels are polled several times a second, and
 * before each use of a connection. The answer with the highest epoch wins, because a
 * Sentinel may not know of a failover yet. A failover creates another {@link Topology}
 * with another server in it.
 */
public final class SentinelNodes implements RedisNodes, SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(SentinelNodes.class);

	private static final long POLL_MILLIS = 150;

	/**
	 * How long a check waits for a Sentinel. A check does not wait again for an answer
	 * that is overdue.
	 */
	private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final String name;

	private final List<SentinelLink> sentinels;

	private final NodeFactories factories;

	/** How long to wait for an answer while no master is known. */
	private final Duration timeout;

	private Thread poller = new Thread(this::poll, "sentinel-watch");

	/** The master, and former ones whose connections may still be returned. */
	private final List<KnownMaster> masters = new ArrayList<>();

	private volatile @Nullable InetSocketAddress master;

	private volatile @Nullable Topology topology;

	private volatile boolean stopped;

	/**
	 * Creates the nodes, without a query.
	 * @param name the name by which the Sentinels know the master
	 * @param factory a factory for Sentinel, of which only the settings are used
	 * @param timeout how long to wait for an answer while no master is known
	 */
	public SentinelNodes(String name, List<SentinelLink> sentinels, LettuceConnectionFactory factory,
			PipelineProperties properties, Duration timeout) {
		this.name = name;
		this.sentinels = sentinels;
		this.factories = new NodeFactories(factory, properties);
		this.timeout = timeout;
	}

	@Override
	public void start() {
		this.stopped = false;
		this.poller = new Thread(this::poll, "sentinel-watch");
		this.poller.setDaemon(true);
		this.poller.start();
	}

	/** Polling stops before the Lettuce client, which the connection factory closes. */
	@Override
	public int getPhase() {
		return 1;
	}

	@Override
	public boolean isRunning() {
		return this.poller.isAlive();
	}

	@Override
	public boolean isFollowing() {
		return true;
	}

	@Override
	public int database() {
		return this.factories.database();
	}

	@Override
	public String name() {
		InetSocketAddress known = this.master;
		return (known != null) ? text(known) : "the master '" + this.name + "', which no Sentinel has named yet";
	}

	@Override
	public String untilReached() {
		return "the Sentinels of spring.data.redis.sentinel.nodes name a master that is there";
	}

	@Override
	public Topology owners() throws NoConnectionException {
		Topology known = this.topology;
		if (known == null) {
			look();
			known = this.topology;
		}
		if (known == null) {
			throw new NoConnectionException(name(),
					this.sentinels.stream()
						.map(SentinelLink::failure)
						.filter(Objects::nonNull)
						.findFirst()
						.orElse("none has answered yet"));
		}
		return known;
	}

	@Override
	public List<RedisNode> named() {
		Topology known = this.topology;
		RedisNode server = (known != null) ? known.only() : null;
		return (server != null) ? List.of(server) : List.of();
	}

	@Override
	public int failovers() {
		return named().stream().mapToInt(RedisNode::failovers).sum();
	}

	@Override
	public void look() {
		long begunNanos = System.nanoTime();
		long maxNanos = (this.topology != null) ? MAX_WAIT_NANOS : this.timeout.toNanos();
		boolean answered = false;
		while (!this.stopped && !answered) {
			CompletableFuture<?> answers = CompletableFuture.allOf(this.sentinels.stream()
				.map((sentinel) -> sentinel.query(maxNanos))
				.toArray(CompletableFuture<?>[]::new));
			try {
				answers.get(MAX_WAIT_NANOS, TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException | ExecutionException ex) {
				// The other Sentinels have answered.
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			chooseMaster();
			answered = this.topology != null || answers.isDone() || Thread.currentThread().isInterrupted()
					|| System.nanoTime() - begunNanos > maxNanos;
		}
	}

	private synchronized void chooseMaster() {
		Answer best = null;
		for (SentinelLink sentinel : this.sentinels) {
			Answer answer = sentinel.last();
			boolean newer = answer != null && (best == null || answer.epoch() > best.epoch()
					|| (answer.epoch() == best.epoch() && answer.master().equals(this.master)));
			best = (newer) ? answer : best;
		}
		if (best != null && !best.master().equals(this.master) && !this.stopped) {
			setMaster(best);
		}
	}

	/** Replaces the master. */
	private void setMaster(Answer best) {
		this.masters.removeIf(this::retireIfUnused);
		InetSocketAddress former = this.master;
		RedisNode server = this.factories.open(best.master().getHostString(), best.master().getPort(),
				(former != null) ? failovers() + 1 : 0, this::look);
		this.masters.forEach((replaced) -> replace(replaced, server));
		KnownMaster known = new KnownMaster("", server);
		known.markNamed();
		this.masters.add(known);
		this.master = best.master();
		this.topology = Topology.of((slot) -> server);
		if (former != null) {
			logger.warn(
					"Redis at {} is master now, by epoch {} of '{}': connections to {}, the former master, are closed",
					text(best.master()), best.epoch(), this.name, text(former));
		}
	}

	private void replace(KnownMaster former, RedisNode server) {
		if (!former.node().isReplaced()) {
			// Its connections are closed, but batches and calls still return them.
			former.markNamed();
			former.markUnnamed();
		}
		former.node().replacedBy(server);
	}

	/** Closes a former master that was not used for a long time. */
	private boolean retireIfUnused(KnownMaster former) {
		boolean retires = former.isRetirable();
		if (retires) {
			this.factories.close(former.node());
		}
		return retires;
	}

	private void poll() {
		try {
			while (!this.stopped) {
				try {
					look();
				}
				catch (RuntimeException ex) {
					logger.warn("A defect kept the service from polling the Sentinels; it tries again", ex);
				}
				Thread.sleep(POLL_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			// The service stops.
		}
	}

	@Override
	public void stop() {
		this.stopped = true;
		this.poller.interrupt();
		try {
			// A running query needs the threads of Lettuce, which end next.
			this.poller.join(TimeUnit.NANOSECONDS.toMillis(10 * MAX_WAIT_NANOS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.sentinels.forEach(SentinelLink::close);
	}

	/** Stops polling, even if it never started, and closes all connections. */
	@Override
	public void close() {
		stop();
		synchronized (this) {
			this.masters.forEach((server) -> this.factories.close(server.node()));
			this.masters.clear();
		}
	}

	private static String text(InetSocketAddress address) {
		return address.getHostString() + ":" + address.getPort();
	}

}
