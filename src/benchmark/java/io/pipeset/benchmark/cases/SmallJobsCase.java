package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.pipeset.benchmark.measure.Load;
import io.pipeset.benchmark.measure.Load.Result;
import io.pipeset.benchmark.measure.LoadRuns;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;
import org.jspecify.annotations.Nullable;

/** Small jobs from 16 callers at once, against stock pooled pipelines. */
public final class SmallJobsCase implements BenchmarkCase {

	private static final int CALLERS = 16;

	private static final int FIRST = 100;

	private static final double SECONDS = 2;

	private final @Nullable Path otherJar;

	/**
	 * Names another build of the service to take part.
	 * @param otherJar its jar, or {@code null} for none
	 */
	public SmallJobsCase(@Nullable Path otherJar) {
		this.otherJar = otherJar;
	}

	@Override
	public void run(Bench bench) {
		Table table = Figures.loadTable("Small generated jobs from 16 callers");
		try (JavaServer stock = new RivalServers(bench).stock();
				JavaServer other = (this.otherJar != null) ? bench.startOther(this.otherJar) : null) {
			for (int records : new int[] { FIRST, 1, 1000 }) {
				bench.console().say("Jobs of " + records + " from " + CALLERS + " callers");
				measure(bench, table, records, stock, other);
			}
		}
		bench.figures().add(table);
	}

	private static void measure(Bench bench, Table table, int records, JavaServer stock, @Nullable JavaServer other) {
		List<Turn> all = new ArrayList<>();
		for (String coalesce : Bench.COALESCE) {
			all.add(turn("pipeset-" + coalesce, "Pipeset, coalesce=" + coalesce, records, bench.pipeset(),
					"coalesce=" + coalesce));
		}
		if (other != null) {
			all.add(turn("other", "other build", records, other, "coalesce=auto"));
		}
		for (String policy : List.of("each", "close")) {
			all.add(turn("stock-" + policy, "executePipelined, pooled, flush " + policy, records, stock,
					"flush=" + policy));
		}
		long redisPid = bench.redis().pid();
		for (Turn turn : all) {
			if (records == FIRST) {
				turn.load().warmUp(redisPid);
			}
			turn.load().run(redisPid);
		}
		List<Turn> turns = new ArrayList<>(all);
		for (int run = 1; run <= bench.runs(); run++) {
			StringBuilder line = new StringBuilder("run " + run + " of " + bench.runs() + ":");
			for (Turn turn : turns) {
				bench.redis().flush();
				Result result = turn.load().run(redisPid);
				bench.requireSize(records);
				turn.runs().results().add(result);
				line.append(' ').append(turn.runs().id()).append(' ');
				line.append(Figures.number(result.rate(), 0)).append("/s");
			}
			Collections.rotate(turns, -1);
			bench.console().progress(line.toString());
		}
		all.forEach((turn) -> bench.figures().add(table, "small/" + records, turn.runs()));
	}

	private static Turn turn(String id, String name, int records, JavaServer server, String query) {
		return new Turn(new Load(server, "/pipeset/" + records + "?" + query, records, CALLERS, SECONDS),
				new LoadRuns(id, name + ", jobs of " + records));
	}

	/**
	 * One who takes part by turns.
	 *
	 * @param load the load
	 * @param runs its runs so far
	 */
	private record Turn(Load load, LoadRuns runs) {

	}

}
