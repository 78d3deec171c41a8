package io.pipeset.benchmark.rival;

/**
 * Makes numbers of at least five digits cheaply, so that their making does not count in
 * the measurement.
 */
final class Digits {

	private static final int LEAST = 5;

	private Digits() {
	}

	static String of(int number) {
		String digits = String.valueOf(number);
		return (digits.length() < LEAST) ? "0".repeat(LEAST - digits.length()) + digits : digits;
	}

}
