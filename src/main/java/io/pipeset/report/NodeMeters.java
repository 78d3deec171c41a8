package io.pipeset.report;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** The meters of one server of Redis, which its batches write. */
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
			.description("Connections to a server that were lost under a batch, or given up after a timeout")
			.tag("node", node)
			.register(registry);
		this.redirections = Counter.builder("pipeset.node.redirections")
			.description("Batches of a server after which commands were sent again, as it had redirected them")
			.tag("node", node)
			.withRegistry(registry);
	}

	/** A batch has got a connection. */
	public void connected() {
		this.connections.incrementAndGet();
	}

	/** A batch gives its connection back, or has lost it. */
	public void disconnected() {
		this.connections.decrementAndGet();
	}

	/**
	 * A batch has ended.
	 * @param nanos from its first write to its last reply
	 */
	public void batch(long nanos, boolean lost) {
		this.batches.record(nanos, TimeUnit.NANOSECONDS);
		if (lost) {
			this.losses.increment();
		}
	}

	/**
	 * A batch had commands that the server redirected.
	 * @param kind the kind of redirection, one of a few words
	 */
	public void redirected(String kind) {
		this.redirections.withTag("kind", kind).increment();
	}

}
