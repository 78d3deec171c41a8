package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The vector of a VADD and its options, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/vadd/">VADD</a>.
 */
final class VectorOptions {

	private static final String[] FLAGS = { "CAS", "NOQUANT", "Q8", "BIN" };

	private static final String[] NUMBERS = { "EF", "M" };

	private VectorOptions() {
	}

	/**
	 * Reads {@code [REDUCE dim] (FP32 bytes | VALUES number value …) element [option …]}.
	 */
	static @Nullable String read(Record record) {
		int count = record.argumentCount();
		int at = 1;
		if (record.arguments().isWord(at, "REDUCE")) {
			if (record.number(at + 1) < 1) {
				return "VADD's REDUCE takes a whole number of 1 or more, not '" + record.excerpt(at + 1) + "'";
			}
			at += 2;
		}
		if (record.arguments().isWord(at, "FP32")) {
			at += 2;
		}
		else if (record.arguments().isWord(at, "VALUES") && at + 1 < count) {
			long values = record.number(at + 1);
			if (values < 1 || values > count - at - 3) {
				return "VADD's VALUES takes the number of values, then the values and the element, not '"
						+ record.excerpt(at + 1) + "' before " + (count - at - 2) + " arguments";
			}
			at += 2 + (int) values;
		}
		else {
			return "VADD takes FP32 or VALUES after its key, or after REDUCE, not '" + record.excerpt(at) + "'";
		}
		return (at < count) ? readOptions(record, at + 1) : "VADD takes an element after its vector";
	}

	private static @Nullable String readOptions(Record record, int from) {
		int at = from;
		while (at < record.argumentCount()) {
			boolean flag = isOne(record, at, FLAGS);
			boolean number = isOne(record, at, NUMBERS);
			if (!flag && !number && !record.arguments().isWord(at, "SETATTR")) {
				return "VADD's option '" + record.excerpt(at)
						+ "' is not supported; allowed are CAS, NOQUANT, Q8, BIN, EF, M and SETATTR";
			}
			boolean ends = !flag && at + 1 == record.argumentCount();
			if (ends || (number && record.number(at + 1) < 1)) {
				return "VADD's " + record.excerpt(at) + " takes "
						+ ((number) ? "a whole number of 1 or more" : "the attributes") + " after it";
			}
			at += (flag) ? 1 : 2;
		}
		return null;
	}

	private static boolean isOne(Record record, int argument, String[] words) {
		for (String word : words) {
			if (record.arguments().isWord(argument, word)) {
				return true;
			}
		}
		return false;
	}

}
