package io.pipeset.tuning;

import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The report of a tuning that has ended.
 *
 * @param tuningId the tuning's name in logs and in the names of its keys
 * @param settings the parameters in effect, without the lists of the grid
 * @param roundTripMicros the median time of a PING, that of the slowest master in a
 * cluster; {@code null} if Redis did not answer
 * @param rows the rows of the grid, in its order
 * @param baselines the ways without a pipeline, or with a poor one
 * @param recommended the row to use; {@code null} if none was measured
 * @param because the reason for the recommendation, or for there being none
 * @param keysLeft the keys that could not be removed, and expire by themselves;
 * {@code null} if there are none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TuningReport(String tuningId, JobState state, Map<String, Object> settings,
		@Nullable Long roundTripMicros, List<Row> rows, List<Baseline> baselines, @Nullable Choice recommended,
		String because, @Nullable Long keysLeft) {

	/**
	 * The figures of a row: medians of its runs.
	 *
	 * @param runs the runs that were measured; the budget may have left out some
	 * @param seconds the times of the runs; {@code null} without runs, as are all others
	 * @param recordsPerSecond the records per second of the median time
	 * @param redisCpuSeconds the processor time that Redis took in a run
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Row(int batchSize, FlushPolicy flush, int concurrency, int runs, @Nullable Seconds seconds,
			@Nullable Long recordsPerSecond, @Nullable Double batchP99Millis, @Nullable Long writes,
			@Nullable Double redisCpuSeconds) {

		static Row of(Choice choice, List<Run> runs, long records) {
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

		Choice choice() {
			return new Choice(this.batchSize, this.flush, this.concurrency);
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
	 * The figures of a way without a pipeline, or with a poor one.
	 *
	 * @param recordsPerSecond the records per second of the median run; {@code null}
	 * without runs
	 * @param extrapolatedFrom the records of the last run, if they were fewer than those
	 * of the rows; {@code null} if they were as many
	 * @param refused the reason why Redis does not let it run; {@code null} if it does
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Baseline(String how, int runs, @Nullable Long recordsPerSecond, @Nullable Long extrapolatedFrom,
			@Nullable String refused) {

	}

}
