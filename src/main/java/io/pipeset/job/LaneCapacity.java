package io.pipeset.job;

import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.StopSignal;

import org.springframework.stereotype.Component;

/**
 * The connections that the lanes of all jobs share, first come first served, and the
 * bytes they have on their way.
 */
@Component
class LaneCapacity {

	private final int connections;

	private final Permits permits;

	private final long maxInFlightBytes;

	private final AtomicLong inFlightBytes = new AtomicLong();

	LaneCapacity(PipelineProperties properties, JobLimits limits, MeterRegistry registry) {
		this.maxInFlightBytes = limits.maxInflightBytes().toBytes();
		this.connections = properties.maxConnections();
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
	 * @return {@code false} where none became free
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

	int waiting() {
		return this.permits.waiting();
	}

	/** Whether all jobs together have as much on its way as they may. */
	boolean isCrowded() {
		return this.inFlightBytes.get() >= this.maxInFlightBytes;
	}

	int connections() {
		return this.connections;
	}

	int busy() {
		return this.permits.taken();
	}

	long inFlightBytes() {
		return this.inFlightBytes.get();
	}

}
