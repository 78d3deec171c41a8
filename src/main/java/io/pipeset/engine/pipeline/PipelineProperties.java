package io.pipeset.engine.pipeline;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The connections that jobs run on, and how many commands may be on their way on each.
 *
 * @param maxConnections the connections to one server that all jobs together may hold at
 * once, 1 to 1,000; the first batches of jobs may hold an eighth more
 * @param windowCommands the commands that a lane may have unanswered, 1 to 10,000,000;
 * two writes are always allowed. The lanes to several masters divide it, and also the
 * bytes
 * @param windowBytes the bytes of commands that a lane may have unanswered, 64KB to 1GB;
 * two writes are always allowed
 * @param connectTimeout the longest that opening a connection may take, and its
 * handshake, and a wait for the pool; {@code spring.data.redis.connect-timeout} and
 * {@code spring.data.redis.timeout} win where they are set
 * @param memoryWarnings whether servers are asked for their memory while jobs run, so
 * that reports can warn of evictions and of a server that is nearly full
 */
@ConfigurationProperties("pipeset.pipeline")
public record PipelineProperties(@DefaultValue("16") int maxConnections, @DefaultValue("100000") int windowCommands,
		@DefaultValue("8MB") DataSize windowBytes, @DefaultValue("5s") Duration connectTimeout,
		@DefaultValue("true") boolean memoryWarnings) {

	/**
	 * Connections beyond those of jobs, so that health checks, fences and receipts never
	 * wait for a job.
	 */
	static final int RESERVE = 4;

	private static final int LEAST_WINDOW_BYTES = 64 << 10;

	public PipelineProperties {
		check("max-connections", maxConnections, 1, 1_000);
		check("window-commands", windowCommands, 1, 10_000_000);
		check("window-bytes", windowBytes.toBytes(), LEAST_WINDOW_BYTES, 1 << 30);
		check("connect-timeout (milliseconds)", connectTimeout.toMillis(), 1, 3_600_000);
	}

	/**
	 * The connections that the pool may hold.
	 * @return those of jobs, and a reserve for everything else
	 */
	public int pooledConnections() {
		return this.maxConnections + firstConnections() + RESERVE;
	}

	/**
	 * The connections that only the first batches of jobs may take, when all others are
	 * taken.
	 * @return an eighth of the others
	 */
	int firstConnections() {
		return this.maxConnections / 8;
	}

	/**
	 * Whether half of a lane's window is taken, so that the other half can be filled
	 * while it is settled.
	 */
	public boolean isHalf(int commands, long bytes) {
		return commands >= (this.windowCommands + 1) / 2 || bytes >= this.windowBytes.toBytes() / 2;
	}

	/**
	 * The window of a lane to one of several masters, between which the lanes divide it.
	 * So a job's memory does not grow with the cluster.
	 */
	public PipelineProperties dividedBy(int masters) {
		return new PipelineProperties(this.maxConnections, Math.max(1, this.windowCommands / masters),
				DataSize.ofBytes(Math.max(LEAST_WINDOW_BYTES, this.windowBytes.toBytes() / masters)),
				this.connectTimeout, this.memoryWarnings);
	}

	private static void check(String property, long value, long least, long most) {
		if (value < least || value > most) {
			throw new IllegalArgumentException(
					"pipeset.pipeline." + property + " must be from " + least + " to " + most + ", not " + value);
		}
	}

}
