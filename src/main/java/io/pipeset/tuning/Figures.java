package io.pipeset.tuning;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** Medians and roundings of measured figures. */
final class Figures {

	private Figures() {
	}

	/** The middle value, or the mean of the two in the middle, of one value or more. */
	static double median(List<Double> values) {
		double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
	}

	/** The median of the values that are known; {@code null} if none is. */
	static @Nullable Double medianOfKnown(List<@Nullable Double> values) {
		List<Double> known = values.stream().filter(Objects::nonNull).map(Objects::requireNonNull).toList();
		return (known.isEmpty()) ? null : rounded(median(known));
	}

	/** A figure with three decimals of a thousandth, as clocks give it. */
	static double rounded(double value) {
		return Math.round(value * 1e6) / 1e6;
	}

	static long perSecond(long records, double seconds) {
		return Math.round(records / Math.max(seconds, 1e-6));
	}

}
