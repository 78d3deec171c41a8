package io.pipeset.request;

import java.time.Duration;

import io.pipeset.record.OperationFinder;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.memory.MemoryReservation;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The limits on the size of a job, and on how many jobs may run and wait.
 *
 * @param maxGenerated the most records that a shortcut generates or uploads, 0 or more
 * @param maxPopped the most values that one job pops from Redis, 0 or more
 * @param maxPoppedBytes the most bytes of these values. A job stops before a value that
 * would exceed the limit, but every pop takes its first value
 * @param maxItems the most records that a report lists, 0 or more
 * @param maxItemsBytes the most bytes of the listed records' keys, ids, messages and
 * replies; records with popped values do not count, because a report always lists them
 * @param maxBodyBytes the largest body, as received over the wire
 * @param maxInflatedBytes the largest size that a gzip or zstd body may inflate to
 * @param maxRecordBytes the largest record in a body, 1KB to 512MB
 * @param maxArguments the most arguments of a record after its operation's name, 1 to
 * 16,777,216. The offset of each is kept in memory until the record is sent, so that very
 * short arguments take ten times their size
 * @param maxKeyBytes the longest key, 1 byte to 512MB; reports list the keys of records
 * @param maxValueBytes the largest argument that is not a key, 0 to 512MB
 * @param maxRunningJobs the most jobs that run at once, 1 to 10,000. A job runs while its
 * upload is open. An eighth of them is for small jobs only
 * @param maxWait how long a job may wait for a running job to end, 0 to 1 hour;
 * asynchronous jobs have no limit
 * @param maxWaitingJobs the most jobs that wait for a running job to end, 0 to 10,000;
 * asynchronous jobs do not count
 * @param maxAsyncJobs the most asynchronous jobs that are uploaded, wait and run at once,
 * 0 to 10,000. Those that run also count as running jobs
 * @param bodyIdleTimeout how long a caller may pause while it sends a body or reads an
 * answer, 1 millisecond to 1 hour
 * @param shutdownGrace how long jobs may continue after the service is asked to stop, 0
 * to 1 hour
 * @param maxInflightBytes the most bytes of commands in flight of all jobs together.
 * Beyond it, jobs stop reading their input; two writes a lane are always allowed
 * @param maxEventStreams the most callers that follow jobs at once, 0 to 10,000
 * @param maxPrefixes the most prefixes that an analysis lists, 1 to 1,000,000; it adds up
 * all others
 */
@ConfigurationProperties("pipeset.limits")
public record JobLimits(@DefaultValue("10000000") long maxGenerated, @DefaultValue("100000") long maxPopped,
		@DefaultValue("64MB") DataSize maxPoppedBytes, @DefaultValue("1000") int maxItems,
		@DefaultValue("16MB") DataSize maxItemsBytes, @DefaultValue("4GB") DataSize maxBodyBytes,
		@DefaultValue("16GB") DataSize maxInflatedBytes, @DefaultValue("16MB") DataSize maxRecordBytes,
		@DefaultValue("" + RecordLimit.DEFAULT_ARGUMENTS) int maxArguments, @DefaultValue("16KB") DataSize maxKeyBytes,
		@DefaultValue("16MB") DataSize maxValueBytes, @DefaultValue("64") int maxRunningJobs,
		@DefaultValue("30s") Duration maxWait, @DefaultValue("64") int maxWaitingJobs,
		@DefaultValue("32") int maxAsyncJobs, @DefaultValue("30s") Duration bodyIdleTimeout,
		@DefaultValue("20s") Duration shutdownGrace, @DefaultValue("32MB") DataSize maxInflightBytes,
		@DefaultValue("10000") int maxPrefixes, @DefaultValue("256") int maxEventStreams) {

	private static final int MAX_ARGUMENT_BYTES = 512 << 20;

	private static final int MAX_ARGUMENTS = 1 << 24;

	private static final int MAX_JOBS = 10_000;

	private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();

	public JobLimits {
		check("max-generated", maxGenerated, 0, Long.MAX_VALUE);
		check("max-popped", maxPopped, 0, Integer.MAX_VALUE);
		check("max-popped-bytes", maxPoppedBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-items", maxItems, 0, 1_000_000);
		check("max-items-bytes", maxItemsBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-body-bytes", maxBodyBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-inflated-bytes", maxInflatedBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-inflight-bytes", maxInflightBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-prefixes", maxPrefixes, 1, 1_000_000);
		check("max-event-streams", maxEventStreams, 0, 10_000);
		check("max-record-bytes", maxRecordBytes.toBytes(), 1 << 10, MAX_ARGUMENT_BYTES);
		check("max-arguments", maxArguments, 1, MAX_ARGUMENTS);
		check("max-key-bytes", maxKeyBytes.toBytes(), 1, MAX_ARGUMENT_BYTES);
		check("max-value-bytes", maxValueBytes.toBytes(), 0, MAX_ARGUMENT_BYTES);
		check("max-running-jobs", maxRunningJobs, 1, MAX_JOBS);
		check("max-waiting-jobs", maxWaitingJobs, 0, MAX_JOBS);
		check("max-async-jobs", maxAsyncJobs, 0, MAX_JOBS);
		check("max-wait (milliseconds)", maxWait.toMillis(), 0, HOUR_MILLIS);
		check("body-idle-timeout (milliseconds)", bodyIdleTimeout.toMillis(), 1, HOUR_MILLIS);
		check("shutdown-grace (milliseconds)", shutdownGrace.toMillis(), 0, HOUR_MILLIS);
	}

	/** The most jobs that run at once without being known to be small. */
	public int maxLargeJobs() {
		return this.maxRunningJobs - this.maxRunningJobs / 8;
	}

	/** The limit on a body as received over the wire. */
	public ByteLimit ofBodies() {
		return new ByteLimit("pipeset.limits.max-body-bytes", this.maxBodyBytes.toBytes());
	}

	/** The limit on an inflated body. */
	public ByteLimit ofInflatedBodies() {
		return new ByteLimit("pipeset.limits.max-inflated-bytes", this.maxInflatedBytes.toBytes());
	}

	/**
	 * The bounds of the records of a job.
	 * @param database the database of the job's Redis
	 * @param operations finds the operations that records name
	 */
	public RecordLimit ofRecords(MemoryReservation room, int database, OperationFinder operations) {
		return new RecordLimit((int) this.maxRecordBytes.toBytes(), this.maxArguments, room, database, operations);
	}

	private static void check(String property, long value, long min, long max) {
		if (value < min || value > max) {
			throw new IllegalArgumentException(
					"pipeset.limits." + property + " must be from " + min + " to " + max + ", not " + value);
		}
	}

}
