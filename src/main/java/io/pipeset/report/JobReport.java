package io.pipeset.report;

import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.jspecify.annotations.Nullable;

/**
 * The account of a job: what became of every one of its records.
 *
 * @param jobId the job's name in logs
 * @param ending why it ended
 * @param counts its records by outcome
 * @param inputComplete whether the input was read to its end
 * @param nextIndex the index of the first record that was not read; {@code null} where
 * the input was read to its end
 * @param fenced whether everything was kept from running later that was on its way on a
 * connection that was lost; {@code null} where there was nothing
 * @param byteOffset where the body's framing broke, in bytes from 0; else {@code null}
 * @param timings how long it took
 * @param commandsPerSecond the records that Redis answered, per second of the whole job
 * @param bytesSent what was written to Redis, in bytes of RESP
 * @param settings the settings in effect
 * @param values what a pop took out of Redis, in its order; {@code null} for other jobs
 * @param receipt until when the values wait for their caller; {@code null} where there is
 * nothing to acknowledge
 * @param items the records listed
 * @param itemsOmitted how many more there would have been to list
 * @param dryRun whether the records were to be checked and not run
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({ "jobId", "state", "errors", "counts" })
public record JobReport(String jobId, @JsonIgnore Ending ending, Counts counts, boolean inputComplete,
		@Nullable Long nextIndex, @Nullable Boolean fenced, @Nullable Long byteOffset, Timings timings,
		long commandsPerSecond, long bytesSent, Map<String, Object> settings, @Nullable List<Object> values,
		@Nullable Receipt receipt, List<Item> items, long itemsOmitted, @JsonIgnore boolean dryRun) {

	/**
	 * Where the job stands.
	 * @return its final state
	 */
	@JsonProperty
	public JobState state() {
		return this.ending.cause().state();
	}

	/**
	 * Whether a record did not run as asked.
	 * @return {@code true} where the caller has something to look at
	 */
	@JsonProperty
	public boolean errors() {
		return errorCount() > 0;
	}

	/**
	 * How many records did not run as asked.
	 * @return those rejected, unknown and unprocessed; of a dry run those rejected
	 */
	public long errorCount() {
		return (this.dryRun) ? this.counts.rejected() : this.counts.errors();
	}

	/**
	 * What lets a caller acknowledge values that were popped, under the job's id.
	 *
	 * @param deadlineMillis when they go back to their list, by Redis's clock and in
	 * milliseconds since 1970
	 */
	public record Receipt(long deadlineMillis) {

	}

}
