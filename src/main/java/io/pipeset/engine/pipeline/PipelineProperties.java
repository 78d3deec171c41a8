package io.pipeset.engine.pipeline;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The connections of jobs, and the limits of commands in flight.
 *
 * @param maxConnections the maximum number of connections to one server that all jobs
 * hold together, 1 to 1,000; the first batches of jobs may hold an eighth more, rounded
 * down
 * @param windowCommands the maximum number of unanswered commands of a lane, 1 to
 * 10,000,000; two writes are always allowed. Lanes to several masters divide it
 * @param windowBytes the maximum size of unanswered commands of a lane, 64KB to 1GB; two
 * writes are always allowed. Lanes to several masters divide it
 * @param connectTimeout the maximum time for opening a connection, for its handshake, and
 * for a wait for the pool, 1 ms to 1 hour; {@code spring.data.redis.connect-timeout} and
 * {@code spring.data.redis.timeout} win if they are set
 * @param memoryWarnings whether to query the memory of servers while jobs run, so that
 * reports can warn of evictions and of a server that is nearly full
 */
@ConfigurationProperties("pipeset.pipeline")
public record PipelineProperties(@DefaultValue("16") int maxConnections, @DefaultValue("100000") int windowCommands,
		@DefaultValue("8MB") DataSize windowBytes, @DefaultValue("5s") Duration connectTimeout,
		@DefaultValue("true") boolean memoryWarnings) {

	/**
	 * The number of connections that jobs never use, so that health checks, fences,
	 * receipts and the latency probe never wait for a job.
	 */
	static final int RESERVE = 5;

	private static final int MIN_WINDOW_BYTES = 64 << 10;

	public PipelineProperties {
		check("max-connections", maxConnections, 1, 1_000);
		check("window-commands", windowCommands, 1, 10_000_000);
		check("window-bytes", windowBytes.toBytes(), MIN_WINDOW_BYTES, 1 << 30);
		check("connect-timeout (milliseconds)", connectTimeout.toMillis(), 1, 3_600_000);
	}

	/**
	 * The maximum number of connections in the pool.
	 * @return the connections of jobs, and the reserve
	 */
	public int pooledConnections() {
		return this.maxConnections + firstConnections() + RESERVE;
	}

	/**
	 * The number of additional connections for the first batches of jobs, for use when
	 * all others are taken.
	 * @return an eighth of {@code maxConnections}
	 */
	int firstConnections() {
		return this.maxConnections / 8;
	}

	/**
	 * Whether half of a lane's window is used. The other half can then be filled while
	 * this half is settled.
	 */
	public boolean isHalf(int commands, long bytes) {
		return commands >= (this.windowCommands + 1) / 2 || bytes >= this.windowBytes.toBytes() / 2;
	}

	/**
	 * The window of each lane if a job's lanes go to several masters. The lanes divide
	 * the window, so that a job's memory does not grow with the cluster.
	 */
	public PipelineProperties dividedBy(int masters) {
		return new PipelineProperties(this.maxConnections, Math.max(1, this.windowCommands / masters),
				DataSize.ofBytes(Math.max(MIN_WINDOW_BYTES, this.windowBytes.toBytes() / masters)), this.connectTimeout,
				this.memoryWarnings);
	}

	private static void check(String property, long value, long min, long max) {
		if (value < min || value > max) {
			throw new IllegalArgumentException(
					"pipeset.pipeline." + property + " must be from " + min + " to " + max + ", not " + value);
		}
	}

}
