package io.pipeset.benchmark.measure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

import io.pipeset.benchmark.measure.Load.Result;
import io.pipeset.benchmark.process.JavaServer;

/**
 * The runs of one load.
 *
 * @param id its part of a figure's name
 * @param name for people
 * @param server who answers
 * @param load who calls
 * @param results one a run
 */
public record LoadRuns(String id, String name, JavaServer server, Load load, List<Result> results) {

	private static final double WARM_UP_BY_ONE_SECONDS = 12;

	private static final double WARM_UP_BY_ALL_SECONDS = 6;

	/**
	 * Begins with none.
	 * @param id its part of a figure's name
	 * @param name for people
	 * @param server who answers
	 * @param load who calls
	 */
	public LoadRuns(String id, String name, JavaServer server, Load load) {
		this(id, name, server, load, new ArrayList<>());
	}

	/**
	 * Lets the server get warm: many callers leave its compiler no time, and few do not
	 * show it all that is hot.
	 * @param redisPid the process of Redis
	 */
	public void warmUp(long redisPid) {
		new Load(this.load.uri(), this.load.applied(), 1, WARM_UP_BY_ONE_SECONDS).run(this.server, redisPid);
		new Load(this.load.uri(), this.load.applied(), this.load.callers(), WARM_UP_BY_ALL_SECONDS).run(this.server,
				redisPid);
	}

	/**
	 * Runs it once.
	 * @param redisPid the process of Redis
	 * @return what the callers met
	 */
	public Result run(long redisPid) {
		return this.load.run(this.server, redisPid);
	}

	/**
	 * The median of a figure.
	 * @param figure which
	 * @return the one in the middle
	 */
	public double median(ToDoubleFunction<Result> figure) {
		double[] sorted = this.results.stream().mapToDouble(figure).sorted().toArray();
		return sorted[sorted.length / 2];
	}

	/**
	 * The least and the most of a figure.
	 * @param figure which
	 * @return two numbers
	 */
	public double[] range(ToDoubleFunction<Result> figure) {
		double[] sorted = this.results.stream().mapToDouble(figure).sorted().toArray();
		return new double[] { Arrays.stream(sorted).min().orElse(Double.NaN),
				Arrays.stream(sorted).max().orElse(Double.NaN) };
	}

}
