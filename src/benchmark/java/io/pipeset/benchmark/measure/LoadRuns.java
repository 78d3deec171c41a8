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
 * @param server the server that answers
 * @param load the callers
 * @param results a result for each run
 */
public record LoadRuns(String id, String name, JavaServer server, Load load, List<Result> results) {

	private static final double WARM_UP_BY_ONE_SECONDS = 12;

	private static final double WARM_UP_BY_ALL_SECONDS = 6;

	/**
	 * Begins without results.
	 * @param id its part of a figure's name
	 * @param name for people
	 * @param server the server that answers
	 * @param load the callers
	 */
	public LoadRuns(String id, String name, JavaServer server, Load load) {
		this(id, name, server, load, new ArrayList<>());
	}

	/**
	 * Warms the server up with one caller and then with all: many leave its compiler no
	 * time, and few do not reach all hot code.
	 * @param redisPid the process of Redis
	 */
	public void warmUp(long redisPid) {
		new Load(this.load.uri(), this.load.applied(), 1, WARM_UP_BY_ONE_SECONDS).run(this.server, redisPid);
		new Load(this.load.uri(), this.load.applied(), this.load.callers(), WARM_UP_BY_ALL_SECONDS).run(this.server,
				redisPid);
	}

	/**
	 * Runs the load once.
	 * @param redisPid the process of Redis
	 * @return the result of all callers
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
