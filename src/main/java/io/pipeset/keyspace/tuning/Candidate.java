package io.pipeset.keyspace.tuning;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.pipeset.request.Atomic;
import org.jspecify.annotations.Nullable;

/**
 * Settings that are measured, and their runs so far.
 *
 * @param how the name of a baseline; {@code null} for a row of the grid
 * @param atomic whether each batch is a transaction
 * @param records the records of a run
 */
record Candidate(@Nullable String how, RowSettings settings, Atomic atomic, int records, List<Run> runs) {

	/**
	 * The median of a figure. Of an even number of runs, the mean of the middle two.
	 * @return {@code null} if no run has the figure
	 */
	@Nullable Double median(Function<Run, @Nullable Double> figure) {
		List<Double> sorted = this.runs.stream()
			.flatMap((run) -> Stream.ofNullable(figure.apply(run)))
			.sorted()
			.toList();
		return (sorted.isEmpty()) ? null
				: rounded((sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2);
	}

	/** Rounds to six decimals: seconds to microseconds, milliseconds to nanoseconds. */
	static double rounded(double value) {
		return Math.round(value * 1e6) / 1e6;
	}

	/**
	 * The measurements of one run.
	 *
	 * @param seconds the time from the first record to the last reply
	 * @param batchP99Millis the 99th percentile of its batches' times
	 * @param writes the writes to sockets
	 * @param redisCpuSeconds the CPU time of all masters during the run, for all their
	 * clients; {@code null} if Redis does not report it
	 */
	record Run(double seconds, double batchP99Millis, double writes, @Nullable Double redisCpuSeconds) {

	}

}
