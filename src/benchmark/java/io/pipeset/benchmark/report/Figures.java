package io.pipeset.benchmark.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.pipeset.benchmark.measure.Load.Result;
import io.pipeset.benchmark.measure.LoadRuns;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.measure.Sample;
import io.pipeset.benchmark.measure.Samples;

/** All results: tables to read, and single figures by name. */
public final class Figures {

	private final List<Table> tables = new ArrayList<>();

	private final Map<String, Double> byName = new LinkedHashMap<>();

	/**
	 * Enters a race, its contenders compared with the first.
	 * @param race the race
	 * @param results its samples
	 */
	public void add(Race race, List<Samples> results) {
		Table table = new Table(race.title(), "", "runs", "s", "min – max", "ratio", "Redis CPU s/M", "ratio",
				"service CPU s/M", "client CPU s/M", "bytes/record", "GC pauses", "longest ms", "peak RSS MB");
		double rival = results.get(0).median(Sample::seconds);
		double rivalCpu = results.get(0).perMillion(Sample::redisCpu);
		for (Samples samples : results) {
			double seconds = samples.median(Sample::seconds);
			double redisCpu = samples.perMillion(Sample::redisCpu);
			table.add(samples.contender().name(), String.valueOf(samples.all().size()), number(seconds, 2),
					number(samples.least(Sample::seconds), 2) + " – " + number(samples.most(Sample::seconds), 2),
					number(seconds / rival, 2), number(redisCpu, 2), number(redisCpu / rivalCpu, 2),
					number(samples.perMillion(Sample::serviceCpu), 2), number(samples.perMillion(Sample::clientCpu), 2),
					number(samples.median(Sample::allocated) / samples.records(), 1),
					number(samples.median(Sample::pauses), 0), number(samples.most(Sample::longestPause), 1),
					number(samples.most(Sample::peakRss), 0));
			String name = race.key() + "/" + samples.contender().id() + "/";
			put(name + "seconds", seconds);
			put(name + "serviceCpu", samples.perMillion(Sample::serviceCpu));
			put(name + "bytesPerRecord", samples.median(Sample::allocated) / samples.records());
			put(name + "longestPause", samples.most(Sample::longestPause));
			put(name + "peakRss", samples.most(Sample::peakRss));
		}
		add(table);
	}

	/**
	 * Begins a table of loads.
	 * @param title the title
	 * @return a table without rows
	 */
	public static Table loadTable(String title) {
		return new Table(title, "", "requests/s", "min – max", "p50 ms", "p99 ms", "CPU µs/request service", "Redis",
				"client", "bytes/request", "peak RSS MB");
	}

	/**
	 * Enters a load.
	 * @param table a table of loads
	 * @param key the first part of its figures' names
	 * @param runs its runs
	 */
	public void add(Table table, String key, LoadRuns runs) {
		double[] range = runs.range(Result::rate);
		table.add(runs.name(), number(runs.median(Result::rate), 0), number(range[0], 0) + " – " + number(range[1], 0),
				number(runs.median(Result::p50), 2), number(runs.median(Result::p99), 2),
				number(runs.median(Result::serviceCpu), 0), number(runs.median(Result::redisCpu), 0),
				number(runs.median(Result::clientCpu), 0), number(runs.median(Result::allocated), 0),
				number(runs.median(Result::peakRss), 0));
		put(key + "/" + runs.id() + "/rate", runs.median(Result::rate));
		put(key + "/" + runs.id() + "/p99", runs.median(Result::p99));
	}

	/**
	 * Adds a table of another kind.
	 * @param table the table
	 */
	public void add(Table table) {
		this.tables.add(table);
	}

	public void put(String name, double value) {
		this.byName.put(name, value);
	}

	/**
	 * A single figure.
	 * @param name the name of the figure
	 * @return the figure, or NaN if it was not measured
	 */
	public double get(String name) {
		return this.byName.getOrDefault(name, Double.NaN);
	}

	public List<Table> tables() {
		return this.tables;
	}

	/**
	 * Writes a number.
	 * @param value the number
	 * @param decimals its digits after the point
	 * @return the text, a dash for NaN
	 */
	public static String number(double value, int decimals) {
		return (Double.isNaN(value)) ? "–" : String.format(Locale.ROOT, "%,." + decimals + "f", value);
	}

}
