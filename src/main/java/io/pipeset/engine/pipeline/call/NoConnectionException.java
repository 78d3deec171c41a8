package io.pipeset.engine.pipeline.call;

import java.security.GeneralSecurityException;

import javax.net.ssl.SSLException;

import io.lettuce.core.RedisCommandExecutionException;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * There was no connection to Redis, so nothing was written. Its message is a sentence
 * that names the address.
 */
public final class NoConnectionException extends Exception {

	/** How often to try in a row while no failure tells its reason. */
	public static final int MOST_UNHEARD = 20;

	/** The one error in a handshake that goes away by itself and has no code. */
	private static final String TOO_MANY = "ERR max number of clients reached";

	/** How Lettuce says that a handshake had failed before Lettuce asked why. */
	private static final String UNHEARD = "RedisHandshakeHandler not registered";

	private final boolean refusal;

	private final boolean certificates;

	/**
	 * There was no connection, and the server was not asked for one.
	 * @param why the end of a sentence
	 */
	public NoConnectionException(String address, String why) {
		super("No connection to Redis at " + address + ": " + why);
		this.refusal = false;
		this.certificates = false;
	}

	public NoConnectionException(String address, Throwable cause) {
		super("No connection to Redis at " + address + ": " + why(cause), cause);
		this.refusal = cause instanceof RedisCommandExecutionException && isRefusal(why(cause));
		this.certificates = isOfTls(cause);
	}

	private static String why(Throwable cause) {
		String message = cause.getMessage();
		if (isOfTls(cause)) {
			return "TLS failed, " + message;
		}
		return (message != null) ? RedisErrors.withRemedy(message) : cause.getClass().getSimpleName();
	}

	private static boolean isOfTls(Throwable cause) {
		return cause instanceof SSLException || cause instanceof GeneralSecurityException;
	}

	private static boolean isRefusal(String error) {
		return !RedisErrors.means(RedisErrors.code(error), Meaning.TRANSIENT) && !error.startsWith(TOO_MANY);
	}

	/**
	 * Whether Redis is there and does not let the service in, for instance without the
	 * right password.
	 * @return {@code false} where it may well be reached in a moment
	 */
	public boolean isRefusal() {
		return this.refusal;
	}

	/**
	 * Whether a failure to connect does not tell its reason, as the connection was closed
	 * too soon. The next attempt is likely to tell it.
	 * @param cause the most specific cause, if there is one
	 * @return {@code false} for nearly all failures
	 */
	public static boolean isUnheard(@Nullable Throwable cause) {
		return cause != null && UNHEARD.equals(cause.getMessage());
	}

	/**
	 * The message with a remedy, for whoever asked for something.
	 * @param then what to do then, the end of a sentence
	 */
	public String advice(String then) {
		String first = (this.refusal) ? "Then " : "Check that it runs and that spring.data.redis.* names it, then ";
		if (this.certificates) {
			first = "Check its certificate and those of spring.data.redis.ssl.bundle, then ";
		}
		return getMessage() + ". " + first + then + ".";
	}

}
