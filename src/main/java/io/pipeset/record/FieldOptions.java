package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The options of HSETEX, HEXPIRE and its kin, and the fields after them. Redis and Valkey
 * allow the same here: at most one condition, then FIELDS, a number and that many fields.
 */
final class FieldOptions {

	private static final String FIELDS = "FIELDS";

	private FieldOptions() {
	}

	/** Reads {@code [FNX | FXX] [expiry] FIELDS number field value …}. */
	static @Nullable String readSet(Record record) {
		boolean condition = false;
		boolean expiry = false;
		int at = 1;
		for (; at < record.argumentCount() && !record.arguments().isWord(at, FIELDS); at++) {
			String option = SetOptions.expiry(record, at);
			if (option == null) {
				if (!record.arguments().isWord(at, "FNX") && !record.arguments().isWord(at, "FXX")) {
					return "HSETEX's option '" + record.excerpt(at) + "' is not supported; allowed are"
							+ " FNX, FXX, EX, PX, EXAT, PXAT and KEEPTTL, and then FIELDS";
				}
				if (condition) {
					return "HSETEX takes FNX or FXX, once";
				}
				condition = true;
				record.effect(Effect.COUNTED_ONCE);
			}
			else {
				if (expiry) {
					return "HSETEX takes one of EX, PX, EXAT, PXAT and KEEPTTL, once";
				}
				expiry = true;
				String problem = (option.equals(SetOptions.KEEPTTL)) ? null
						: SetOptions.checkTime(record, ++at, option);
				if (problem != null) {
					return problem;
				}
			}
		}
		return checkFields(record, at, 2);
	}

	/** Reads {@code time [NX | XX | GT | LT] FIELDS number field …}. */
	static @Nullable String readExpire(Record record) {
		Operation operation = record.operation();
		boolean millis = operation == Operation.HPEXPIRE || operation == Operation.HPEXPIREAT;
		boolean timestamp = operation == Operation.HEXPIREAT || operation == Operation.HPEXPIREAT;
		long most = (millis) ? Expiry.MAX_MILLIS : Expiry.MAX_SECONDS;
		long time = record.number(1);
		if (time < 0 || time > most) {
			return operation + "'s " + ((millis) ? "milliseconds" : "seconds") + " must be a whole number from 0 to "
					+ most + ", not '" + record.excerpt(1) + "'";
		}
		Expiry.warn(record, time, millis, timestamp);
		int at = 2;
		if (Conditions.isExpireCondition(record, at)) {
			record.effect(Effect.FIELDS_ONCE);
			at++;
		}
		if (!record.arguments().isWord(at, FIELDS)) {
			return operation + "'s '" + record.excerpt(at) + "' is not supported; allowed are one of NX, XX,"
					+ " GT and LT, and then FIELDS";
		}
		return checkFields(record, at, 1);
	}

	/** Checks the number after FIELDS. */
	private static @Nullable String checkFields(Record record, int at, int argumentsPerField) {
		int rest = record.argumentCount() - at - 2;
		if (rest < argumentsPerField) {
			return record.operation() + " takes FIELDS, their number and "
					+ ((argumentsPerField == 1) ? "the fields" : "pairs of a field and a value") + " last";
		}
		return (rest % argumentsPerField == 0 && record.number(at + 1) == rest / argumentsPerField) ? null
				: record.operation() + "'s number of fields must match the "
						+ ((argumentsPerField == 1) ? "fields" : "pairs of a field and a value") + " after it, not '"
						+ record.excerpt(at + 1) + "' before " + rest + " arguments";
	}

}
