package io.pipeset.report;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures the time that a job spends in its phases. Thread-safe.
 */
public final class JobClock {

	private final long started = System.nanoTime();

	/**
	 * The times of all batches in microseconds; {@code null} until the second batch,
	 * because most jobs have only one.
	 */
	private @Nullable IntCountsHistogram histogram;

	private long batches;

	private long lastMicros;

	private long waitNanos;

	private long readNanos;

	private long redisNanos;

	/** The times of the probe's PINGs in microseconds; {@code null} without a probe. */
	private @Nullable IntCountsHistogram latencies;

	private long throttledNanos;

	private int inFlight;

	private long inFlightSince;

	/** Adds a wait for a connection. */
	public synchronized void waited(long nanos) {
		this.waitNanos += nanos;
	}

	/** Adds time spent on reading and parsing. */
	public synchronized void read(long nanos) {
		this.readNanos += nanos;
	}

	public synchronized void beginBatch() {
		if (this.inFlight++ == 0) {
			this.inFlightSince = System.nanoTime();
		}
	}

	public synchronized void endBatch(long nanos) {
		if (--this.inFlight == 0) {
			this.redisNanos += System.nanoTime() - this.inFlightSince;
		}
		long micros = TimeUnit.NANOSECONDS.toMicros(nanos);
		if (this.histogram == null && this.batches > 0) {
			this.histogram = new IntCountsHistogram(2);
			this.histogram.recordValue(this.lastMicros);
		}
		if (this.histogram != null) {
			this.histogram.recordValue(micros);
		}
		this.batches++;
		this.lastMicros = micros;
	}

	/** Adds the time of a PING of the latency probe. */
	public synchronized void probed(long nanos) {
		if (this.latencies == null) {
			this.latencies = new IntCountsHistogram(2);
		}
		this.latencies.recordValue(TimeUnit.NANOSECONDS.toMicros(nanos));
	}

	/** Adds a wait that only {@code maxLatency} has caused. */
	public synchronized void throttled(long nanos) {
		this.throttledNanos += nanos;
	}

	/** What the probe has measured; {@code null} if it has measured nothing. */
	public synchronized @Nullable Latency latency() {
		return (this.latencies == null) ? null : new Latency(this.latencies.getValueAtPercentile(50),
				this.latencies.getValueAtPercentile(99), TimeUnit.NANOSECONDS.toMillis(this.throttledNanos));
	}

	/**
	 * Whether a batch has begun. Before the first one, the job has sent nothing to Redis.
	 */
	public synchronized boolean hasBegunBatch() {
		return this.inFlight > 0 || this.batches > 0;
	}

	/** The time in a phase so far. */
	public synchronized long nanos(Phase phase) {
		return switch (phase) {
			case WAIT -> this.waitNanos;
			case READ -> this.readNanos;
			case REDIS -> this.redisNanos;
		};
	}

	/** The time since the job began. */
	public long totalNanos() {
		return System.nanoTime() - this.started;
	}

	public synchronized Timings timings() {
		return new Timings(millis(totalNanos()), millis(this.waitNanos), millis(this.readNanos),
				millis(this.redisNanos),
				new Timings.Batches(this.batches, percentile(50), percentile(99), percentile(100)));
	}

	private double percentile(double percentile) {
		long micros = (this.histogram != null) ? this.histogram.getValueAtPercentile(percentile) : this.lastMicros;
		return micros / 1000.0;
	}

	private static double millis(long nanos) {
		return Math.round(nanos / 1000.0) / 1000.0;
	}

	/**
	 * What other clients of Redis saw while a job with {@code maxLatency} ran.
	 *
	 * @param p50Micros the median time of the probe's PINGs
	 * @param p99Micros their 99th percentile
	 * @param throttledMillis how long the job has waited for their sake
	 */
	public record Latency(long p50Micros, long p99Micros, long throttledMillis) {

	}

	/** The phases of a job. Phases of different threads overlap. */
	public enum Phase {

		/** Waiting for a connection. */
		WAIT,

		/** Reading and parsing. */
		READ,

		/** At least one batch is in flight. */
		REDIS

	}

}
