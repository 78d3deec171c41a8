package io.pipeset.engine.slab;

import java.util.Locale;
import java.util.regex.Pattern;

import io.pipeset.engine.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * An error reply of Redis, parsed once.
 *
 * @param message the whole error
 * @param firstWord the error's own code
 * @param code the error's own code; for a discarded transaction the code of the reason
 * @param redirect the redirection that the error is; {@code null} for any other error
 */
public record Refusal(String message, String firstWord, String code, @Nullable Redirect redirect) {

	/**
	 * Redis's own texts of transient errors. A script would hardly return the same text.
	 */
	private static final Pattern REDIS_TEXT = Pattern
		.compile("NOSCRIPT No matching script.*|(BUSY|LOADING) \\w+ is (busy|loading) .*|TRYAGAIN Multiple keys .*"
				+ "|READONLY You can't write against a read only .*");

	/** Parses an error. */
	public static Refusal of(String message) {
		String code = RedisErrors.code(message);
		Redirect redirect = (RedisErrors.means(code, Meaning.REDIRECTS)) ? Redirect.of(message) : null;
		return new Refusal(message, RedisErrors.firstWord(message), code, redirect);
	}

	public boolean means(Meaning meaning) {
		return RedisErrors.means(this.code, meaning);
	}

	/**
	 * Whether the text is Redis's own text of a transient error, so that no script made
	 * the error up.
	 */
	boolean isRedisText() {
		return REDIS_TEXT.matcher(this.message).matches();
	}

	/**
	 * Whether Redis did not run a script because its user may not run or load scripts.
	 */
	boolean refusesScript() {
		return (this.firstWord.equals("NOSCRIPT") && isRedisText())
				|| (refusesCommand() && this.message.toLowerCase(Locale.ROOT).contains("evalsha"));
	}

	/**
	 * Whether the user may not run the command, or the server does not have it: managed
	 * servers remove commands, and others rename them.
	 */
	public boolean refusesCommand() {
		return this.firstWord.equals("NOPERM") || this.message.startsWith("ERR unknown command");
	}

	/**
	 * Whether Redis refused a write because it is a replica, or discarded a transaction
	 * for that reason.
	 */
	boolean isReadOnly() {
		return this.code.equals("READONLY") && REDIS_TEXT.matcher(this.message).find();
	}

}
