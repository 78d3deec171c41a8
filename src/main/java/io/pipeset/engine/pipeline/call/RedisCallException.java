package io.pipeset.engine.pipeline.call;

import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.Refusal;
import org.jspecify.annotations.Nullable;

/** Redis refused a call, or did not answer, so that nobody knows whether it ran. */
public final class RedisCallException extends RuntimeException {

	private static final String OF_REPLICA = "WAIT cannot be used with replica instances";

	/** The error that Redis answered; {@code null} where it did not answer. */
	private final @Nullable Refusal refusal;

	private final boolean silent;

	private RedisCallException(@Nullable Refusal refusal, boolean silent, String message, Throwable cause) {
		super(message, cause);
		this.refusal = refusal;
		this.silent = silent;
	}

	/** Redis answered with an error. */
	static RedisCallException refused(String error, Throwable cause) {
		return new RedisCallException(Refusal.of(error), false, "Redis refuses: " + RedisErrors.withRemedy(error),
				cause);
	}

	/** The connection broke before there was an answer. */
	static RedisCallException lost(Throwable cause) {
		return new RedisCallException(null, false, "The connection to Redis was lost: " + cause.getMessage(), cause);
	}

	/** There was no answer in time. */
	static RedisCallException silent(String message, Throwable cause) {
		return new RedisCallException(null, true, message, cause);
	}

	/** There was no connection for the call, so it did not run. */
	public static RedisCallException unreachable(NoConnectionException cause) {
		return new RedisCallException(null, true, String.valueOf(cause.getMessage()), cause);
	}

	/**
	 * The code of the error that Redis answered.
	 * @return the first word of its error, or {@code null} where it did not answer
	 */
	public @Nullable String code() {
		return (this.refusal != null) ? this.refusal.code() : null;
	}

	/**
	 * Whether Redis is there and refuses: the call, or to let the service in.
	 * @return {@code false} where it did not answer
	 */
	public boolean isRefusal() {
		return this.refusal != null || (getCause() instanceof NoConnectionException none && none.isRefusal());
	}

	/**
	 * Whether the same call may well succeed in a moment.
	 * @return {@code false} where Redis would refuse it again
	 */
	public boolean isTransient() {
		return this.refusal == null || isRedirected() || this.refusal.means(Meaning.TRANSIENT);
	}

	/**
	 * Whether the call has not run, because a cluster has its keys elsewhere, or cannot
	 * run it now.
	 */
	public boolean isRedirected() {
		return redirect() != null;
	}

	/**
	 * The redirection that a cluster answered.
	 * @return the redirection, or {@code null} for any other error
	 */
	public @Nullable Redirect redirect() {
		return (this.refusal != null) ? this.refusal.redirect() : null;
	}

	/** Whether the server refused WAIT because it is a replica, as a former master is. */
	public boolean isOfReplica() {
		return this.refusal != null && this.refusal.message().contains(OF_REPLICA);
	}

	/**
	 * Whether there was no answer in time.
	 * @return {@code true} where Redis may still be there
	 */
	public boolean isSilent() {
		return this.silent;
	}

	/**
	 * Whether the connection broke before there was an answer.
	 * @return {@code true} where another connection may well be answered
	 */
	public boolean isLost() {
		return this.refusal == null && !this.silent;
	}

}
