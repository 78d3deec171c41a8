package io.pipeset.run;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.report.JobClock;

/**
 * The rate limit of a job by {@code maxLatency}, which changes four times a second. It
 * falls by a third if more than a tenth of the last second's PINGs took longer than that.
 * If not, and if the limit is what slows the job, it rises by a fiftieth of the fastest
 * rate so far, and after each second of rises by twice as much; before the first fall, it
 * doubles. It is never lower than a hundredth of the fastest rate.
 */
final class LatencyRateLimit implements AutoCloseable {

	private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long DECISION_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	private static final int RISES_OF_EQUAL_SIZE = 4;

	private static final int MAX_DOUBLINGS = 10;

	/** Records a second before the first decision. */
	private static final long FIRST_LIMIT = 1000;

	private final long maxNanos;

	private final Supplier<List<RedisNode>> servers;

	private final JobClock clock;

	private final LongSupplier sent;

	private final LongSupplier nanoTime;

	private final LongConsumer listener = this::measured;

	/** The PINGs of the last second, since the limit has fallen. */
	private final Deque<Ping> window = new ArrayDeque<>();

	private List<RedisNode> probed = List.of();

	private long decidedNanos;

	private long decidedSent;

	private boolean closed;

	private boolean warm;

	private boolean fell;

	/** How often the limit has risen since it fell. */
	private int rises;

	private double fastest;

	/** Read for every record. */
	private volatile long perSecond = FIRST_LIMIT;

	/**
	 * Creates the limit. The probes are started by {@link #open}.
	 * @param servers the servers that the job may write to now
	 * @param sent how many records the job has sent so far
	 * @param nanoTime the current time in nanoseconds
	 */
	LatencyRateLimit(Duration maxLatency, Supplier<List<RedisNode>> servers, JobClock clock, LongSupplier sent,
			LongSupplier nanoTime) {
		this.maxNanos = maxLatency.toNanos();
		this.servers = servers;
		this.clock = clock;
		this.sent = sent;
		this.nanoTime = nanoTime;
		this.decidedNanos = nanoTime.getAsLong();
	}

	/** The current limit in records per second, 1 or more. */
	long perSecond() {
		return this.perSecond;
	}

	/** Listens to the probes of the servers that are known now. */
	synchronized void open() {
		List<RedisNode> current = (this.closed) ? List.of() : this.servers.get();
		if (!current.equals(this.probed)) {
			stopListening();
			current.forEach((server) -> server.latency().add(this.listener));
			this.probed = current;
		}
	}

	/** A probe may still call {@link #measured} after this, which changes nothing. */
	@Override
	public synchronized void close() {
		this.closed = true;
		stopListening();
	}

	private void stopListening() {
		this.probed.forEach((server) -> server.latency().remove(this.listener));
		this.probed = List.of();
	}

	/** Takes the time of a PING, and changes the limit if it is time for that. */
	synchronized void measured(long nanos) {
		this.clock.probed(nanos);
		long now = this.nanoTime.getAsLong();
		this.window.add(new Ping(now, nanos));
		while (now - this.window.element().atNanos > WINDOW_NANOS) {
			this.window.remove();
		}
		if (now - this.decidedNanos >= DECISION_NANOS) {
			decide(now);
		}
	}

	private void decide(long now) {
		open();
		long sent = this.sent.getAsLong();
		double rate = (sent - this.decidedSent) * 1e9 / (now - this.decidedNanos);
		this.decidedSent = sent;
		this.decidedNanos = now;
		this.fastest = Math.max(this.fastest, rate);
		if (!this.warm) {
			// The first PINGs opened the connection.
			this.warm = true;
			this.window.clear();
			return;
		}
		long limit = this.perSecond;
		if (ninetiethPercentile() > this.maxNanos) {
			this.fell = true;
			this.rises = 0;
			this.window.clear();
			limit = (long) (Math.min((double) limit, rate) * 2 / 3);
		}
		else if (rate > 0.8 * (double) limit) {
			limit += (this.fell) ? step() : limit;
		}
		this.perSecond = Math.max(limit, (long) Math.ceil(Math.max(1, this.fastest / 100)));
	}

	private long step() {
		double factor = Math.pow(2, Math.min(MAX_DOUBLINGS, this.rises++ / RISES_OF_EQUAL_SIZE));
		return (long) Math.ceil(this.fastest * factor / 50);
	}

	private long ninetiethPercentile() {
		long[] nanos = this.window.stream().mapToLong(Ping::nanos).sorted().toArray();
		return nanos[Math.max(0, (int) Math.ceil(nanos.length * 0.9) - 1)];
	}

	/**
	 * An answered PING.
	 *
	 * @param atNanos when the answer came
	 * @param nanos how long it took
	 */
	private record Ping(long atNanos, long nanos) {

	}

}
