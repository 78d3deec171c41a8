package io.pipeset.engine.pipeline.call;

import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * A single call failed: Redis refused it or did not answer. Without an answer, it is
 * unknown whether the call ran.
 */
public final class RedisCallException extends RuntimeException {

	private static final String WAIT_ON_REPLICA = "WAIT cannot be used with replica instances";

	/** The error that Redis answered; {@code null} if Redis did not answer. */
	private final @Nullable Refusal refusal;

	private final boolean silent;

	private RedisCallException(@Nullable Refusal refusal, boolean silent, String message, Throwable cause) {
		super(message, cause);
		this.refusal = refusal;
		this.silent = silent;
	}

	/** Redis answered with an error. */
	public static RedisCallException refused(String error, Throwable cause) {
		return new RedisCallException(Refusal.of(error), false, "Redis refuses: " + RedisErrors.withRemedy(error),
				cause);
	}

	/** The connection broke before the reply came. */
	public static RedisCallException lost(Throwable cause) {
		return new RedisCallException(null, false, "The connection to Redis was lost: " + cause.getMessage(), cause);
	}

	/** The reply did not come in time. */
	public static RedisCallException silent(String message, Throwable cause) {
		return new RedisCallException(null, true, message, cause);
	}

	/** No connection was available for the call, so the call did not run. */
	public static RedisCallException unreachable(NoConnectionException cause) {
		return new RedisCallException(null, true, String.valueOf(cause.getMessage()), cause);
	}

	/**
	 * The code of the error that Redis answered.
	 * @return the first word of the error, or {@code null} if Redis did not answer
	 */
	public @Nullable String code() {
		return (this.refusal != null) ? this.refusal.code() : null;
	}

	/**
	 * Whether Redis is reachable and refuses the call or rejects the service.
	 * @return {@code false} if Redis did not answer
	 */
	public boolean isRefusal() {
		return this.refusal != null || (getCause() instanceof NoConnectionException none && none.isRefusal());
	}

	/** Whether the user may not run the command, or the server does not have it. */
	public boolean isOfCommand() {
		return this.refusal != null && this.refusal.refusesCommand();
	}

	/**
	 * Whether a retry of the same call may succeed.
	 * @return {@code false} if Redis would refuse the call again
	 */
	public boolean isTransient() {
		return this.refusal == null || isRedirected() || this.refusal.means(Meaning.TRANSIENT);
	}

	/**
	 * Whether the call did not run because a cluster has its keys on another node, or
	 * cannot run it now.
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

	/**
	 * Whether the server refused WAIT because it is a replica. A demoted master is one
	 * too.
	 */
	public boolean isOfReplica() {
		return this.refusal != null && this.refusal.message().contains(WAIT_ON_REPLICA);
	}

	/**
	 * Whether no reply came in time, or no connection was available.
	 * @return {@code true} if Redis may still be running
	 */
	public boolean isSilent() {
		return this.silent;
	}

	/**
	 * Whether the connection broke before the reply came.
	 * @return {@code true} if a retry on another connection may succeed
	 */
	public boolean isLost() {
		return this.refusal == null && !this.silent;
	}

}
