package io.pipeset.record;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The options of SET and MSETEX, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/set/">SET</a>. A record with any other
 * option is refused, and the message names the option.
 */
final class SetOptions {

	private static final String[] EXPIRIES = { "EX", "PX", "EXAT", "PXAT", "KEEPTTL" };

	private static final Set<String> IN_MILLIS = Set.of("PX", "PXAT");

	static final String KEEPTTL = "KEEPTTL";

	private SetOptions() {
	}

	/**
	 * Reads the options after a record's key and value, and sets the effect that they
	 * require.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	static @Nullable String read(Record record) {
		return read(record, 2);
	}

	/**
	 * Reads {@code numkeys key value … [NX | XX] [expiry]} of MSETEX. Its reply is 0 if
	 * its condition did not hold.
	 */
	static @Nullable String readMsetex(Record record) {
		long keys = record.number(0);
		int most = (record.argumentCount() - 1) / 2;
		return (keys >= 1 && keys <= most) ? read(record, 1 + 2 * (int) keys) : "MSETEX's number of keys must be 1 to "
				+ most + ", the number of pairs after it, not '" + record.excerpt(0) + "'";
	}

	private static @Nullable String read(Record record, int from) {
		boolean single = record.operation() == Operation.SET;
		boolean nx = false;
		boolean xx = false;
		boolean get = false;
		String expiry = null;
		int count = record.argumentCount();
		for (int i = from; i < count; i++) {
			if (record.arguments().isWord(i, "NX")) {
				nx = true;
			}
			else if (record.arguments().isWord(i, "XX")) {
				xx = true;
			}
			else if (single && record.arguments().isWord(i, "GET")) {
				get = true;
			}
			else {
				String option = expiry(record, i);
				if (option == null) {
					return record.operation() + "'s option '" + record.excerpt(i)
							+ "' is not supported; allowed are NX, XX, " + ((single) ? "GET, " : "")
							+ "EX, PX, EXAT, PXAT and KEEPTTL";
				}
				if (expiry != null && !expiry.equals(option)) {
					return record.operation() + " takes one of EX, PX, EXAT, PXAT and KEEPTTL, not both " + expiry
							+ " and " + option;
				}
				expiry = option;
				if (!expiry.equals(KEEPTTL)) {
					String problem = checkTime(record, ++i, option);
					if (problem != null) {
						return problem;
					}
				}
			}
		}
		if (nx && xx) {
			return record.operation() + " takes NX or XX, not both";
		}
		if (single && expiry == null) {
			record.ttl().expireByOption(record);
		}
		if (nx || xx || get) {
			record.effect((nx && get) ? Effect.GET_IF_ABSENT
					: (!single) ? Effect.COUNTED_ONCE : (nx || xx) ? Effect.CONDITIONAL : Effect.ONCE);
		}
		return null;
	}

	/**
	 * Checks the time after an option, or the time of SETEX or PSETEX by the rules of
	 * that option.
	 */
	static @Nullable String checkTime(Record record, int argument, String option) {
		long most = (IN_MILLIS.contains(option)) ? Expiry.MAX_MILLIS : Expiry.MAX_SECONDS;
		boolean given = argument < record.argumentCount();
		long time = (given) ? record.number(argument) : 0;
		boolean named = record.operation() != Operation.SETEX && record.operation() != Operation.PSETEX;
		// Fields may expire at once, keys may not.
		int least = (record.operation() == Operation.HSETEX) ? 0 : 1;
		if (given && time >= least && time <= most) {
			Expiry.warn(record, time, IN_MILLIS.contains(option), option.endsWith("AT"));
		}
		return (given && time >= least && time <= most) ? null
				: record.operation() + ((named) ? "'s " + option : "'s time") + " takes a whole number from " + least
						+ " to " + most + ((given) ? ", not '" + record.excerpt(argument) + "'" : " after it");
	}

	/** The option at a position if it sets an expiry; otherwise {@code null}. */
	static @Nullable String expiry(Record record, int argument) {
		for (String option : EXPIRIES) {
			if (record.arguments().isWord(argument, option)) {
				return option;
			}
		}
		return null;
	}

}
