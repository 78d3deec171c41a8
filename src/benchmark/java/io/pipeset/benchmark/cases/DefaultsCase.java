package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.measure.Sample;
import io.pipeset.benchmark.measure.Samples;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.DelayProxy;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;

/** Every combination of possible defaults, at three distances and value sizes. */
public final class DefaultsCase implements BenchmarkCase {

	private static final int WARM_UPS = 1;

	private static final int MANY_BYTES = 10_000;

	private final Grid grid;

	private final Map<String, List<Line>> tables = new LinkedHashMap<>();

	/**
	 * Names the combinations.
	 * @param grid the values of each setting
	 */
	public DefaultsCase(Grid grid) {
		this.grid = grid;
	}

	@Override
	public void run(Bench bench) {
		bench.stopPipeset();
		for (String window : this.grid.windows()) {
			String[] limits = window.split("/", 2);
			String[] arguments = { "--pipeset.pipeline.window-commands=" + limits[0],
					"--pipeset.pipeline.window-bytes=" + limits[1] };
			try (DelayProxy proxy = DelayProxy.open(bench.redis().address().port())) {
				Address through = bench.redis().address().through(proxy.port());
				try (JavaServer near = bench.start("pipeset-near", bench.jvm(), bench.redis().address(), arguments);
						JavaServer far = bench.start("pipeset-far", bench.jvm(), through, arguments)) {
					for (int valueBytes : this.grid.valueBytes()) {
						try (Dataset data = bench.dataset("defaults", new Shape.Set(valueBytes), records(valueBytes))) {
							for (int rtt : this.grid.roundTrips()) {
								proxy.roundTrip(rtt);
								race(bench, data, new Cell(window, valueBytes, rtt), (rtt == 0) ? near : far,
										(rtt == 0) ? bench.redis().address() : through);
							}
						}
					}
				}
			}
		}
		this.tables.forEach((title, lines) -> bench.figures().add(table(title, lines)));
	}

	private void race(Bench bench, Dataset data, Cell cell, JavaServer service, Address address) {
		List<Contender> contenders = new ArrayList<>();
		contenders.add(bench.redisCli(data, address));
		for (String query : this.grid.queries()) {
			contenders.add(bench.upload(data, Form.NDJSON, service, query));
		}
		Race race = new Race("defaults", cell.title(data.records()) + ", window " + cell.window(), data.records(),
				bench.redis()::flush, () -> bench.requireSize(data.records()), contenders);
		List<Samples> results = race.run(bench.meter(), new Race.Rounds(WARM_UPS, Math.max(1, bench.runs() / 2), true),
				bench.console());
		double rival = results.get(0).median(Sample::seconds);
		List<Line> lines = this.tables.computeIfAbsent(cell.title(data.records()), (title) -> new ArrayList<>());
		lines.add(new Line("–", "redis-cli --pipe", results.get(0), rival));
		for (int i = 1; i < results.size(); i++) {
			lines.add(new Line(cell.window(), this.grid.queries().get(i - 1), results.get(i), rival));
		}
	}

	private static Table table(String title, List<Line> lines) {
		Table table = new Table(title + ", fastest first", "settings", "window", "s", "ratio to redis-cli",
				"service CPU s/M", "bytes/record", "longest pause ms", "peak RSS MB");
		lines.stream().sorted(Comparator.comparingDouble(Line::ratio)).forEach((line) -> {
			Samples samples = line.samples();
			table.add(line.settings().replace('&', ' '), line.window(), Figures.number(line.seconds(), 3),
					Figures.number(line.ratio(), 2), Figures.number(samples.perMillion(Sample::serviceCpu), 2),
					Figures.number(samples.median(Sample::allocated) / samples.records(), 0),
					Figures.number(samples.most(Sample::longestPause), 1),
					Figures.number(samples.most(Sample::peakRss), 0));
		});
		return table;
	}

	private static long records(int valueBytes) {
		return (valueBytes > MANY_BYTES) ? 1_000 : (valueBytes > 100) ? 50_000 : 300_000;
	}

	/**
	 * The settings that a request cannot name.
	 *
	 * @param window the window's commands and bytes
	 * @param valueBytes the size of values
	 * @param rtt the distance in milliseconds
	 */
	private record Cell(String window, int valueBytes, int rtt) {

		String title(long records) {
			return String.format("%,d SETs of %,d bytes, %s", records, this.valueBytes,
					(this.rtt == 0) ? "near" : this.rtt + " ms away");
		}

	}

	/**
	 * A line of a table.
	 *
	 * @param window of the service
	 * @param settings of the requests
	 * @param samples the samples of the service
	 * @param rival the seconds of redis-cli in the same rounds
	 */
	private record Line(String window, String settings, Samples samples, double rival) {

		double seconds() {
			return this.samples.median(Sample::seconds);
		}

		double ratio() {
			return seconds() / this.rival;
		}

	}

}
