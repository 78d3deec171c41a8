package io.pipeset.report;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import org.jspecify.annotations.Nullable;

/**
 * The report of a job, ended or not: the outcome of every one of its records.
 *
 * @param jobId the job's name in logs
 * @param wouldRun the good records of a dry run; {@code null} where records are run
 * @param redis the name of the Redis that the records go to
 * @param scan how the keys were found that are the records; {@code null} for other jobs
 * @param values the values that a pop took out of Redis, in their order; {@code null} for
 * other jobs
 * @param receipt the time until which the values wait for their caller; {@code null} if
 * there are none to acknowledge
 * @param warnings the things that the account of the records does not tell; left out if
 * there are none
 * @param errorCodes how many records have each error code, listed or not; left out if
 * none has one
 * @param itemsOmitted the number of records that should have been listed and were not
 * @param dryRun whether the records were to be checked and not run
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({ "jobId", "state", "errors", "counts" })
public record JobReport(String jobId, JobState state, Counts counts, @Nullable Long wouldRun,
		@JsonUnwrapped Input input, @JsonUnwrapped Losses.Found losses, Timings timings, @JsonUnwrapped Sent sent,
		String redis, Map<String, Object> settings, @Nullable Scan scan, @Nullable List<Object> values,
		@Nullable Receipt receipt, @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Warning> warnings,
		@JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Long> errorCodes, List<Item> items, long itemsOmitted,
		@JsonIgnore boolean dryRun) {

	/**
	 * Whether a record did not run as asked, or the job has ended and did not complete:
	 * records that were never read are in no count.
	 */
	@JsonProperty
	public boolean errors() {
		return errors(this.state, this.counts, this.dryRun);
	}

	/** The same of a job that is in this state now. */
	public static boolean errors(JobState state, Counts counts, boolean dryRun) {
		return errorCount(counts, dryRun) > 0 || (!state.isActive() && state != JobState.COMPLETED);
	}

	/**
	 * How many records did not run as asked.
	 * @return those rejected, unknown and unprocessed; of a dry run those rejected
	 */
	public long errorCount() {
		return errorCount(this.counts, this.dryRun);
	}

	private static long errorCount(Counts counts, boolean dryRun) {
		return (dryRun) ? counts.rejected() : counts.errors();
	}

	/** The same report of a job that has come into another state. */
	public JobReport in(JobState state) {
		return new JobReport(this.jobId, state, this.counts, this.wouldRun, this.input, this.losses, this.timings,
				this.sent, this.redis, this.settings, this.scan, this.values, this.receipt, this.warnings,
				this.errorCodes, this.items, this.itemsOmitted, this.dryRun);
	}

	/**
	 * This report without items and values, which may be large.
	 * @return a report that counts its items as omitted
	 */
	public JobReport withoutLists() {
		return new JobReport(this.jobId, this.state, this.counts, this.wouldRun, this.input, this.losses, this.timings,
				this.sent, this.redis, this.settings, this.scan, null, this.receipt, this.warnings, this.errorCodes,
				List.of(), this.itemsOmitted + this.items.size(), this.dryRun);
	}

	/** This report with further warnings. */
	public JobReport with(List<Warning> more) {
		if (more.isEmpty()) {
			return this;
		}
		return new JobReport(this.jobId, this.state, this.counts, this.wouldRun, this.input, this.losses, this.timings,
				this.sent, this.redis, this.settings, this.scan, this.values, this.receipt,
				Stream.concat(this.warnings.stream(), more.stream()).toList(), this.errorCodes, this.items,
				this.itemsOmitted, this.dryRun);
	}

	/**
	 * How far a job came in its input.
	 *
	 * @param nextIndex the index of the first record that was not read; {@code null}
	 * where the input was read to its end
	 * @param byteOffset the place at which the body's framing broke, in bytes from 0;
	 * {@code null} if it did not break
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Input(boolean inputComplete, @Nullable Long nextIndex, @Nullable Long byteOffset) {

	}

	/**
	 * The commands and bytes that a job has written to Redis.
	 *
	 * @param commandsPerSecond the records that Redis answered, per second of the whole
	 * job
	 * @param commandsSent the commands on data that Redis was sent for the records
	 * @param bytesSent the bytes of RESP
	 * @param writes the writes to sockets, which the JSON leaves out
	 */
	public record Sent(long commandsPerSecond, long commandsSent, long bytesSent, @JsonIgnore long writes) {

	}

	/**
	 * The way in which a job found its keys.
	 *
	 * @param restarts how often it began again with the first key, because Redis was
	 * restarted
	 * @param repeatedSlots how many slots of a cluster were scanned again, since slots
	 * moved meanwhile; {@code null} on one server, and before the cluster was scanned
	 * once
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Scan(int restarts, @Nullable Integer repeatedSlots) {

	}

	/**
	 * A true account that is not the whole truth.
	 *
	 * @param code the kind of warning, a promise to callers
	 * @param node the host and port of the server in a cluster; {@code null} for a single
	 * server
	 * @param detail the event and its remedy, for the caller to read
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Warning(String code, @Nullable String node, String detail, @Nullable Long count) {

	}

	/**
	 * The receipt by which a caller acknowledges popped values, under the job's id.
	 *
	 * @param deadlineMillis the time when they go back to their list, by Redis's clock
	 * and in milliseconds since 1970
	 */
	public record Receipt(long deadlineMillis) {

	}

}
