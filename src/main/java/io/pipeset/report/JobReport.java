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
 * The report of a running or ended job, with the outcomes of all of its records.
 *
 * @param jobId the job's name in logs
 * @param wouldRun the valid records of a dry run; {@code null} for other jobs
 * @param verified how the records compare with what Redis has; {@code null} if they were
 * not compared
 * @param estimate the memory that a dry run's keys would need; {@code null} for other
 * jobs
 * @param redis the name of the Redis that the job loads
 * @param scan how the keys were scanned; {@code null} if the records are not from a key
 * scan
 * @param replaced what became of the keys of the pattern whose keys the job replaces;
 * {@code null} if they were not looked for
 * @param values the popped values in their order; {@code null} for other jobs
 * @param receipt the time by which the caller must acknowledge the values; {@code null}
 * if there are none to acknowledge
 * @param warnings facts that the counts do not show; omitted if there are none
 * @param errorCodes how many records have each error code, listed or not; omitted if
 * there are none
 * @param itemsOmitted how many requested items are not listed
 * @param latency what other clients saw; {@code null} without {@code maxLatency}
 * @param dryRun whether the records were only checked
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({ "jobId", "state", "errors", "counts" })
public record JobReport(String jobId, JobState state, Counts counts, @Nullable Long wouldRun,
		@Nullable Verified verified, @Nullable Estimate estimate, @JsonUnwrapped Input input,
		@JsonUnwrapped Losses.Found losses, Timings timings, JobClock.@Nullable Latency latency,
		@JsonUnwrapped Sent sent, String redis, Map<String, Object> settings, @Nullable Scan scan,
		@Nullable Replaced replaced, @Nullable List<Object> values, @Nullable Receipt receipt,
		@JsonInclude(JsonInclude.Include.NON_EMPTY) List<Warning> warnings,
		@JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Long> errorCodes, List<Item> items, long itemsOmitted,
		@JsonIgnore boolean dryRun) {

	/**
	 * Whether a record failed, or the job has ended without completing. The second
	 * condition is needed because unread records are in no count.
	 */
	@JsonProperty
	public boolean errors() {
		return errors(this.state, this.counts, this.dryRun, this.verified);
	}

	/** The same for a job with this state and these counts. */
	public static boolean errors(JobState state, Counts counts, boolean dryRun, @Nullable Verified verified) {
		return errorCount(counts, dryRun, verified) > 0 || (!state.isActive() && state != JobState.COMPLETED);
	}

	/**
	 * How many records failed.
	 * @return the rejected, unknown and unprocessed records; in a dry run only the
	 * rejected ones, and if the job verifies those that differ
	 */
	public long errorCount() {
		return errorCount(this.counts, this.dryRun, this.verified);
	}

	/** The same for a job with these counts. */
	public static long errorCount(Counts counts, boolean dryRun, @Nullable Verified verified) {
		return (verified != null) ? verified.errors(counts) : (dryRun) ? counts.rejected() : counts.errors();
	}

	/** This report with other counts. */
	public JobReport with(Counts counts) {
		return new JobReport(this.jobId, this.state, counts, this.wouldRun, this.verified, this.estimate, this.input,
				this.losses, this.timings, this.latency, this.sent, this.redis, this.settings, this.scan, this.replaced,
				this.values, this.receipt, this.warnings, this.errorCodes, this.items, this.itemsOmitted, this.dryRun);
	}

	/** This report with another state. */
	public JobReport in(JobState state) {
		return new JobReport(this.jobId, state, this.counts, this.wouldRun, this.verified, this.estimate, this.input,
				this.losses, this.timings, this.latency, this.sent, this.redis, this.settings, this.scan, this.replaced,
				this.values, this.receipt, this.warnings, this.errorCodes, this.items, this.itemsOmitted, this.dryRun);
	}

	/**
	 * This report without items and values, which may be large.
	 * @return a report that counts its items as omitted
	 */
	public JobReport withoutLists() {
		return new JobReport(this.jobId, this.state, this.counts, this.wouldRun, this.verified, this.estimate,
				this.input, this.losses, this.timings, this.latency, this.sent, this.redis, this.settings, this.scan,
				this.replaced, null, this.receipt, this.warnings, this.errorCodes, List.of(),
				this.itemsOmitted + this.items.size(), this.dryRun);
	}

	/** This report with further warnings. */
	public JobReport with(List<Warning> more) {
		if (more.isEmpty()) {
			return this;
		}
		return new JobReport(this.jobId, this.state, this.counts, this.wouldRun, this.verified, this.estimate,
				this.input, this.losses, this.timings, this.latency, this.sent, this.redis, this.settings, this.scan,
				this.replaced, this.values, this.receipt, Stream.concat(this.warnings.stream(), more.stream()).toList(),
				this.errorCodes, this.items, this.itemsOmitted, this.dryRun);
	}

	/**
	 * How far a job has read its input.
	 *
	 * @param inputComplete whether the input was read to its end
	 * @param nextIndex the index of the first unread record; {@code null} if the input
	 * was read to its end
	 * @param byteOffset the byte at which the body's framing is broken, from 0;
	 * {@code null} if it is not broken
	 * @param leftOut how many commands rows have left out, because each is a group of
	 * which a value was missing; {@code null} for none
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Input(boolean inputComplete, @Nullable Long nextIndex, @Nullable Long byteOffset,
			@Nullable Long leftOut) {

		/** An input whose rows left nothing out. */
		public Input(boolean inputComplete, @Nullable Long nextIndex, @Nullable Long byteOffset) {
			this(inputComplete, nextIndex, byteOffset, null);
		}

		/** The same input, whose rows left out so many commands. */
		public Input leavingOut(long commands) {
			return (commands == 0) ? this : new Input(this.inputComplete, this.nextIndex, this.byteOffset, commands);
		}

	}

	/**
	 * The commands and bytes that a job has written to Redis.
	 *
	 * @param recordsPerSecond the records with a reply, per second of the whole job
	 * @param commandsSent the data commands that were sent for the records
	 * @param bytesSent the bytes of RESP
	 * @param writes the writes to sockets; not in the JSON
	 */
	public record Sent(long recordsPerSecond, long commandsSent, long bytesSent, @JsonIgnore long writes) {

	}

	/**
	 * How a job scanned the keys.
	 *
	 * @param restarts how often the scan started again because Redis was restarted
	 * @param repeatedSlots how many slots of a cluster were scanned again because slots
	 * moved during the scan; {@code null} for a single server, and before the first scan
	 * of the cluster has ended
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Scan(int restarts, @Nullable Integer repeatedSlots) {

	}

	/**
	 * What became of the keys of the setting {@code replace}.
	 *
	 * @param kept how many keys were found that the job has written
	 * @param removed how many other keys were removed; in a dry run, would be removed
	 * @param keys the first of these that a job which only compares has found
	 */
	public record Replaced(long kept, long removed, @JsonIgnore List<Object> keys) {

	}

	/**
	 * A fact that the caller should know and that the counts do not show.
	 *
	 * @param code the kind of warning, which is part of the API
	 * @param node the host and port of the server in a cluster; {@code null} for a single
	 * server
	 * @param detail what happened and what the caller can do
	 * @param line the line of the first record that it is about; {@code null} for none
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Warning(String code, @Nullable String node, String detail, @Nullable Long count,
			@Nullable Long line) {

		/** A warning that is about no line. */
		public Warning(String code, @Nullable String node, String detail, @Nullable Long count) {
			this(code, node, detail, count, null);
		}

	}

	/**
	 * The receipt of popped values. The caller acknowledges it by the job's id.
	 *
	 * @param deadlineMillis when the values return to their list if they are not
	 * acknowledged, by Redis's clock, in milliseconds since 1970
	 */
	public record Receipt(long deadlineMillis) {

	}

}
