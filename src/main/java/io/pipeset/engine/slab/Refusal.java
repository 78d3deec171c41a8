package io.pipeset.engine.slab;

import java.util.regex.Pattern;

import io.pipeset.engine.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * An error that Redis answered to a command, parsed once.
 *
 * @param message the whole error
 * @param firstWord its own code
 * @param code its own code, or that of the reason why Redis discarded a transaction
 * @param redirect the redirection that it is; {@code null} for any other error
 */
public record Refusal(String message, String firstWord, String code, @Nullable Redirect redirect) {

	/** Redis's own words for errors that pass, which a script would hardly use itself. */
	private static final Pattern OF_REDIS = Pattern
		.compile("NOSCRIPT No matching script.*|(BUSY|LOADING) \\w+ is (busy|loading) .*|TRYAGAIN Multiple keys .*"
				+ "|READONLY You can't write against a read only .*");

	/** Reads an error. */
	public static Refusal of(String message) {
		String code = RedisErrors.code(message);
		Redirect redirect = (RedisErrors.means(code, Meaning.REDIRECTS)) ? Redirect.of(message) : null;
		return new Refusal(message, RedisErrors.firstWord(message), code, redirect);
	}

	public boolean means(Meaning meaning) {
		return RedisErrors.means(this.code, meaning);
	}

	/** Whether the error passes, and Redis has said so itself, and no script. */
	boolean isOfRedis() {
		return OF_REDIS.matcher(this.message).matches();
	}

	/** Whether Redis did not run a script because its user may not run or load it. */
	boolean isOfScripts() {
		return (this.firstWord.equals("NOSCRIPT") && isOfRedis())
				|| (this.firstWord.equals("NOPERM") && this.message.contains("'evalsha'"));
	}

	/** Whether Redis refused to write because it is a replica, or discarded for that. */
	boolean isOfReplica() {
		return this.code.equals("READONLY") && OF_REDIS.matcher(this.message).find();
	}

}
