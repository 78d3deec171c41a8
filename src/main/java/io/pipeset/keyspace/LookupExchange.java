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
 * The lookups that are on their way on one connection. The connection's thread only
 * brings events, which the thread of the job runs in {@link #await}. A connection that is
 * lost, or on which Redis is silent for too long, ends the conversation.
 */
final class LookupExchange implements AutoCloseable {

	/** How long answers are waited for once the job is stopped. */
	private static final long NANOS_AFTER_STOP = TimeUnit.SECONDS.toNanos(1);

	private final Pipeline pipeline;

	private final Duration timeout;

	private final JobStop stop;

	private final LinkedBlockingQueue<Runnable> events = new LinkedBlockingQueue<>();

	private final Runnable wake = this::wakeUp;

	private int onTheirWay;

	private final SilenceWatch silence;

	private @Nullable String loss;

	/**
	 * A conversation in which nothing is on its way.
	 * @param timeout the longest silence of Redis
	 * @param closing the longest that closing a connection may take
	 * @param stop wakes the thread that waits, and shortens its wait
	 */
	LookupExchange(Pipeline pipeline, Duration timeout, Duration closing, JobStop stop) {
		this.pipeline = pipeline;
		this.timeout = timeout;
		this.silence = new SilenceWatch(pipeline, timeout, closing);
		this.stop = stop;
		stop.add(this.wake);
	}

	private void wakeUp() {
		post(LookupExchange::doNothing);
	}

	static void doNothing() {
	}

	/** Has the job's thread run something; for any thread. */
	void post(Runnable event) {
		this.events.add(event);
	}

	/**
	 * Sends a lookup.
	 * @param whenAnswered is run by the job's thread when all of them are answered
	 */
	void send(Lookup lookup, Runnable whenAnswered) {
		if (this.onTheirWay++ == 0) {
			this.silence.restart();
		}
		this.pipeline.send(lookup, () -> post(() -> onAnswered(lookup, whenAnswered)));
	}

	private void onAnswered(Lookup lookup, Runnable whenAnswered) {
		this.onTheirWay--;
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
	 * Waits for an event, and runs it.
	 * @return {@code false} if there is none, and nothing is on its way
	 */
	boolean await() {
		Runnable event = this.events.poll();
		while (event == null) {
			if (this.onTheirWay == 0) {
				return false;
			}
			long patience = patience();
			if (patience <= 0 && !abandon()) {
				return false;
			}
			event = poll(Math.max(1, patience));
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
			this.stop.because(Cause.CANCELLED, "The thread of the job was interrupted");
			this.loss = "The thread of the job was interrupted";
			this.pipeline.abandon();
			this.onTheirWay = 0;
			return LookupExchange::doNothing;
		}
	}

	private long patience() {
		return this.silence.leftNanos((this.stop.isSet()) ? NANOS_AFTER_STOP : Long.MAX_VALUE);
	}

	/** Closes the connection; {@code false} if that was tried before. */
	private boolean abandon() {
		if (!this.silence.abandon()) {
			this.stop.because(Cause.REDIS_LOST, "A connection that was closed after a timeout did not end");
			return false;
		}
		this.loss = "Redis was silent for " + DurationText.of(this.timeout) + ", the timeout of the analysis";
		return true;
	}

	Pipeline pipeline() {
		return this.pipeline;
	}

	/** How many lookups are on their way. */
	int onTheirWay() {
		return this.onTheirWay;
	}

	/**
	 * Why the connection was lost.
	 * @return a sentence without its full stop, or {@code null} if it was not
	 */
	@Nullable String loss() {
		return this.loss;
	}

	/** Ends the conversation, and with it a connection that was lost. */
	@Override
	public void close() {
		this.stop.remove(this.wake);
		if (this.loss != null || this.onTheirWay > 0) {
			this.pipeline.abandon();
		}
	}

}
