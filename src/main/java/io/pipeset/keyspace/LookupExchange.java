package io.pipeset.keyspace;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.SilenceWatch;
import io.pipeset.engine.slab.lookup.Lookup;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The lookups in flight on one connection. The connection's thread only queues events;
 * the job's thread runs them in {@link #await}. The exchange ends if the connection is
 * lost or if no reply arrives within the timeout.
 */
final class LookupExchange implements AutoCloseable {

	/** How long to wait for replies after the job was stopped. */
	private static final long NANOS_AFTER_STOP = TimeUnit.SECONDS.toNanos(1);

	private final Pipeline pipeline;

	private final Duration timeout;

	private final JobStop stop;

	private final LinkedBlockingQueue<Runnable> events = new LinkedBlockingQueue<>();

	private final Runnable wake = this::wakeUp;

	private int inFlight;

	private final SilenceWatch silence;

	private @Nullable String loss;

	/**
	 * Creates an exchange without lookups.
	 * @param timeout how long to wait for a reply before the connection counts as lost
	 * @param closeTimeout how long closing the connection may take
	 * @param stop wakes the waiting thread and shortens its wait
	 */
	LookupExchange(Pipeline pipeline, Duration timeout, Duration closeTimeout, JobStop stop) {
		this.pipeline = pipeline;
		this.timeout = timeout;
		this.silence = new SilenceWatch(pipeline, timeout, closeTimeout);
		this.stop = stop;
		stop.add(this.wake);
	}

	private void wakeUp() {
		post(LookupExchange::doNothing);
	}

	static void doNothing() {
	}

	/** Queues an event for the job's thread. Any thread may call this. */
	void post(Runnable event) {
		this.events.add(event);
	}

	/**
	 * Sends a lookup.
	 * @param whenAnswered runs in the job's thread after all replies of the lookup
	 */
	void send(Lookup lookup, Runnable whenAnswered) {
		if (this.inFlight++ == 0) {
			this.silence.restart();
		}
		this.pipeline.send(lookup, () -> post(() -> onAnswered(lookup, whenAnswered)));
	}

	private void onAnswered(Lookup lookup, Runnable whenAnswered) {
		this.inFlight--;
		this.silence.restart();
		if (this.loss == null && lookup.isAnswered()) {
			whenAnswered.run();
		}
		else if (this.loss == null) {
			String cause = this.pipeline.failure();
			this.loss = "The connection to Redis was lost" + ((cause != null) ? ": " + cause : "");
		}
	}

	/**
	 * Waits for an event and runs it.
	 * @return {@code false} if there is no event and nothing is in flight
	 */
	boolean await() {
		Runnable event = this.events.poll();
		while (event == null) {
			if (this.inFlight == 0) {
				return false;
			}
			long nanosLeft = nanosLeft();
			if (nanosLeft <= 0 && !abandon()) {
				return false;
			}
			event = poll(Math.max(1, nanosLeft));
		}
		event.run();
		return true;
	}

	private @Nullable Runnable poll(long nanos) {
		try {
			return this.events.poll(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			this.stop.stop(Cause.CANCELLED, "The thread of the job was interrupted");
			this.loss = "The thread of the job was interrupted";
			this.pipeline.abandon();
			this.inFlight = 0;
			return LookupExchange::doNothing;
		}
	}

	private long nanosLeft() {
		return this.silence.leftNanos((this.stop.isSet()) ? NANOS_AFTER_STOP : Long.MAX_VALUE);
	}

	/** Closes the connection; returns {@code false} if that was tried before. */
	private boolean abandon() {
		if (!this.silence.abandon()) {
			this.stop.stop(Cause.REDIS_LOST, "A connection that was closed after a timeout did not end");
			return false;
		}
		this.loss = "Redis sent no reply for " + DurationText.of(this.timeout) + ", the timeout of the analysis";
		return true;
	}

	Pipeline pipeline() {
		return this.pipeline;
	}

	/** How many lookups are in flight. */
	int inFlight() {
		return this.inFlight;
	}

	/**
	 * Why the connection was lost.
	 * @return a sentence without its full stop; {@code null} if the connection was not
	 * lost
	 */
	@Nullable String loss() {
		return this.loss;
	}

	/**
	 * Ends the exchange, and discards the connection if it was lost or has lookups in
	 * flight.
	 */
	@Override
	public void close() {
		this.stop.remove(this.wake);
		if (this.loss != null || this.inFlight > 0) {
			this.pipeline.abandon();
		}
	}

}
