package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The options that EXPIRE (and PEXPIRE, EXPIREAT, PEXPIREAT), ZADD and GEOADD share. A
 * record with a condition is not repeatable, although repeating it alone might do
 * nothing: if several records are repeated, the later ones may have changed the data that
 * the condition checks.
 */
enum Conditions {

	NX, XX, GT, LT, CH, INCR;

	private static final Conditions[] OF_EXPIRE = { NX, XX, GT, LT };

	private static final Conditions[] OF_ZADD = values();

	private static final Conditions[] OF_GEOADD = { NX, XX, CH };

	/** Reads {@code time [NX | XX | GT | LT …]}. */
	static @Nullable String readExpire(Record record) {
		boolean millis = record.operation() == Operation.PEXPIRE || record.operation() == Operation.PEXPIREAT;
		long most = (millis) ? Expiry.MAX_MILLIS : Expiry.MAX_SECONDS;
		if (!record.arguments().isWithin(1, most)) {
			return record.operation() + "'s " + ((millis) ? "milliseconds" : "seconds")
					+ " must be a whole number from -" + most + " to " + most + ", not '" + record.excerpt(1) + "'";
		}
		boolean timestamp = record.operation() == Operation.EXPIREAT || record.operation() == Operation.PEXPIREAT;
		Expiry.warn(record, record.arguments().integer(1), millis, timestamp);
		int options = 0;
		for (int i = 2; i < record.argumentCount(); i++) {
			int option = find(OF_EXPIRE, record, i);
			if (option == 0) {
				return record.operation() + "'s option '" + record.excerpt(i) + "' is not supported;"
						+ " allowed are NX, XX, GT and LT";
			}
			options |= option;
		}
		return applyOptions(record, options);
	}

	/** Reads {@code [NX | XX] [GT | LT] [CH] [INCR] score member …}. */
	static @Nullable String readZadd(Record record) {
		int at = 1;
		int options = 0;
		for (int option; at < record.argumentCount() && (option = find(OF_ZADD, record, at)) != 0; at++) {
			options |= option;
		}
		int rest = record.argumentCount() - at;
		if (rest == 0 || rest % 2 != 0) {
			return "ZADD takes pairs of a score and a member after its key and options NX, XX, GT, LT, CH and INCR,"
					+ " not " + rest + " arguments";
		}
		if (has(options, INCR) && rest > 2) {
			return "ZADD's INCR takes one pair of a score and a member, not " + rest / 2;
		}
		for (int score = at; score < record.argumentCount(); score += 2) {
			Scores.warn(record, score);
		}
		return applyOptions(record, options);
	}

	/** Reads {@code [NX | XX] [CH] longitude latitude member …}. */
	static @Nullable String readGeoadd(Record record) {
		int at = 1;
		int options = 0;
		for (int option; at < record.argumentCount() && (option = find(OF_GEOADD, record, at)) != 0; at++) {
			options |= option;
		}
		int rest = record.argumentCount() - at;
		if (rest == 0 || rest % 3 != 0) {
			return "GEOADD takes triples of longitude, latitude and member after its key and options NX, XX and CH,"
					+ " not " + rest + " arguments";
		}
		return applyOptions(record, options);
	}

	/** Whether an argument is a condition of HEXPIRE. */
	static boolean isExpireCondition(Record record, int argument) {
		return find(OF_EXPIRE, record, argument) != 0;
	}

	private static int find(Conditions[] options, Record record, int argument) {
		for (Conditions option : options) {
			if (record.arguments().isWord(argument, option.name())) {
				return option.bit();
			}
		}
		return 0;
	}

	private static @Nullable String applyOptions(Record record, int options) {
		boolean unconditional = !has(options, NX) && !has(options, XX) && !has(options, GT) && !has(options, LT);
		if (unconditional) {
			if (has(options, INCR)) {
				record.effect(Effect.ONCE);
			}
			return null;
		}
		record.effect((has(options, INCR)) ? Effect.CONDITIONAL
				: (record.operation().expiresOnly()) ? Effect.COUNTED_ONCE : Effect.ONCE);
		if (has(options, NX)) {
			for (Conditions other : new Conditions[] { XX, GT, LT }) {
				if (has(options, other)) {
					return record.operation() + " takes NX or " + other + ", not both";
				}
			}
		}
		return (has(options, GT) && has(options, LT)) ? record.operation() + " takes GT or LT, not both" : null;
	}

	private static boolean has(int options, Conditions option) {
		return (options & option.bit()) != 0;
	}

	@SuppressWarnings("EnumOrdinal") // an EnumSet would be one object per record
	private int bit() {
		return 1 << ordinal();
	}

}
