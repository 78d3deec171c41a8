package io.pipeset.report;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** The meters of one Redis server, which its batches update. */
public final class NodeMeters {

	private final AtomicInteger connections = new AtomicInteger();

	private final Timer batches;

	private final Counter losses;

	private final MeterProvider<Counter> redirections;

	NodeMeters(MeterRegistry registry, String node) {
		Gauge.builder("pipeset.node.connections", this.connections, AtomicInteger::get)
			.description("Connections to a server that batches hold")
			.tag("node", node)
			.register(registry);
		this.batches = Timer.builder("pipeset.node.batch")
			.description("A batch of a server, from its first write to its last reply")
			.tag("node", node)
			.register(registry);
		this.losses = Counter.builder("pipeset.node.losses")
			.description("Connections to a server that a batch lost, or closed after a timeout")
			.tag("node", node)
			.register(registry);
		this.redirections = Counter.builder("pipeset.node.redirections")
			.description("Batches of a server whose redirected commands were sent again")
			.tag("node", node)
			.withRegistry(registry);
	}

	/** Notes that a batch has acquired a connection. */
	public void connected() {
		this.connections.incrementAndGet();
	}

	/** Notes that a batch has returned or lost its connection. */
	public void disconnected() {
		this.connections.decrementAndGet();
	}

	/**
	 * Records a batch.
	 * @param nanos the time from its first write to its last reply
	 * @param lost whether its connection was lost
	 */
	public void batch(long nanos, boolean lost) {
		this.batches.record(nanos, TimeUnit.NANOSECONDS);
		if (lost) {
			this.losses.increment();
		}
	}

	/**
	 * Counts a batch with redirected commands.
	 * @param kind the kind of redirection, from a bounded set
	 */
	public void redirected(String kind) {
		this.redirections.withTag("kind", kind).increment();
	}

}
