package io.pipeset.record;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The options of SET that a record may carry, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/set/">SET</a>; the rest is refused by
 * name, before anything is sent.
 */
final class SetOptions {

	private SetOptions() {
	}

	static @Nullable String check(Record record) {
		boolean condition = false;
		boolean expiry = false;
		for (int i = 2; i < record.argumentCount(); i++) {
			String option = record.text(i).toUpperCase(Locale.ROOT);
			switch (option) {
				case "NX", "XX" -> {
					if (condition) {
						return "SET takes NX or XX, once";
					}
					condition = true;
				}
				case "KEEPTTL", "EX", "PX", "EXAT", "PXAT" -> {
					if (expiry) {
						return "SET takes one of EX, PX, EXAT, PXAT and KEEPTTL, once";
					}
					expiry = true;
					if (!option.equals("KEEPTTL")) {
						i++;
						if (i == record.argumentCount() || record.number(i) < 1) {
							return "SET's " + option + " takes a whole number of 1 or more";
						}
					}
				}
				default -> {
					return "SET's option '" + option + "' is not one that Pipeset sends;"
							+ " allowed are NX, XX, EX, PX, EXAT, PXAT and KEEPTTL";
				}
			}
		}
		return null;
	}

}
