package io.pipeset.engine.pipeline.call;

import java.security.GeneralSecurityException;

import javax.net.ssl.SSLException;

import io.lettuce.core.RedisCommandExecutionException;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * No connection to Redis was available, so nothing was written. The message is a sentence
 * that names the address.
 */
public final class NoConnectionException extends Exception {

	/**
	 * The maximum number of attempts in a row while the failures do not tell their
	 * reason.
	 */
	public static final int MOST_UNHEARD = 20;

	/** The only transient error in a handshake that has no error code of its own. */
	private static final String TOO_MANY_CLIENTS = "ERR max number of clients reached";

	/** Lettuce's message if the handshake failed before Lettuce could read the reason. */
	private static final String UNKNOWN_REASON = "RedisHandshakeHandler not registered";

	private final boolean refusal;

	private final boolean tlsFailure;

	/**
	 * There is no connection, although no attempt to connect has failed.
	 * @param why the end of a sentence
	 */
	public NoConnectionException(String address, String why) {
		super("No connection to Redis at " + address + ": " + why);
		this.refusal = false;
		this.tlsFailure = false;
	}

	public NoConnectionException(String address, Throwable cause) {
		super("No connection to Redis at " + address + ": " + why(cause), cause);
		this.refusal = cause instanceof RedisCommandExecutionException && isRefusal(why(cause));
		this.tlsFailure = isTlsFailure(cause);
	}

	private static String why(Throwable cause) {
		String message = cause.getMessage();
		if (isTlsFailure(cause)) {
			return "TLS failed, " + message;
		}
		return (message != null) ? RedisErrors.withRemedy(message) : cause.getClass().getSimpleName();
	}

	private static boolean isTlsFailure(Throwable cause) {
		return cause instanceof SSLException || cause instanceof GeneralSecurityException;
	}

	private static boolean isRefusal(String error) {
		return !RedisErrors.means(RedisErrors.code(error), Meaning.TRANSIENT) && !error.startsWith(TOO_MANY_CLIENTS);
	}

	/**
	 * Whether Redis is reachable and rejects the service, for instance because of a wrong
	 * password.
	 * @return {@code false} if a retry may succeed
	 */
	public boolean isRefusal() {
		return this.refusal;
	}

	/**
	 * Whether a failed attempt to connect does not tell its reason because the connection
	 * was closed too early. The next attempt is likely to tell it.
	 * @param cause the most specific cause, if there is one
	 * @return {@code false} for nearly all failures
	 */
	public static boolean isUnheard(@Nullable Throwable cause) {
		return cause != null && UNKNOWN_REASON.equals(cause.getMessage());
	}

	/**
	 * The message, followed by a remedy.
	 * @param then what the caller can do afterwards, the end of a sentence
	 */
	public String advice(String then) {
		String first = (this.refusal) ? "Then " : "Check that it runs and that spring.data.redis.* names it, then ";
		if (this.tlsFailure) {
			first = "Check its certificate and those of spring.data.redis.ssl.bundle, then ";
		}
		return getMessage() + ". " + first + then + ".";
	}

}
