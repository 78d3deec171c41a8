package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/** The options of RESTORE, which restores a value that DUMP has serialized. */
final class RestoreOptions {

	private RestoreOptions() {
	}

	/**
	 * Reads {@code milliseconds value [REPLACE] [ABSTTL] [IDLETIME seconds | FREQ
	 * number]}. With REPLACE a repeat leaves the same data.
	 */
	static @Nullable String read(Record record) {
		if (record.number(1) < 0 || record.number(1) > Expiry.MAX_MILLIS) {
			return "RESTORE's milliseconds must be a whole number from 0, for a key that does not expire, to "
					+ Expiry.MAX_MILLIS + ", not '" + record.excerpt(1) + "'";
		}
		boolean aged = false;
		for (int i = 3; i < record.argumentCount(); i++) {
			if (record.arguments().isWord(i, "REPLACE")) {
				record.effect(Effect.REPEATABLE);
			}
			else if (!aged && (record.arguments().isWord(i, "IDLETIME") || record.arguments().isWord(i, "FREQ"))) {
				aged = true;
				long most = (record.arguments().isWord(i, "FREQ")) ? 255 : Expiry.MAX_SECONDS;
				if (++i == record.argumentCount() || record.number(i) < 0 || record.number(i) > most) {
					return "RESTORE's " + record.excerpt(i - 1) + " takes a whole number from 0 to " + most
							+ " after it";
				}
			}
			else if (!record.arguments().isWord(i, "ABSTTL")) {
				return "RESTORE's option '" + record.excerpt(i) + "' is not supported; allowed are REPLACE,"
						+ " ABSTTL, and IDLETIME or FREQ";
			}
		}
		return null;
	}

}
