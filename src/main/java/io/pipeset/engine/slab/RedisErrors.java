package io.pipeset.engine.slab;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The codes of Redis's errors, and their meanings. A code is the first word of an error.
 * A code without a {@link Meaning} says only that Redis refused a command.
 */
public final class RedisErrors {

	/** The code of a command that did not run because Redis discarded its transaction. */
	static final String EXECABORT = "EXECABORT";

	/** Redis's text before the reason of an EXECABORT. */
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

	/** Codes that say that the service is not logged in, or cannot log in. */
	private static final Set<String> LOGIN = Set.of("NOAUTH", "WRONGPASS");

	private static final Pattern CODE = Pattern.compile("[A-Z][A-Z0-9_]*");

	private RedisErrors() {
	}

	/**
	 * The code of an error; for a discarded transaction the code of the reason.
	 * @param message the whole error
	 */
	public static String code(String message) {
		int because = (message.startsWith(EXECABORT)) ? message.indexOf(BECAUSE) : -1;
		return firstWord((because >= 0) ? message.substring(because + BECAUSE.length()) : message);
	}

	/**
	 * Whether a key has another type than a command needs, or a document no such path.
	 */
	static boolean isOfOtherData(String message) {
		return firstWord(message).equals("WRONGTYPE") || message.contains("wrong Redis type")
				|| message.contains("Path '");
	}

	/** Whether an error code has a meaning. */
	public static boolean means(String code, Meaning meaning) {
		return CODES.getOrDefault(meaning, Set.of()).contains(code);
	}

	/**
	 * Adds a remedy to an error if Redis's own text does not say which setting is wrong.
	 * @param error the whole error, or its code
	 * @param properties the prefix of the properties with the service's login
	 * @return one or two sentences, without the last full stop
	 */
	public static String withRemedy(String error, String properties) {
		String sentence = (error.endsWith(".")) ? error.substring(0, error.length() - 1) : error;
		return (LOGIN.contains(firstWord(sentence))) ? sentence + ". Check " + properties + "password, and "
				+ properties + "username unless it is the default user; that user has to be enabled" : sentence;
	}

	/**
	 * Adds a remedy to an error of a Redis server that jobs write to.
	 * @param error the whole error, or its code
	 * @return one or two sentences, without the last full stop
	 */
	public static String withRemedy(String error) {
		return withRemedy(error, "spring.data.redis.");
	}

	/**
	 * The error's own code, which is EXECABORT for a discarded transaction. Errors of
	 * modules and scripts may have no code. They count as ERR.
	 */
	static String firstWord(String message) {
		int space = message.indexOf(' ');
		String word = (space < 0) ? message : message.substring(0, space);
		return (CODE.matcher(word).matches()) ? word : "ERR";
	}

	/** What an error code says about commands and jobs. */
	public enum Meaning {

		/**
		 * The command did not run, and may run soon. A job with {@code retries} sends it
		 * again, and single calls are repeated.
		 */
		TRANSIENT,

		/**
		 * A cluster node did not run the command, because another node owns its slot, or
		 * because it has to wait. See {@link Redirect}.
		 */
		REDIRECTS,

		/**
		 * Redis will also refuse all later commands. The job stops after a whole batch of
		 * such errors.
		 */
		ENDS_JOB,

		/** Every command gets the error, whatever its keys. */
		OF_SERVER,

		/** The same record may succeed later. The report marks its item as retryable. */
		WORTH_POSTING_AGAIN

	}

}
