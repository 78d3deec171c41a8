package io.pipeset.job;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.pipeset.pipeline.FlushPolicy;
import io.pipeset.record.Encoding;
import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.Rejection;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

/**
 * How a job's records are to be run.
 *
 * @param batchSize the commands in one call of {@code executePipelined} at most, 1 to
 * 100,000
 * @param flush when Lettuce writes to the socket
 * @param concurrency the lanes, 1 to 16: pipelines that run at once
 * @param timeout the longest silence of Redis since the oldest unanswered write, 1
 * millisecond to 1 hour
 * @param maxErrors the rejected records that do not stop the job, 0 or more; {@code null}
 * for no limit
 * @param retries the losses of its connection to Redis that the job survives, 0 to 10
 * @param results which records the report lists
 * @param operation for records that name none; {@code null} if they have to
 * @param only whether no other operation is run
 * @param ttl the seconds after which what SET and HSET write expires, 1 to
 * {@value #MAX_TTL}; {@code null} for never
 * @param encoding how strings in bodies and reports stand for bytes
 * @param rateLimit the records sent in a second, 1 to 10^9; {@code null} for no limit
 * @param atomic what runs as a whole or not at all; a transaction is always written
 * whole, whatever the flush policy, and has 10,000 commands at most
 * @param dryRun whether to read and check the records only
 */
public record JobSettings(int batchSize, FlushPolicy flush, int concurrency, Duration timeout, @Nullable Long maxErrors,
		int retries, Results results, @Nullable Operation operation, boolean only, @Nullable Long ttl,
		Encoding encoding, @Nullable Long rateLimit, Atomic atomic, boolean dryRun) {

	/** The most commands in a batch. */
	public static final int MAX_BATCH_SIZE = 100_000;

	/** The most commands in a batch that is a transaction. */
	public static final int MAX_ATOMIC_BATCH_SIZE = 10_000;

	/** The most lanes of a job. */
	public static final int MAX_CONCURRENCY = 16;

	/** The longest time to live, in seconds. */
	public static final long MAX_TTL = Expiry.MAX_SECONDS;

	/** The highest rate, in records a second. */
	public static final long MAX_RATE_LIMIT = 1_000_000_000;

	/** The longest timeout. */
	public static final Duration MAX_TIMEOUT = Duration.ofHours(1);

	/** The most losses that a job survives. */
	public static final int MAX_RETRIES = 10;

	public JobSettings {
		require(batchSize >= 1 && batchSize <= MAX_BATCH_SIZE, "batchSize", batchSize, "1 to " + MAX_BATCH_SIZE);
		require(atomic == Atomic.NONE || batchSize <= MAX_ATOMIC_BATCH_SIZE, "batchSize", batchSize,
				"1 to " + MAX_ATOMIC_BATCH_SIZE + " with atomic=batch");
		require(concurrency >= 1 && concurrency <= MAX_CONCURRENCY, "concurrency", concurrency,
				"1 to " + MAX_CONCURRENCY);
		require(timeout.toMillis() >= 1 && timeout.compareTo(MAX_TIMEOUT) <= 0, "timeout", timeout, "1ms to 1h");
		require(retries >= 0 && retries <= MAX_RETRIES, "retries", retries, "0 to " + MAX_RETRIES);
		require(ttl == null || (ttl >= 1 && ttl <= MAX_TTL), "ttl", ttl, "1 to " + MAX_TTL + " seconds");
		require(rateLimit == null || (rateLimit >= 1 && rateLimit <= MAX_RATE_LIMIT), "rateLimit", rateLimit,
				"1 to " + MAX_RATE_LIMIT + " commands a second");
		require(maxErrors == null || maxErrors >= 0, "maxErrors", maxErrors, "0 or more");
		flush = (atomic == Atomic.BATCH) ? FlushPolicy.close() : flush;
	}

	/**
	 * These settings for records of one operation, whether they name it or not.
	 * @param operation the operation
	 * @return the settings
	 */
	public JobSettings withOnly(Operation operation) {
		return new JobSettings(this.batchSize, this.flush, this.concurrency, this.timeout, this.maxErrors, this.retries,
				this.results, operation, true, this.ttl, this.encoding, this.rateLimit, this.atomic, this.dryRun);
	}

	/**
	 * These settings with another time to live.
	 * @param ttl in seconds, or {@code null} for none
	 * @return the settings
	 */
	public JobSettings withTtl(@Nullable Long ttl) {
		return new JobSettings(this.batchSize, this.flush, this.concurrency, this.timeout, this.maxErrors, this.retries,
				this.results, this.operation, this.only, ttl, this.encoding, this.rateLimit, this.atomic, this.dryRun);
	}

	/** Refuses a good record of an operation that the request does not name. */
	void admit(Record record) {
		if (this.only && record.operation() != this.operation) {
			record.reject(Rejection.FORBIDDEN, "the record is a " + record.operation() + ", and the request is for "
					+ this.operation + " alone: post records of several operations to /v1/jobs, without 'op'");
		}
	}

	boolean isAtomic() {
		return this.atomic == Atomic.BATCH;
	}

	RecordDefaults recordDefaults() {
		return new RecordDefaults(this.ttl, this.encoding);
	}

	int commandsPerWrite() {
		return this.flush.commandsPerWrite(this.batchSize);
	}

	Map<String, Object> toReport() {
		Map<String, Object> settings = new LinkedHashMap<>();
		settings.put("batchSize", this.batchSize);
		settings.put("flush", this.flush);
		settings.put("concurrency", this.concurrency);
		settings.put("timeout", text(this.timeout));
		if (this.maxErrors != null) {
			settings.put("maxErrors", this.maxErrors);
		}
		settings.put("retries", this.retries);
		settings.put("results", this.results);
		if (this.operation != null) {
			settings.put("op", this.operation);
		}
		if (this.ttl != null) {
			settings.put("ttl", this.ttl);
		}
		if (this.encoding != Encoding.UTF8) {
			settings.put("encoding", this.encoding.label());
		}
		if (this.rateLimit != null) {
			settings.put("rateLimit", this.rateLimit);
		}
		if (isAtomic()) {
			settings.put("atomic", this.atomic);
		}
		if (this.dryRun) {
			settings.put("dryRun", true);
		}
		return settings;
	}

	static String text(Duration duration) {
		long millis = duration.toMillis();
		return (millis % 1000 == 0) ? millis / 1000 + "s" : millis + "ms";
	}

	private static void require(boolean holds, String setting, @Nullable Object value, String allowed) {
		if (!holds) {
			throw new InvalidSettingException(setting, "must be " + allowed + ", not '" + value + "'");
		}
	}

}
