package io.pipeset.engine.lane;

import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * The bytes of commands that all lanes of all jobs have in flight. They occupy memory of
 * this service, whichever server they go to.
 */
public class InFlightBytes {

	private final long limit;

	private final AtomicLong bytes = new AtomicLong();

	/**
	 * Starts with nothing in flight.
	 * @param limit the bytes that may be in flight before readers wait; each lane may
	 * always have two slabs in flight
	 */
	public InFlightBytes(long limit, MeterRegistry registry) {
		this.limit = limit;
		Gauge.builder("pipeset.inflight.bytes", this.bytes, AtomicLong::get)
			.description("Bytes of commands that were handed over to Lettuce and are not all answered yet")
			.baseUnit("bytes")
			.register(registry);
	}

	void add(long delta) {
		this.bytes.addAndGet(delta);
	}

	/** The bytes in flight. */
	public long now() {
		return this.bytes.get();
	}

	/** The bytes that may be in flight before readers wait. */
	public long most() {
		return this.limit;
	}

	/** Whether the limit is reached. */
	boolean isFull() {
		return this.bytes.get() >= this.limit;
	}

}
