package io.pipeset.job;

import java.time.Duration;

import io.pipeset.job.input.ByteLimit;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.memory.MemoryReservation;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The limits on what a job may ask for, and on how many jobs may run and wait.
 *
 * @param maxGenerated the records that a shortcut may generate, 0 or more
 * @param maxPopped the values that one job may take out of Redis, 0 or more
 * @param maxPoppedBytes the size of these values; a job stops before a value that would
 * go beyond it, but a pop always takes its first
 * @param maxItems the records that a report lists at most, 0 or more
 * @param maxItemsBytes the size of Redis's answers to these records, without values taken
 * out of it, which a report always lists
 * @param maxBodyBytes the largest body, as it comes over the wire
 * @param maxInflatedBytes the largest body that a gzip body may inflate to
 * @param maxRecordBytes the largest record in a body, 1KB to 512MB
 * @param maxArguments the arguments that a record may have after its operation's name, 1
 * to 16,777,216; the place of each is noted before the record is sent, so that the
 * shortest take ten times the memory of their bytes
 * @param maxKeyBytes the longest key, 1 byte to 512MB; a listed record carries its key
 * @param maxValueBytes the largest argument that is no key, 0 to 512MB
 * @param maxRunningJobs the jobs that may run at once, 1 to 10,000; a job runs while its
 * upload is open. An eighth of them is for small jobs only
 * @param maxWaitingJobs the jobs that may wait for one of those to end, 0 to 10,000
 * @param maxAsyncJobs the asynchronous jobs that may be uploaded, wait and run at once, 0
 * to 10,000; those that run count as running jobs as well
 * @param maxWait how long a job waits for that at most, 0 to 1 hour
 * @param bodyIdleTimeout how long a body may pause, and the reading of an answer, 1
 * millisecond to 1 hour
 * @param shutdownGrace how long jobs may go on when the service is told to stop, 0 to 1
 * hour
 * @param maxInflightBytes the size of the commands that all jobs together may have
 * unanswered before their readers wait; two writes a lane are always allowed
 * @param maxEventStreams the callers that may follow jobs at the same time, 0 to 10,000
 * @param maxPrefixes the prefixes that an analysis lists, 1 to 1,000,000; all others are
 * added up
 */
@ConfigurationProperties("pipeset.limits")
public record JobLimits(@DefaultValue("10000000") long maxGenerated, @DefaultValue("100000") long maxPopped,
		@DefaultValue("64MB") DataSize maxPoppedBytes, @DefaultValue("1000") int maxItems,
		@DefaultValue("16MB") DataSize maxItemsBytes, @DefaultValue("4GB") DataSize maxBodyBytes,
		@DefaultValue("16GB") DataSize maxInflatedBytes, @DefaultValue("16MB") DataSize maxRecordBytes,
		@DefaultValue("" + RecordLimit.DEFAULT_ARGUMENTS) int maxArguments, @DefaultValue("16KB") DataSize maxKeyBytes,
		@DefaultValue("16MB") DataSize maxValueBytes, @DefaultValue("64") int maxRunningJobs,
		@DefaultValue("64") int maxWaitingJobs, @DefaultValue("32") int maxAsyncJobs,
		@DefaultValue("30s") Duration maxWait, @DefaultValue("30s") Duration bodyIdleTimeout,
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

	/** The jobs that may run at once, unless they are known to be small. */
	public int maxLargeJobs() {
		return this.maxRunningJobs - this.maxRunningJobs / 8;
	}

	/** The largest body, as it comes over the wire. */
	public ByteLimit ofBodies() {
		return new ByteLimit("pipeset.limits.max-body-bytes", this.maxBodyBytes.toBytes());
	}

	/** The largest body that a gzip body may stand for. */
	public ByteLimit ofInflatedBodies() {
		return new ByteLimit("pipeset.limits.max-inflated-bytes", this.maxInflatedBytes.toBytes());
	}

	public RecordLimit ofRecords(MemoryReservation room, int database) {
		return new RecordLimit((int) this.maxRecordBytes.toBytes(), this.maxArguments, room, database);
	}

	private static void check(String property, long value, long least, long most) {
		if (value < least || value > most) {
			throw new IllegalArgumentException(
					"pipeset.limits." + property + " must be from " + least + " to " + most + ", not " + value);
		}
	}

}
