package io.pipeset.lane;

import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.pipeline.StopSignal;

/**
 * The connections that the lanes of all jobs share, first come first served, and the
 * bytes they have on their way.
 */
public class LaneCapacity {

	private final int connections;

	private final Permits permits;

	private final long maxInFlightBytes;

	private final AtomicLong inFlightBytes = new AtomicLong();

	/**
	 * Shares connections out.
	 * @param connections how many all jobs together may hold
	 * @param maxInFlightBytes the bytes that they may have on their way before readers
	 * wait; two writes a lane are always allowed
	 * @param registry where both are metered
	 */
	public LaneCapacity(int connections, long maxInFlightBytes, MeterRegistry registry) {
		this.connections = connections;
		this.maxInFlightBytes = maxInFlightBytes;
		this.permits = new Permits(this.connections);
		Gauge.builder("pipeset.lanes.busy", this, LaneCapacity::busy)
			.description("Lanes that hold a connection")
			.register(registry);
		Gauge.builder("pipeset.inflight.bytes", this.inFlightBytes, AtomicLong::get)
			.description("Bytes of slabs of commands between their hand-over and their last reply")
			.baseUnit("bytes")
			.register(registry);
	}

	/**
	 * Waits for a connection.
	 * @param timeoutNanos how long
	 * @param stop ends the wait
	 * @return {@code false} if none became free
	 * @throws InterruptedException if the thread is interrupted while it waits
	 */
	boolean acquire(long timeoutNanos, StopSignal stop) throws InterruptedException {
		return this.permits.acquire(timeoutNanos, stop);
	}

	boolean tryAcquire() {
		return this.permits.tryAcquire();
	}

	void release() {
		this.permits.release();
	}

	void inFlight(long bytes) {
		this.inFlightBytes.addAndGet(bytes);
	}

	/**
	 * The jobs that wait for a connection.
	 * @return how many
	 */
	public int waiting() {
		return this.permits.waiting();
	}

	/** Whether all jobs together have as many bytes on their way as they may. */
	boolean isCrowded() {
		return this.inFlightBytes.get() >= this.maxInFlightBytes;
	}

	/**
	 * The connections that all jobs together may hold.
	 * @return how many
	 */
	public int connections() {
		return this.connections;
	}

	/**
	 * The connections that are held.
	 * @return how many
	 */
	public int busy() {
		return this.permits.taken();
	}

	/**
	 * The bytes of commands that are on their way.
	 * @return how many
	 */
	public long inFlightBytes() {
		return this.inFlightBytes.get();
	}

}
