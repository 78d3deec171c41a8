package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The grammar of operations with few options. Each check returns the problem, for the
 * caller to read, or {@code null}.
 */
final class ArgumentChecks {

	private static final int SHA_LENGTH = 40;

	private ArgumentChecks() {
	}

	static @Nullable String checkCount(Record record) {
		return (record.argumentCount() == 1 || record.number(1) >= 0) ? null
				: record.operation() + "'s count must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
	}

	static @Nullable String checkIncrement(Record record, int increment) {
		return (record.arguments().isInteger(increment)) ? null : record.operation()
				+ "'s increment must be a whole number of at most 64 bits, not '" + record.excerpt(increment) + "'";
	}

	static @Nullable String checkDecrement(Record record) {
		return (record.arguments().isWithin(1, Long.MAX_VALUE)) ? null
				: "DECRBY's decrement must be a whole number from -" + Long.MAX_VALUE + " to " + Long.MAX_VALUE
						+ ", not '" + record.excerpt(1) + "'";
	}

	static @Nullable String checkBit(Record record) {
		if (record.number(1) < 0) {
			return "SETBIT's offset must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
		}
		return (record.arguments().isWord(2, "0") || record.arguments().isWord(2, "1")) ? null
				: "SETBIT's bit must be 0 or 1, not '" + record.excerpt(2) + "'";
	}

	static @Nullable String checkOffset(Record record) {
		return (record.number(1) >= 0) ? null
				: "SETRANGE's offset must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
	}

	/**
	 * COPY's option DB is refused, because the report could not show the other database.
	 */
	static @Nullable String checkCopy(Record record) {
		for (int i = 2; i < record.argumentCount(); i++) {
			if (!record.arguments().isWord(i, "REPLACE")) {
				return "COPY's option '" + record.excerpt(i) + "' is not supported; allowed is REPLACE";
			}
		}
		return null;
	}

	static @Nullable String checkListEnds(Record record) {
		for (int end = 2; end < 4; end++) {
			if (!record.arguments().isWord(end, "LEFT") && !record.arguments().isWord(end, "RIGHT")) {
				return "LMOVE's ends of the two lists must be LEFT or RIGHT, not '" + record.excerpt(end) + "'";
			}
		}
		return null;
	}

	static @Nullable String checkInsert(Record record) {
		return (record.arguments().isWord(1, "BEFORE") || record.arguments().isWord(1, "AFTER")) ? null
				: "LINSERT takes BEFORE or AFTER after its key, not '" + record.excerpt(1) + "'";
	}

	static @Nullable String checkStore(Record record) {
		long keys = record.number(1);
		return (keys >= 1 && keys <= record.argumentCount() - 2) ? null
				: record.operation() + "'s number of keys must be 1 to " + (record.argumentCount() - 2)
						+ ", the arguments that follow it, not '" + record.excerpt(1) + "'";
	}

	static @Nullable String checkSamples(Record record) {
		return (record.argumentCount() % 3 == 0) ? null
				: "TS.MADD takes triples of a key, a timestamp and a value, not " + record.argumentCount()
						+ " arguments";
	}

	static @Nullable String checkScript(Record record) {
		if (record.length(0) != SHA_LENGTH || !record.arguments().isHexadecimal(0)) {
			return "EVALSHA takes a script's SHA1 first, 40 hexadecimal digits as POST /v1/scripts answers them,"
					+ " not '" + record.excerpt(0) + "'";
		}
		long keys = record.number(1);
		return (keys >= 0 && keys <= record.argumentCount() - 2) ? null : "EVALSHA's number of keys must be 0 to "
				+ (record.argumentCount() - 2) + ", the arguments that follow it, not '" + record.excerpt(1) + "'";
	}

}
