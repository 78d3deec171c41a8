package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long other clients wait for a server: sends PING every 20 ms on a
 * connection of its own while jobs listen. All jobs share the probe.
 */
public final class LatencyProbe {

	private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** Backoff after a lost connection. */
	private static final long BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private final ConnectionLender lender;

	private final Duration replyTimeout;

	private final List<LongConsumer> listeners = new CopyOnWriteArrayList<>();

	/** The thread that sends; {@code null} without listeners. */
	private @Nullable Thread worker;

	private boolean closed;

	/**
	 * Measures a server.
	 * @param replyTimeout how long to wait for a reply before another connection is tried
	 */
	LatencyProbe(ConnectionLender lender, Duration replyTimeout) {
		this.lender = lender;
		this.replyTimeout = replyTimeout;
	}

	/**
	 * Adds a listener. The first one starts the probe.
	 * @param listener called with the time of each PING in nanoseconds, from the thread
	 * of the probe; it must not block or throw
	 */
	public synchronized void add(LongConsumer listener) {
		this.listeners.add(listener);
		if (this.worker == null && !this.closed) {
			Thread worker = new Thread(this::work, "probe-" + this.lender.address());
			worker.setDaemon(true);
			this.worker = worker;
			worker.start();
		}
	}

	/** Removes a listener. The probe ends with the last one. */
	public synchronized void remove(LongConsumer listener) {
		this.listeners.remove(listener);
		notifyAll();
	}

	private void work() {
		while (isNeeded()) {
			long begunNanos = System.nanoTime();
			try {
				this.lender.callMaster(this.replyTimeout, this::sendPings);
			}
			catch (RuntimeException ex) {
				// A server that does not answer is slow. Later jobs need the thread too.
				measured(System.nanoTime() - begunNanos);
				pause(BACKOFF_NANOS);
			}
		}
	}

	/**
	 * Sends PINGs on one connection, until it is lost or the last listener is removed.
	 */
	private boolean sendPings(CallConnection connection) {
		while (!this.listeners.isEmpty()) {
			long begunNanos = System.nanoTime();
			connection.call(RedisAsyncCommands::ping);
			long nanos = System.nanoTime() - begunNanos;
			measured(nanos);
			pause(PERIOD_NANOS - nanos);
		}
		return true;
	}

	private void measured(long nanos) {
		this.listeners.forEach((listener) -> listener.accept(nanos));
	}

	/** Whether the thread must go on. If not, a later job starts another one. */
	private synchronized boolean isNeeded() {
		if (this.listeners.isEmpty() || this.closed) {
			this.worker = null;
			return false;
		}
		return true;
	}

	/** Waits, unless the last listener is removed meanwhile. */
	private synchronized void pause(long nanos) {
		try {
			if (nanos > 0 && !this.listeners.isEmpty()) {
				TimeUnit.NANOSECONDS.timedWait(this, nanos);
			}
		}
		catch (InterruptedException ex) {
			// The node is closed.
			this.closed = true;
			this.listeners.clear();
		}
	}

	/** Ends the probe, because its server's connections are closed. */
	synchronized void close() {
		this.closed = true;
		this.listeners.clear();
		notifyAll();
	}

}
