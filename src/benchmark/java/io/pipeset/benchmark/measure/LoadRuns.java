package io.pipeset.benchmark.measure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

import io.pipeset.benchmark.measure.Load.Result;

/**
 * The runs of one load.
 *
 * @param id its part of a figure's name
 * @param name for people
 * @param results a result for each run
 */
public record LoadRuns(String id, String name, List<Result> results) {

	/**
	 * Begins without results.
	 * @param id its part of a figure's name
	 * @param name for people
	 */
	public LoadRuns(String id, String name) {
		this(id, name, new ArrayList<>());
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
