package io.pipeset.benchmark.report;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A target that the service is to reach.
 *
 * @param name the name of the figure that is measured
 * @param atMost whether the bound is an upper one
 * @param bound the bound
 * @param decimals the decimals to be shown
 * @param measured finds the figure
 */
public record Target(String name, boolean atMost, double bound, int decimals, ToDoubleFunction<Figures> measured) {

	private static final String SECONDS = "/seconds";

	/**
	 * All targets.
	 * @return in their order in the document
	 */
	public static List<Target> all() {
		return List.of(
				ratio("1M SETs, generated, empty database: wall against redis-cli --pipe", 1.05,
						"set/generated/empty/generated", "set/generated/empty/redis-cli"),
				ratio("1M SETs, generated, overwriting", 1.05, "set/generated/overwriting/generated",
						"set/generated/overwriting/redis-cli"),
				ratio("1M SETs, NDJSON, empty database", 1.05, "set/uploaded/empty/ndjson",
						"set/uploaded/empty/redis-cli"),
				ratio("1M SETs, NDJSON, overwriting", 1.05, "set/uploaded/overwriting/ndjson",
						"set/uploaded/overwriting/redis-cli"),
				ratio("1M SETs, JSON, empty database", 1.05, "set/uploaded/empty/json", "set/uploaded/empty/redis-cli"),
				ratio("1M SETs, JSON, overwriting", 1.05, "set/uploaded/overwriting/json",
						"set/uploaded/overwriting/redis-cli"),
				atMost("JVM CPU seconds per million, generated", 0.25, 2, "set/generated/empty/generated/serviceCpu"),
				atMost("JVM CPU seconds per million, NDJSON", 0.45, 2, "set/uploaded/empty/ndjson/serviceCpu"),
				atMost("bytes allocated a record, generated", 16, 1, "set/generated/empty/generated/bytesPerRecord"),
				atMost("bytes allocated a record, NDJSON", 300, 1, "set/uploaded/empty/ndjson/bytesPerRecord"),
				new Target("1M SETs: times faster than the first try with Boot's defaults", false, 8, 1,
						(figures) -> figures.get("rivals/first-try/seconds") / figures.get("rivals/generated/seconds")),
				new Target("10M NDJSON at -Xmx128m: peak RSS against the 1M run", true, 1.1, 2,
						(figures) -> figures.get("long/10m/ndjson/peakRss") / figures.get("long/1m/ndjson/peakRss")),
				atMost("10M NDJSON at -Xmx128m: longest pause, ms", 20, 1, "long/10m/ndjson/longestPause"),
				ratio("5 ms away: 1M SETs, NDJSON, against redis-cli", 1.15, "far/5/ndjson", "far/5/redis-cli"),
				ratio("50 ms away: 1M SETs, NDJSON, against redis-cli", 1.5, "far/50/ndjson", "far/50/redis-cli"),
				new Target("50 ms away: times faster than one by one", false, 1000, 0,
						(figures) -> figures.get("far/50/one-by-one/seconds") / figures.get("far/50/ndjson/seconds")),
				new Target("jobs of 100, 16 callers: times the requests/s of the better stock policy, pooled", false, 4,
						1,
						(figures) -> figures.get("small/100/pipeset/rate") / Math
							.max(figures.get("small/100/stock-each/rate"), figures.get("small/100/stock-close/rate"))),
				new Target("jobs of 100, 16 callers: p99 against the better stock policy, pooled", true, 1, 2,
						(figures) -> figures.get("small/100/pipeset/p99") / Math
							.min(figures.get("small/100/stock-each/p99"), figures.get("small/100/stock-close/p99"))),
				ratio("1M RPOPs in jobs of 100,000: wall against redis-cli --pipe", 1.3, "rpop/pipeset",
						"rpop/redis-cli"));
	}

	/**
	 * Holds figures against all targets.
	 * @param figures the figures
	 * @return the verdicts
	 */
	public static Table judge(Figures figures) {
		Table table = new Table("Targets", "", "target", "measured", "");
		for (Target target : all()) {
			double value = target.measured().applyAsDouble(figures);
			boolean met = (target.atMost()) ? value <= target.bound() : value >= target.bound();
			table.add(target.name(), ((target.atMost()) ? "≤ " : "≥ ") + plain(target.bound()),
					Figures.number(value, target.decimals()),
					(Double.isNaN(value)) ? "not measured" : (met) ? "met" : "**missed**");
		}
		return table;
	}

	private static Target ratio(String name, double bound, String ours, String theirs) {
		return new Target(name, true, bound, 2,
				(figures) -> figures.get(ours + SECONDS) / figures.get(theirs + SECONDS));
	}

	private static Target atMost(String name, double bound, int decimals, String figure) {
		return new Target(name, true, bound, decimals, (figures) -> figures.get(figure));
	}

	private static String plain(double bound) {
		return (bound == Math.rint(bound)) ? Figures.number(bound, 0) : String.valueOf(bound);
	}

}
