package io.pipeset.keyspace.tuning;

import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.pipeset.keyspace.tuning.Candidate.Run;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The report of an ended tuning.
 *
 * @param tuningId the tuning's name in logs and in the names of its keys
 * @param settings the parameters in effect, and the lists of the grid that the request
 * has
 * @param roundTripMicros the median time of a PING, in a cluster to the slowest master;
 * {@code null} if it was not measured
 * @param rows the rows in the order of the grid
 * @param baselines the ways without a pipeline, or with a slow one
 * @param recommended the settings of the best row; {@code null} if no row was measured
 * @param because the reason for the recommendation, or why there is none
 * @param keysLeft how many keys may not have been removed and will expire; {@code null}
 * for none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TuningReport(String tuningId, JobState state, Map<String, Object> settings,
		@Nullable Long roundTripMicros, List<Row> rows, List<Row> baselines, @Nullable RowSettings recommended,
		String because, @Nullable Long keysLeft) {

	/**
	 * The measurements of a row or baseline: medians of its runs.
	 *
	 * @param how the name of a baseline; {@code null} for a row of the grid
	 * @param runs how many runs were measured; fewer than requested if the budget ended
	 * @param seconds the times of the runs; {@code null} without runs, like all other
	 * measurements
	 * @param recordsPerSecond the records per second at the median time
	 * @param extrapolatedFrom the records of a run, if they are fewer than those of the
	 * rows; {@code null} otherwise
	 * @param batchP99Millis the 99th percentile of the batches' times
	 * @param writes the writes to sockets
	 * @param redisCpuSeconds the CPU time of Redis during a run; {@code null} if Redis
	 * does not report it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Row(@Nullable String how, @JsonUnwrapped RowSettings settings, int runs, @Nullable Seconds seconds,
			@Nullable Long recordsPerSecond, @Nullable Integer extrapolatedFrom, @Nullable Double batchP99Millis,
			@Nullable Long writes, @Nullable Double redisCpuSeconds) {

		static Row of(Candidate row, int records) {
			Double median = row.median(Run::seconds);
			if (median == null) {
				return new Row(row.how(), row.settings(), 0, null, null, null, null, null, null);
			}
			DoubleSummaryStatistics all = row.runs().stream().mapToDouble(Run::seconds).summaryStatistics();
			return new Row(row.how(), row.settings(), row.runs().size(),
					new Seconds(median, Candidate.rounded(all.getMin()), Candidate.rounded(all.getMax())),
					Math.round(row.records() / Math.max(median, 1e-6)),
					(row.records() < records) ? row.records() : null, row.median(Run::batchP99Millis),
					Math.round(Objects.requireNonNull(row.median(Run::writes))), row.median(Run::redisCpuSeconds));
		}

	}

	/** The times of a row's runs. */
	public record Seconds(double median, double min, double max) {

	}

}
