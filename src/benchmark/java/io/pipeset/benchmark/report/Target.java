package io.pipeset.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

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
		return Stream.of(sets(), others(), costs(), rivals(), cluster(), smallJobs(), sameAsBefore())
			.flatMap(List::stream)
			.toList();
	}

	private static List<Target> sets() {
		String generated = "set/generated/";
		String uploaded = "set/uploaded/";
		return List.of(
				ratio("1M SETs, generated, empty database: wall against redis-cli --pipe", 0.90,
						generated + "empty/generated-auto", generated + "empty/redis-cli"),
				ratio("1M SETs, generated, overwriting", 0.75, generated + "overwriting/generated-auto",
						generated + "overwriting/redis-cli"),
				ratio("1M SETs, NDJSON, empty database", 0.90, uploaded + "empty/ndjson-auto",
						uploaded + "empty/redis-cli"),
				ratio("1M SETs, NDJSON, overwriting", 0.75, uploaded + "overwriting/ndjson-auto",
						uploaded + "overwriting/redis-cli"),
				ratio("1M SETs, JSON, empty database", 1.05, uploaded + "empty/json-auto",
						uploaded + "empty/redis-cli"),
				ratio("1M SETs, JSON, overwriting", 1.05, uploaded + "overwriting/json-auto",
						uploaded + "overwriting/redis-cli"));
	}

	private static List<Target> others() {
		return List.of(ratio("1M LPUSHes to one key, NDJSON", 0.40, "push/LPUSH/ndjson-auto", "push/LPUSH/redis-cli"),
				ratio("1M SADDs to one key, NDJSON", 0.75, "push/SADD/ndjson-auto", "push/SADD/redis-cli"),
				ratio("1M RPOPs in jobs of 100,000, values returned", 0.60, "rpop/pipeset-auto", "rpop/redis-cli"),
				ratio("100,000 SETs of 1 KB, NDJSON", 1.05, "values/1k/ndjson-auto", "values/1k/redis-cli"),
				ratio("2,000 SETs of 100 KB, NDJSON", 1.20, "values/100k/ndjson-auto", "values/100k/redis-cli"),
				quotient("analysis of 1M keys: times the keys/s of redis-cli --memkeys", false, 2, 1,
						"analyses/memkeys" + SECONDS, "analyses/pipeset" + SECONDS));
	}

	private static List<Target> costs() {
		return List.of(
				atMost("JVM CPU seconds per million, generated", 0.20, 2,
						"set/generated/empty/generated-auto/serviceCpu"),
				atMost("JVM CPU seconds per million, NDJSON", 0.40, 2, "set/uploaded/empty/ndjson-auto/serviceCpu"),
				atMost("bytes allocated a record, generated", 16, 1,
						"set/generated/empty/generated-auto/bytesPerRecord"),
				atMost("bytes allocated a record, NDJSON", 300, 1, "set/uploaded/empty/ndjson-auto/bytesPerRecord"),
				quotient("10M NDJSON at -Xmx128m: peak RSS against the 1M run", true, 1.1, 2,
						"long/10m/ndjson-auto/peakRss", "long/1m/ndjson-auto/peakRss"),
				atMost("10M NDJSON at -Xmx128m: longest pause, ms", 20, 1, "long/10m/ndjson-auto/longestPause"));
	}

	private static List<Target> rivals() {
		return List.of(
				quotient("1M SETs: times faster than the first try with Boot's defaults", false, 8, 1,
						"rivals/first-try" + SECONDS, "rivals/generated-auto" + SECONDS),
				ratio("5 ms away: 1M SETs, NDJSON, against redis-cli", 1.15, "far/5/ndjson-auto", "far/5/redis-cli"),
				ratio("50 ms away: 1M SETs, NDJSON, against redis-cli", 1.5, "far/50/ndjson-auto", "far/50/redis-cli"),
				quotient("50 ms away: times faster than one by one", false, 1000, 0, "far/50/one-by-one" + SECONDS,
						"far/50/ndjson-auto" + SECONDS));
	}

	private static List<Target> cluster() {
		List<Target> targets = new ArrayList<>();
		for (String way : List.of("auto", "off")) {
			for (String database : List.of("empty", "overwriting")) {
				String key = "cluster/" + database + "/";
				String what = ", coalesce=" + way + ", " + database;
				targets.add(ratio("three masters" + what + ": wall against one server", 1.05, key + "three-" + way,
						key + "one-" + way));
				targets.add(quotient("three masters" + what + ": JVM CPU against one server", true, 1.5, 2,
						key + "three-" + way + "/serviceCpu", key + "one-" + way + "/serviceCpu"));
				targets.add(quotient("three masters" + what + ": times faster than Jedis's ClusterPipeline", false, 1.5,
						2, key + "jedis" + SECONDS, key + "three-" + way + SECONDS));
			}
		}
		return targets;
	}

	private static List<Target> smallJobs() {
		List<Target> targets = new ArrayList<>();
		smallJobs(targets, 1, 1.2);
		smallJobs(targets, 100, 3);
		smallJobs(targets, 1000, 5);
		targets.add(quotient("first ten seconds after readiness against warm, requests/s", false, 0.5, 2,
				"start/first/rate", "start/warm/rate"));
		return targets;
	}

	private static void smallJobs(List<Target> targets, int records, double times) {
		String key = "small/" + records + "/";
		String jobs = "jobs of " + Figures.number(records, 0) + ", 16 callers: ";
		targets.add(new Target(jobs + "times the requests/s of the better stock policy, pooled", false, times, 1,
				(figures) -> figures.get(key + "pipeset-auto/rate")
						/ Math.max(figures.get(key + "stock-each/rate"), figures.get(key + "stock-close/rate"))));
		targets.add(new Target(jobs + "p99 against the better stock policy, pooled", true, 1, 2,
				(figures) -> figures.get(key + "pipeset-auto/p99")
						/ Math.min(figures.get(key + "stock-each/p99"), figures.get(key + "stock-close/p99"))));
	}

	/** The noise of two runs of the same build is allowed for. */
	private static List<Target> sameAsBefore() {
		List<Target> targets = new ArrayList<>();
		for (String name : List.of("generated", "ndjson")) {
			for (String database : List.of("empty", "overwriting")) {
				for (String way : List.of("auto", "off")) {
					String key = "other/" + name + "/" + database + "/";
					targets.add(
							ratio("coalesce=" + way + ", " + name + ", " + database + ": wall against the build before",
									1.05, key + name + "-" + way, key + "other-" + way));
				}
			}
		}
		for (int records : new int[] { 1, 100, 1000 }) {
			targets.add(quotient("jobs of " + Figures.number(records, 0) + ": requests/s against the build before",
					false, 0.95, 2, "small/" + records + "/pipeset-auto/rate", "small/" + records + "/other/rate"));
		}
		return targets;
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
		return quotient(name, true, bound, 2, ours + SECONDS, theirs + SECONDS);
	}

	private static Target quotient(String name, boolean atMost, double bound, int decimals, String dividend,
			String divisor) {
		return new Target(name, atMost, bound, decimals, (figures) -> figures.get(dividend) / figures.get(divisor));
	}

	private static Target atMost(String name, double bound, int decimals, String figure) {
		return new Target(name, true, bound, decimals, (figures) -> figures.get(figure));
	}

	private static String plain(double bound) {
		return (bound == Math.rint(bound)) ? Figures.number(bound, 0) : String.format(Locale.ROOT, "%.2f", bound);
	}

}
