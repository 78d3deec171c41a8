package io.pipeset.keyspace.tuning;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

import io.pipeset.keyspace.tuning.TuningReport.Row;
import io.pipeset.keyspace.tuning.TuningReport.Seconds;
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

	private static final Comparator<Row> BEST_FIRST = Comparator.<Row>comparingInt((row) -> row.settings().batchSize())
		.thenComparingInt((row) -> row.settings().concurrency())
		.thenComparingDouble((row) -> seconds(row).median());

	/**
	 * Chooses a row.
	 * @param rows the rows of the grid, measured or not
	 * @param settings the records of a run, and how often each row should run
	 * @param defaultValue the default settings of jobs, to compare the choice with
	 */
	static Recommendation of(List<Row> rows, TuningSettings settings, RowSettings defaultValue) {
		List<Row> measured = rows.stream().filter((row) -> row.seconds() != null).toList();
		if (measured.isEmpty()) {
			return new Recommendation(null, "no row was measured");
		}
		Row fastest = measured.stream().min(Comparator.comparingDouble((row) -> seconds(row).median())).orElseThrow();
		double limit = seconds(fastest).median() * TOLERANCE;
		Row best = measured.stream().filter((row) -> seconds(row).median() <= limit).min(BEST_FIRST).orElse(fastest);
		RowSettings defaults = defaultValue.effective(settings.records());
		String because = reason(best, fastest) + measured.stream()
			.filter((row) -> row.settings().effective(settings.records()).equals(defaults))
			.findFirst()
			.map((row) -> (row.equals(best)) ? "; the defaults of this service do the same"
					: "; the defaults of this service took " + text(row)
							+ ((overlap(best, row)) ? ", and the times of both overlap" : ""))
			.orElse("");
		return new Recommendation(best.settings(),
				because + noise(best, measured) + ((rows.stream().anyMatch((row) -> row.runs() < settings.runs()))
						? "; not all runs took place: repeat the tuning with a larger budget" : ""));
	}

	private static String reason(Row best, Row fastest) {
		return (best.equals(fastest))
				? "the fastest row, with " + text(best)
						+ ", and no row within 5 % of it has smaller batches, or as small ones and fewer lanes"
				: "within 5 % of the fastest row, with the smallest batches and then the fewest lanes: " + text(best)
						+ " against " + text(fastest) + " with " + fastest.settings();
	}

	/**
	 * How certain the choice is. Rows that are clearly slower or faster say nothing about
	 * that, so only the rows whose times overlap with those of the choice count.
	 */
	private static String noise(Row best, List<Row> measured) {
		List<Row> alike = measured.stream().filter((row) -> overlap(best, row)).toList();
		if (alike.size() == 1) {
			return "";
		}
		double runs = max(alike, (row) -> seconds(row).max() - seconds(row).min());
		double rows = max(alike, (row) -> seconds(row).median()) + max(alike, (row) -> -seconds(row).median());
		return "; its times overlap with those of " + (alike.size() - 1) + " of " + (measured.size() - 1)
				+ " other rows, "
				+ ((runs > rows) ? String.format(Locale.ROOT,
						"and the runs of one row differ by up to %.3f s, these rows by %.3f s: the choice between them"
								+ " may be noise, so repeat the tuning with more runs or records",
						runs, rows) : "so that the choice between them hardly matters here");
	}

	private static boolean overlap(Row one, Row other) {
		return seconds(one).min() <= seconds(other).max() && seconds(other).min() <= seconds(one).max();
	}

	private static double max(List<Row> rows, ToDoubleFunction<Row> figure) {
		return rows.stream().mapToDouble(figure).max().orElse(0);
	}

	private static String text(Row row) {
		return String.format(Locale.ROOT, "%.3f s", seconds(row).median());
	}

	private static Seconds seconds(Row row) {
		return Objects.requireNonNull(row.seconds());
	}

}
