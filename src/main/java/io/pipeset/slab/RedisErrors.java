package io.pipeset.slab;

import java.util.Set;

/** The errors of Redis, each a line of text whose first word is its code. */
public final class RedisErrors {

	/** The code of a command that did not run because its transaction was discarded. */
	static final String EXECABORT = "EXECABORT";

	/** How Redis says why it discards a transaction that is not to blame. */
	private static final String BECAUSE = "because of: ";

	private static final Set<String> PASSING = Set.of("BUSY", "LOADING", "TRYAGAIN");

	private RedisErrors() {
	}

	/**
	 * The code of an error, or of the reason why Redis discarded a transaction.
	 * @param message the whole error
	 * @return one word
	 */
	public static String code(String message) {
		int because = (message.startsWith(EXECABORT)) ? message.indexOf(BECAUSE) : -1;
		return firstWord((because >= 0) ? message.substring(because + BECAUSE.length()) : message);
	}

	/**
	 * Whether an error says that the command did not run, and that it may run in a
	 * moment.
	 * @param code the error's code
	 * @return {@code false} where Redis would refuse the command again
	 */
	public static boolean isPassing(String code) {
		return PASSING.contains(code);
	}

	/** The error's own code, even of a transaction that was discarded for another. */
	static String firstWord(String message) {
		int space = message.indexOf(' ');
		return (space < 0) ? message : message.substring(0, space);
	}

}
