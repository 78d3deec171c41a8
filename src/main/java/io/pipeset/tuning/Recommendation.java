package io.pipeset.tuning;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import io.pipeset.tuning.TuningReport.Row;
import io.pipeset.tuning.TuningReport.Seconds;
import org.jspecify.annotations.Nullable;

/**
 * The recommended row, and why. Among the rows within 5 % of the fastest, it is the one
 * with the smallest batches and then the fewest lanes. Small batches return their
 * connection sooner and block Redis's other clients for less time. Few lanes leave
 * connections to other jobs.
 *
 * @param choice the row's settings; {@code null} if no row was measured
 */
record Recommendation(@Nullable RowSettings choice, String because) {

	private static final double TOLERANCE = 1.05;

	private static final Comparator<Row> BEST_FIRST = Comparator.comparingInt(Row::batchSize)
		.thenComparingInt(Row::concurrency)
		.thenComparingDouble((row) -> seconds(row).median());

	/**
	 * Chooses a row.
	 * @param rows the rows of the grid, measured or not
	 * @param runs how often each row should run
	 * @param defaultValue the default settings of jobs, to compare the choice with
	 */
	static Recommendation of(List<Row> rows, int runs, RowSettings defaultValue) {
		List<Row> measured = rows.stream().filter((row) -> row.seconds() != null).toList();
		if (measured.isEmpty()) {
			return new Recommendation(null, "no row was measured");
		}
		Row fastest = measured.stream().min(Comparator.comparingDouble((row) -> seconds(row).median())).orElseThrow();
		double limit = seconds(fastest).median() * TOLERANCE;
		Row best = measured.stream().filter((row) -> seconds(row).median() <= limit).min(BEST_FIRST).orElse(fastest);
		return new Recommendation(best.choice(),
				because(best, fastest, measured, defaultValue) + missing(measured, rows.size(), runs));
	}

	private static String because(Row best, Row fastest, List<Row> measured, RowSettings defaultValue) {
		StringBuilder because = new StringBuilder();
		if (measured.size() == 1) {
			because.append("the only row that was measured, with ").append(text(best));
		}
		else if (best.equals(fastest)) {
			because.append("the fastest row, with ")
				.append(text(best))
				.append(", and no row within 5 % of it has smaller batches, or as small ones and fewer lanes");
		}
		else {
			because.append("within 5 % of the fastest row, with the smallest batches and then the fewest lanes: ")
				.append(text(best))
				.append(" against ")
				.append(text(fastest))
				.append(" with ")
				.append(fastest.choice());
		}
		measured.stream()
			.filter((row) -> row.choice().equals(defaultValue))
			.findFirst()
			.ifPresent((row) -> because.append(againstDefaults(best, row)));
		if (overlap(measured)) {
			because.append("; the times of all rows overlap, so that the choice hardly matters here");
		}
		return because.toString();
	}

	/** What the budget was too small for. */
	private static String missing(List<Row> measured, int rows, int runs) {
		int fewest = measured.stream().mapToInt(Row::runs).min().orElse(0);
		if (measured.size() == rows && fewest >= runs) {
			return "";
		}
		return "; only "
				+ ((measured.size() < rows) ? measured.size() + " of " + rows + " rows ran"
						: fewest + " of " + runs + " runs of some rows took place")
				+ ": repeat the tuning with a larger budget";
	}

	private static String againstDefaults(Row best, Row defaults) {
		if (best.equals(defaults)) {
			return "; these are the defaults of this service";
		}
		return "; the defaults of this service took " + text(defaults)
				+ ((overlap(List.of(best, defaults))) ? ", and the times of both overlap" : "");
	}

	/** Whether the ranges of times of all rows have a time in common. */
	private static boolean overlap(List<Row> measured) {
		return measured.size() > 1 && measured.stream()
			.mapToDouble((row) -> seconds(row).min())
			.max()
			.orElseThrow() <= measured.stream().mapToDouble((row) -> seconds(row).max()).min().orElseThrow();
	}

	private static String text(Row row) {
		return String.format(Locale.ROOT, "%.3f s", seconds(row).median());
	}

	private static Seconds seconds(Row row) {
		return Objects.requireNonNull(row.seconds());
	}

}
