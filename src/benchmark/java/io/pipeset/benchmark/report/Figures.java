package io.pipeset.benchmark.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

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
		Table table = new Table(race.title(), "", "runs", "s", "min – max", "ratio", "CPU s/M service", "Redis",
				"client", "bytes/record", "GC pauses", "longest ms", "peak RSS MB");
		double rival = results.get(0).median(Sample::seconds);
		for (Samples samples : results) {
			double seconds = samples.median(Sample::seconds);
			table.add(samples.contender().name(), String.valueOf(samples.all().size()), number(seconds, 2),
					number(samples.least(Sample::seconds), 2) + " – " + number(samples.most(Sample::seconds), 2),
					number(seconds / rival, 2), number(samples.perMillion(Sample::serviceCpu), 2),
					number(samples.perMillion(Sample::redisCpu), 2), number(samples.perMillion(Sample::clientCpu), 2),
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
