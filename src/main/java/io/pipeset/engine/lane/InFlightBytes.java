package io.pipeset.engine.lane;

import java.util.concurrent.atomic.AtomicLong;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * The bytes of commands that the lanes of all jobs have on their way, to whichever server
 * they go: they are in this service's memory.
 */
public class InFlightBytes {

	private final long most;

	private final AtomicLong bytes = new AtomicLong();

	/**
	 * Begins with nothing on its way.
	 * @param most the bytes that may be on their way before readers wait; two writes a
	 * lane are always allowed
	 */
	public InFlightBytes(long most, MeterRegistry registry) {
		this.most = most;
		Gauge.builder("pipeset.inflight.bytes", this.bytes, AtomicLong::get)
			.description("Bytes of slabs of commands between their hand-over and their last reply")
			.baseUnit("bytes")
			.register(registry);
	}

	void add(long more) {
		this.bytes.addAndGet(more);
	}

	/** The bytes of commands that are on their way. */
	public long now() {
		return this.bytes.get();
	}

	/** The bytes that may be on their way before readers wait. */
	public long most() {
		return this.most;
	}

	/** Whether as many bytes are on their way as may be. */
	boolean isFull() {
		return this.bytes.get() >= this.most;
	}

}
