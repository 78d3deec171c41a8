package io.pipeset.pipeline.boot;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.pipeset.pipeline.MasterWatch;
import io.pipeset.pipeline.boot.SentinelLink.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks all Sentinels which server is master, several times a second and before each
 * batch. The answer of the highest epoch counts, as a Sentinel may not have heard of a
 * failover yet.
 */
final class SentinelWatch implements MasterWatch, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SentinelWatch.class);

	private static final long PAUSE_MILLIS = 150;

	/**
	 * How long a look waits for a Sentinel; one that is later is not waited for again.
	 */
	private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final String name;

	private final List<SentinelLink> sentinels;

	private final MasterChannels channels;

	private final Thread worker = new Thread(this::work, "sentinel-watch");

	private volatile @Nullable InetSocketAddress master;

	private volatile int switches;

	private volatile boolean closed;

	SentinelWatch(String name, List<SentinelLink> sentinels, MasterChannels channels) {
		this.name = name;
		this.sentinels = sentinels;
		this.channels = channels;
	}

	void start() {
		this.worker.setDaemon(true);
		this.worker.start();
	}

	@Override
	public String address() {
		InetSocketAddress known = this.master;
		return (known != null) ? text(known) : "the master '" + this.name + "', which no Sentinel has named yet";
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
		if (best == null || Objects.equals(best.master(), this.master)) {
			return;
		}
		InetSocketAddress former = this.master;
		this.master = best.master();
		if (former != null) {
			this.switches++;
			logger.warn("Redis at {} is master now, by epoch {} of '{}': connections to {}, the former one, are closed",
					text(best.master()), best.epoch(), this.name, text(former));
			this.channels.replace(best.master(), former);
		}
	}

	private void work() {
		try {
			while (!this.closed) {
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
	public void close() {
		this.closed = true;
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

	private static String text(InetSocketAddress address) {
		return address.getHostString() + ":" + address.getPort();
	}

}
