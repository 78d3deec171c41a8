package io.pipeset.job;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.pipeline.PipelineProperties;

import org.springframework.stereotype.Component;

/**
 * The connections that the lanes of all jobs share, first come first served, and the
 * bytes they have on their way.
 */
@Component
class LaneCapacity {

	private final int connections;

	private final Semaphore free;

	private final long maxInFlightBytes;

	private final AtomicLong inFlightBytes = new AtomicLong();

	LaneCapacity(PipelineProperties properties, JobLimits limits, MeterRegistry registry) {
		this.maxInFlightBytes = limits.maxInflightBytes().toBytes();
		this.connections = properties.maxConnections();
		this.free = new Semaphore(this.connections, true);
		Gauge.builder("pipeset.lanes.busy", this, LaneCapacity::busy)
			.description("Lanes that hold a connection")
			.register(registry);
		Gauge.builder("pipeset.inflight.bytes", this.inFlightBytes, AtomicLong::get)
			.description("Bytes of slabs of commands between their hand-over and their last reply")
			.baseUnit("bytes")
			.register(registry);
	}

	boolean acquire(long timeoutNanos) throws InterruptedException {
		return this.free.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS);
	}

	boolean tryAcquire() {
		try {
			// With a time-out, if of nothing: it does not jump the queue.
			return this.free.tryAcquire(0, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	void release() {
		this.free.release();
	}

	void inFlight(int bytes) {
		this.inFlightBytes.addAndGet(bytes);
	}

	int waiting() {
		return this.free.getQueueLength();
	}

	/** Whether all jobs together have as much on its way as they may. */
	boolean isCrowded() {
		return this.inFlightBytes.get() >= this.maxInFlightBytes;
	}

	int connections() {
		return this.connections;
	}

	int busy() {
		return this.connections - this.free.availablePermits();
	}

	long inFlightBytes() {
		return this.inFlightBytes.get();
	}

}
