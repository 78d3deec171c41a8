package io.pipeset.record;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The options of SET that a record may carry, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/set/">SET</a>. Any other option is
 * refused by its name, before anything is sent.
 */
final class SetOptions {

	private static final String[] EXPIRIES = { "EX", "PX", "EXAT", "PXAT", "KEEPTTL" };

	private static final Set<String> IN_MILLIS = Set.of("PX", "PXAT");

	private static final String KEEPTTL = "KEEPTTL";

	private SetOptions() {
	}

	/**
	 * Reads the options after a record's key and value, and sets the effect that they ask
	 * for.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	static @Nullable String read(Record record) {
		boolean nx = false;
		boolean xx = false;
		boolean get = false;
		String expiry = null;
		int count = record.argumentCount();
		for (int i = 2; i < count; i++) {
			if (record.arguments().isWord(i, "NX")) {
				nx = true;
			}
			else if (record.arguments().isWord(i, "XX")) {
				xx = true;
			}
			else if (record.arguments().isWord(i, "GET")) {
				get = true;
			}
			else {
				String option = expiry(record, i);
				if (option == null) {
					return "SET's option '" + record.excerpt(i) + "' is not one that Pipeset sends;"
							+ " allowed are NX, XX, GET, EX, PX, EXAT, PXAT and KEEPTTL";
				}
				if (expiry != null && !expiry.equals(option)) {
					return "SET takes one of EX, PX, EXAT, PXAT and KEEPTTL, not both " + expiry + " and " + option;
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
			return "SET takes NX or XX, not both";
		}
		if (expiry == null) {
			record.ttl().expireByOption(record);
		}
		if (nx || xx || get) {
			record.effect((nx && get) ? Effect.GET_IF_ABSENT : (nx || xx) ? Effect.CONDITIONAL : Effect.ONCE);
		}
		return null;
	}

	private static @Nullable String checkTime(Record record, int argument, String option) {
		long most = (IN_MILLIS.contains(option)) ? Expiry.MAX_MILLIS : Expiry.MAX_SECONDS;
		boolean given = argument < record.argumentCount();
		long time = (given) ? record.number(argument) : 0;
		return (time >= 1 && time <= most) ? null : "SET's " + option + " takes a whole number from 1 to " + most
				+ ((given) ? ", not '" + record.excerpt(argument) + "'" : " behind it");
	}

	private static @Nullable String expiry(Record record, int argument) {
		for (String option : EXPIRIES) {
			if (record.arguments().isWord(argument, option)) {
				return option;
			}
		}
		return null;
	}

}
