package io.pipeset.benchmark.rival;

/**
 * Numbers of at least five digits, made cheaply, so that nobody measures their making.
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
