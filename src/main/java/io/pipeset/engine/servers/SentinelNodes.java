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
 * The master that Sentinels name. All of them are asked, several times a second and
 * before each use of a connection. The answer of the highest epoch counts, as a Sentinel
 * may not have heard of a failover yet. A failover is another {@link Topology} with
 * another server in it.
 */
public final class SentinelNodes implements RedisNodes, SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(SentinelNodes.class);

	private static final long PAUSE_MILLIS = 150;

	/**
	 * How long a look waits for a Sentinel; one that is later is not waited for again.
	 */
	private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final String name;

	private final List<SentinelLink> sentinels;

	private final NodeFactories factories;

	/** How long to wait for an answer while no master is known. */
	private final Duration patience;

	private Thread worker = new Thread(this::work, "sentinel-watch");

	/** The master, and former ones whose connections may still be given back. */
	private final List<Master> masters = new ArrayList<>();

	private volatile @Nullable InetSocketAddress master;

	private volatile @Nullable Topology now;

	private volatile boolean ended;

	/**
	 * The master of a name, which nobody is asked for yet.
	 * @param name the name by which the Sentinels know the master
	 * @param factory a factory for Sentinel, of which only the settings are used
	 * @param patience how long to wait for an answer while no master is known
	 */
	public SentinelNodes(String name, List<SentinelLink> sentinels, LettuceConnectionFactory factory,
			PipelineProperties properties, Duration patience) {
		this.name = name;
		this.sentinels = sentinels;
		this.factories = new NodeFactories(factory, properties);
		this.patience = patience;
	}

	@Override
	public void start() {
		this.ended = false;
		this.worker = new Thread(this::work, "sentinel-watch");
		this.worker.setDaemon(true);
		this.worker.start();
	}

	/** The watch ends before its client does, which the connection factory ends. */
	@Override
	public int getPhase() {
		return 1;
	}

	@Override
	public boolean isRunning() {
		return this.worker.isAlive();
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
		Topology known = this.now;
		if (known == null) {
			look();
			known = this.now;
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
		Topology known = this.now;
		RedisNode server = (known != null) ? known.only() : null;
		return (server != null) ? List.of(server) : List.of();
	}

	@Override
	public int failovers() {
		return named().stream().mapToInt(RedisNode::failovers).sum();
	}

	@Override
	public void look() {
		long begun = System.nanoTime();
		long most = (this.now != null) ? PATIENCE_NANOS : this.patience.toNanos();
		boolean answered = false;
		while (!this.ended && !answered) {
			CompletableFuture<?> answers = CompletableFuture.allOf(
					this.sentinels.stream().map((sentinel) -> sentinel.ask(most)).toArray(CompletableFuture<?>[]::new));
			try {
				answers.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException | ExecutionException ex) {
				// The others have answered.
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			decide();
			answered = this.now != null || answers.isDone() || Thread.currentThread().isInterrupted()
					|| System.nanoTime() - begun > most;
		}
	}

	private synchronized void decide() {
		Answer best = null;
		for (SentinelLink sentinel : this.sentinels) {
			Answer answer = sentinel.last();
			boolean newer = answer != null && (best == null || answer.epoch() > best.epoch()
					|| (answer.epoch() == best.epoch() && answer.master().equals(this.master)));
			best = (newer) ? answer : best;
		}
		if (best != null && !best.master().equals(this.master) && !this.ended) {
			enter(best);
		}
	}

	/** Another server is master. */
	private void enter(Answer best) {
		this.masters.removeIf(this::ends);
		InetSocketAddress former = this.master;
		RedisNode server = this.factories.open(best.master().getHostString(), best.master().getPort(),
				(former != null) ? failovers() + 1 : 0, this::look);
		this.masters.forEach((replaced) -> replace(replaced, server));
		Master entered = new Master("", server);
		entered.name();
		this.masters.add(entered);
		this.master = best.master();
		this.now = Topology.of((slot) -> server);
		if (former != null) {
			logger.warn("Redis at {} is master now, by epoch {} of '{}': connections to {}, the former one, are closed",
					text(best.master()), best.epoch(), this.name, text(former));
		}
	}

	private void replace(Master former, RedisNode server) {
		if (!former.node().isReplaced()) {
			// Its connections are closed, but batches and calls still give them back.
			former.name();
			former.forget();
		}
		former.node().replacedBy(server);
	}

	/** Gives up a former master that nobody has used for long. */
	private boolean ends(Master former) {
		boolean ends = former.isLongGone();
		if (ends) {
			this.factories.close(former.node());
		}
		return ends;
	}

	private void work() {
		try {
			while (!this.ended) {
				try {
					look();
				}
				catch (RuntimeException ex) {
					logger.warn("The Sentinels could not be asked by a defect; they are asked again", ex);
				}
				Thread.sleep(PAUSE_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			// The service ends.
		}
	}

	@Override
	public void stop() {
		this.ended = true;
		this.worker.interrupt();
		try {
			// Whatever it still asks needs the threads of the driver, which end next.
			this.worker.join(TimeUnit.NANOSECONDS.toMillis(10 * PATIENCE_NANOS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.sentinels.forEach(SentinelLink::close);
	}

	/** Ends the watch, also of a service that never began, and all connections. */
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
