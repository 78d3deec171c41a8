package io.pipeset.servers;

import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.pipeset.pipeline.call.MasterWatch;
import io.pipeset.servers.SentinelLink.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Asks all Sentinels which server is master, several times a second and before each
 * batch. The answer of the highest epoch counts, as a Sentinel may not have heard of a
 * failover yet.
 */
public final class SentinelWatch implements MasterWatch, SmartLifecycle, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SentinelWatch.class);

	private static final long PAUSE_MILLIS = 150;

	/**
	 * How long a look waits for a Sentinel; one that is later is not waited for again.
	 */
	private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final String name;

	private final List<SentinelLink> sentinels;

	private final MasterChannels channels;

	private Thread worker = new Thread(this::work, "sentinel-watch");

	/** Former masters that a Sentinel still names, as it has missed a failover. */
	private final Set<InetSocketAddress> left = new HashSet<>();

	private volatile @Nullable InetSocketAddress master;

	private volatile int switches;

	private volatile boolean ended;

	public SentinelWatch(String name, List<SentinelLink> sentinels, MasterChannels channels) {
		this.name = name;
		this.sentinels = sentinels;
		this.channels = channels;
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
	public String address() {
		InetSocketAddress known = this.master;
		return (known != null) ? text(known) : "the master '" + this.name + "', which no Sentinel has named yet";
	}

	@Override
	public boolean isKnown() {
		return this.master != null;
	}

	@Override
	public int switches() {
		return this.switches;
	}

	@Override
	public boolean isFollowing() {
		return true;
	}

	@Override
	public void look() {
		if (this.ended) {
			return;
		}
		CompletableFuture<?>[] answers = this.sentinels.stream()
			.map((sentinel) -> sentinel.ask(PATIENCE_NANOS))
			.toArray(CompletableFuture<?>[]::new);
		try {
			CompletableFuture.allOf(answers).get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException | ExecutionException ex) {
			// The others have answered.
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		decide();
	}

	private synchronized void decide() {
		Answer best = null;
		for (SentinelLink sentinel : this.sentinels) {
			Answer answer = sentinel.last();
			boolean newer = answer != null && (best == null || answer.epoch() > best.epoch()
					|| (answer.epoch() == best.epoch() && answer.master().equals(this.master)));
			best = (newer) ? answer : best;
		}
		if (best == null) {
			return;
		}
		this.left.remove(best.master());
		leaveStale(best);
		InetSocketAddress former = this.master;
		this.master = best.master();
		if (former != null && !former.equals(best.master())) {
			this.channels.replace(best.master(), former);
			// From here on a connection is one to the new master, and counts as such.
			this.switches++;
			logger.warn("Redis at {} is master now, by epoch {} of '{}': connections to {}, the former one, are closed",
					text(best.master()), best.epoch(), this.name, text(former));
		}
	}

	/**
	 * Keeps connections away from former masters. A Sentinel that has missed a failover
	 * still names one, and Lettuce may ask just this Sentinel where to connect to.
	 */
	private void leaveStale(Answer best) {
		for (SentinelLink sentinel : this.sentinels) {
			Answer answer = sentinel.last();
			if (answer != null && answer.epoch() < best.epoch() && !answer.master().equals(best.master())
					&& this.left.add(answer.master())) {
				this.channels.replace(best.master(), answer.master());
			}
		}
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

	/** Ends the watch of a service that never began. */
	@Override
	public void close() {
		stop();
	}

	private static String text(InetSocketAddress address) {
		return address.getHostString() + ":" + address.getPort();
	}

}
