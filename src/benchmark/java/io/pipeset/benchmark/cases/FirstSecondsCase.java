package io.pipeset.benchmark.cases;

import io.pipeset.benchmark.measure.Load;
import io.pipeset.benchmark.measure.Load.Result;
import io.pipeset.benchmark.measure.LoadRuns;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;

/**
 * The first ten seconds of the service after it says that it is ready, against ten
 * seconds of the same process when it is warm.
 */
public final class FirstSecondsCase implements BenchmarkCase {

	private static final int CALLERS = 16;

	private static final int JOB = 100;

	private static final double SECONDS = 10;

	private static final double WARM_UP_SECONDS = 40;

	@Override
	public void run(Bench bench) {
		bench.stopPipeset();
		long redisPid = bench.redis().pid();
		LoadRuns first = new LoadRuns("first", "first ten seconds after readiness");
		LoadRuns warm = new LoadRuns("warm", "the same process, warm");
		bench.console().say("Jobs of " + JOB + " from " + CALLERS + " callers, right after the start");
		for (int run = 1; run <= bench.runs(); run++) {
			bench.redis().flush();
			try (JavaServer service = bench.startFresh()) {
				Load load = load(service, SECONDS);
				first.results().add(load.runFresh(redisPid));
				load.warmUp(redisPid);
				load(service, WARM_UP_SECONDS).run(redisPid);
				warm.results().add(load.run(redisPid));
			}
			bench.requireSize(JOB);
			bench.console()
				.progress("run " + run + " of " + bench.runs() + ": first " + last(first) + ", warm " + last(warm));
		}
		Table table = Figures.loadTable("Jobs of 100 from 16 callers, right after the start");
		bench.figures().add(table, "start", first);
		bench.figures().add(table, "start", warm);
		bench.figures().add(table);
	}

	private static Load load(JavaServer service, double seconds) {
		return new Load(service, "/pipeset/" + JOB, JOB, CALLERS, seconds);
	}

	private static String last(LoadRuns runs) {
		Result result = runs.results().get(runs.results().size() - 1);
		return Figures.number(result.rate(), 0) + "/s";
	}

}
