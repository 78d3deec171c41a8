package io.pipeset.engine.slab;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The errors of Redis, each a line of text whose first word is its code, and the codes
 * that mean more than that Redis refused a command.
 */
public final class RedisErrors {

	/** The code of a command that did not run because its transaction was discarded. */
	static final String EXECABORT = "EXECABORT";

	/** How Redis says why it discards a transaction that is not to blame. */
	private static final String BECAUSE = "because of: ";

	private static final Map<Meaning, Set<String>> CODES = new EnumMap<>(Map.of( //
			Meaning.TRANSIENT, Set.of("BUSY", "LOADING", "TRYAGAIN"), //
			Meaning.ENDS_JOB, Set.of("MASTERDOWN", "MISCONF", "NOAUTH", "NOREPLICAS", "OOM", "READONLY"), //
			Meaning.OF_SERVER,
			Set.of("ASK", "BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOAUTH", "NOREPLICAS",
					"OOM", "READONLY"), //
			Meaning.REDIRECTS, Set.of("ASK", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MOVED", "TRYAGAIN"), //
			Meaning.WORTH_POSTING_AGAIN, Set.of("ASK", "BUSY", "CLUSTERDOWN", EXECABORT, "LOADING", "MASTERDOWN",
					"MISCONF", "MOVED", "NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN")));

	/** The service's user is not logged in, and cannot be. */
	private static final Set<String> LOGIN = Set.of("NOAUTH", "WRONGPASS");

	private static final Pattern CODE = Pattern.compile("[A-Z][A-Z0-9_]*");

	private RedisErrors() {
	}

	/**
	 * The code of an error, or of the reason why Redis discarded a transaction.
	 * @param message the whole error
	 */
	public static String code(String message) {
		int because = (message.startsWith(EXECABORT)) ? message.indexOf(BECAUSE) : -1;
		return firstWord((because >= 0) ? message.substring(because + BECAUSE.length()) : message);
	}

	/** Whether an error code has a meaning. */
	public static boolean means(String code, Meaning meaning) {
		return CODES.getOrDefault(meaning, Set.of()).contains(code);
	}

	/**
	 * An error with its remedy, where Redis's own words do not tell which setting is
	 * wrong.
	 * @param error the whole error, or its code
	 * @param properties the beginning of the properties by which the service logs in
	 * @return a sentence or two, without the last full stop
	 */
	public static String withRemedy(String error, String properties) {
		String sentence = (error.endsWith(".")) ? error.substring(0, error.length() - 1) : error;
		return (LOGIN.contains(firstWord(sentence))) ? sentence + ". Check " + properties + "password, and "
				+ properties + "username unless it is the default user; that user has to be enabled" : sentence;
	}

	/**
	 * An error of a server with its remedy.
	 * @param error the whole error, or its code
	 * @return a sentence or two, without the last full stop
	 */
	public static String withRemedy(String error) {
		return withRemedy(error, "spring.data.redis.");
	}

	/**
	 * The error's own code, even of a transaction that was discarded for another. Errors
	 * of modules and scripts may have none.
	 */
	static String firstWord(String message) {
		int space = message.indexOf(' ');
		String word = (space < 0) ? message : message.substring(0, space);
		return (CODE.matcher(word).matches()) ? word : "ERR";
	}

	/** A meaning that some error codes have. */
	public enum Meaning {

		/**
		 * The command did not run, and the same one may run in a moment: a job with
		 * {@code retries} sends it again, and single calls are made again.
		 */
		TRANSIENT,

		/**
		 * A node of a cluster did not run the command, which belongs elsewhere or has to
		 * wait: {@link Redirect}.
		 */
		REDIRECTS,

		/** Redis will refuse all that follows, too: a job stops after a whole batch. */
		ENDS_JOB,

		/** Every command gets the error, whichever keys it has. */
		OF_SERVER,

		/** The same record may well succeed later: its item says so to the caller. */
		WORTH_POSTING_AGAIN

	}

}
