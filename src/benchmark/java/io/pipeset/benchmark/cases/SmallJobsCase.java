package io.pipeset.benchmark.cases;

import java.util.List;

import io.pipeset.benchmark.measure.Load;
import io.pipeset.benchmark.measure.Load.Result;
import io.pipeset.benchmark.measure.LoadRuns;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;

/** Small jobs from 16 callers at once, against stock pooled pipelines. */
public final class SmallJobsCase implements BenchmarkCase {

	private static final int CALLERS = 16;

	private static final int FIRST = 100;

	private static final double SECONDS = 1;

	@Override
	public void run(Bench bench) {
		Table table = new Table("Small generated jobs from 16 callers", "", "requests/s", "min – max", "p50 ms",
				"p99 ms", "CPU µs/request service", "Redis", "client", "bytes/request", "peak RSS MB");
		try (JavaServer stock = new RivalServers(bench).stock()) {
			for (int records : new int[] { FIRST, 1, 1000 }) {
				bench.console().say("Jobs of " + records + " from " + CALLERS + " callers");
				measure(bench, table, records, stock);
			}
		}
		bench.figures().add(table);
	}

	private static void measure(Bench bench, Table table, int records, JavaServer stock) {
		String path = "/pipeset/" + records;
		JavaServer pipeset = bench.pipeset();
		List<LoadRuns> all = List.of(
				new LoadRuns("pipeset", "Pipeset, jobs of " + records, pipeset,
						new Load(pipeset.uri(path), records, CALLERS, SECONDS)),
				new LoadRuns("stock-each", "executePipelined, pooled, flush each, of " + records, stock,
						new Load(stock.uri(path + "?flush=each"), records, CALLERS, SECONDS)),
				new LoadRuns("stock-close", "executePipelined, pooled, flush close, of " + records, stock,
						new Load(stock.uri(path + "?flush=close"), records, CALLERS, SECONDS)));
		for (LoadRuns runs : all) {
			if (records == FIRST) {
				runs.warmUp(bench.redis().pid());
			}
			runs.run(bench.redis().pid());
		}
		for (int run = 1; run <= bench.runs(); run++) {
			StringBuilder line = new StringBuilder("run " + run + " of " + bench.runs() + ":");
			for (LoadRuns runs : all) {
				bench.redis().flush();
				Result result = runs.run(bench.redis().pid());
				bench.requireSize(records);
				runs.results().add(result);
				line.append(' ').append(runs.id()).append(' ').append(Figures.number(result.rate(), 0)).append("/s");
			}
			bench.console().progress(line.toString());
		}
		all.forEach((runs) -> enter(bench.figures(), table, "small/" + records + "/", runs));
	}

	private static void enter(Figures figures, Table table, String key, LoadRuns runs) {
		double[] range = runs.range(Result::rate);
		table.add(runs.name(), Figures.number(runs.median(Result::rate), 0),
				Figures.number(range[0], 0) + " – " + Figures.number(range[1], 0),
				Figures.number(runs.median(Result::p50), 2), Figures.number(runs.median(Result::p99), 2),
				Figures.number(runs.median(Result::serviceCpu), 0), Figures.number(runs.median(Result::redisCpu), 0),
				Figures.number(runs.median(Result::clientCpu), 0), Figures.number(runs.median(Result::allocated), 0),
				Figures.number(runs.median(Result::peakRss), 0));
		figures.put(key + runs.id() + "/rate", runs.median(Result::rate));
		figures.put(key + runs.id() + "/p99", runs.median(Result::p99));
	}

}
