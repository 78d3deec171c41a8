package io.pipeset.tuning;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** Medians of measurements, and rounding. */
final class Figures {

	private Figures() {
	}

	/**
	 * The median of at least one value. Of an even number, the mean of the middle two.
	 */
	static double median(List<Double> values) {
		double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
	}

	/** The median of the non-null values; {@code null} if there is none. */
	static @Nullable Double medianOfKnown(List<@Nullable Double> values) {
		List<Double> known = values.stream().filter(Objects::nonNull).map(Objects::requireNonNull).toList();
		return (known.isEmpty()) ? null : rounded(median(known));
	}

	/** Rounds to six decimals: seconds to microseconds, milliseconds to nanoseconds. */
	static double rounded(double value) {
		return Math.round(value * 1e6) / 1e6;
	}

	static long perSecond(long records, double seconds) {
		return Math.round(records / Math.max(seconds, 1e-6));
	}

}
