package io.pipeset.tuning;

import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The report of an ended tuning.
 *
 * @param tuningId the tuning's name in logs and in the names of its keys
 * @param settings the parameters in effect, without the lists of the grid
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
		@Nullable Long roundTripMicros, List<Row> rows, List<Baseline> baselines, @Nullable RowSettings recommended,
		String because, @Nullable Long keysLeft) {

	/**
	 * The measurements of a row: medians of its runs.
	 *
	 * @param runs how many runs were measured; fewer than requested if the budget ended
	 * @param seconds the times of the runs; {@code null} without runs, like all other
	 * measurements
	 * @param recordsPerSecond the records per second at the median time
	 * @param batchP99Millis the 99th percentile of the batches' times
	 * @param writes the writes to sockets
	 * @param redisCpuSeconds the CPU time of Redis during a run; {@code null} if Redis
	 * does not report it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Row(int batchSize, FlushPolicy flush, int concurrency, int runs, @Nullable Seconds seconds,
			@Nullable Long recordsPerSecond, @Nullable Double batchP99Millis, @Nullable Long writes,
			@Nullable Double redisCpuSeconds) {

		static Row of(RowSettings choice, List<Run> runs, long records) {
			if (runs.isEmpty()) {
				return new Row(choice.batchSize(), choice.flush(), choice.concurrency(), 0, null, null, null, null,
						null);
			}
			Seconds seconds = Seconds.of(runs);
			return new Row(choice.batchSize(), choice.flush(), choice.concurrency(), runs.size(), seconds,
					Figures.perSecond(records, seconds.median()),
					Figures.rounded(Figures.median(runs.stream().map(Run::batchP99Millis).toList())),
					Math.round(Figures.median(runs.stream().map((run) -> (double) run.writes()).toList())),
					Figures.medianOfKnown(runs.stream().map(Run::redisCpuSeconds).toList()));
		}

		RowSettings choice() {
			return new RowSettings(this.batchSize, this.flush, this.concurrency);
		}

	}

	/** The times of a row's runs. */
	public record Seconds(double median, double min, double max) {

		private static Seconds of(List<Run> runs) {
			List<Double> seconds = runs.stream().map(Run::seconds).sorted().toList();
			return new Seconds(Figures.rounded(Figures.median(seconds)), Figures.rounded(seconds.get(0)),
					Figures.rounded(seconds.get(seconds.size() - 1)));
		}

	}

	/**
	 * The measurements of a way without a pipeline, or with a slow one.
	 *
	 * @param how the name of the way
	 * @param recordsPerSecond the records per second of the median run; {@code null}
	 * without runs
	 * @param extrapolatedFrom the records of the last run, if they were fewer than a
	 * row's; {@code null} otherwise
	 * @param refused why Redis refuses it; {@code null} if it does not
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Baseline(String how, int runs, @Nullable Long recordsPerSecond, @Nullable Long extrapolatedFrom,
			@Nullable String refused) {

	}

}
