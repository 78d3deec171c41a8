package io.pipeset.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The runs of one contender.
 *
 * @param contender the contender
 * @param records the commands in a run
 * @param all a sample for each run
 */
public record Samples(Contender contender, long records, List<Sample> all) {

	/**
	 * Begins without samples.
	 * @param contender the contender
	 * @param records the commands in a run
	 */
	public Samples(Contender contender, long records) {
		this(contender, records, new ArrayList<>());
	}

	/**
	 * The median of a figure.
	 * @param figure which
	 * @return the middle, or the mean of the two in the middle; NaN if nothing ran
	 */
	public double median(ToDoubleFunction<Sample> figure) {
		double[] sorted = sorted(figure);
		if (sorted.length == 0) {
			return Double.NaN;
		}
		int middle = sorted.length / 2;
		return (sorted.length % 2 == 1) ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
	}

	/**
	 * The median of a figure for a million commands.
	 * @param figure which
	 * @return the figure, scaled
	 */
	public double perMillion(ToDoubleFunction<Sample> figure) {
		return median(figure) * 1e6 / this.records;
	}

	/**
	 * The least of a figure.
	 * @param figure which
	 * @return the least; NaN if nothing ran
	 */
	public double least(ToDoubleFunction<Sample> figure) {
		double[] sorted = sorted(figure);
		return (sorted.length == 0) ? Double.NaN : sorted[0];
	}

	/**
	 * The most of a figure.
	 * @param figure which
	 * @return the most; NaN if nothing ran
	 */
	public double most(ToDoubleFunction<Sample> figure) {
		double[] sorted = sorted(figure);
		return (sorted.length == 0) ? Double.NaN : sorted[sorted.length - 1];
	}

	private double[] sorted(ToDoubleFunction<Sample> figure) {
		return this.all.stream().mapToDouble(figure).sorted().toArray();
	}

}
