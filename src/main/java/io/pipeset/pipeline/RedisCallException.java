package io.pipeset.pipeline;

import org.jspecify.annotations.Nullable;

/** Redis refused a call, or nobody knows whether it ran. */
public final class RedisCallException extends RuntimeException {

	private final @Nullable String code;

	RedisCallException(@Nullable String code, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.code = code;
	}

	/**
	 * What Redis answered.
	 * @return the first word of its error, or {@code null} where it did not answer
	 */
	public @Nullable String code() {
		return this.code;
	}

	/**
	 * Whether the same call may well succeed in a moment.
	 * @return {@code false} where Redis would refuse it again
	 */
	public boolean isPassing() {
		return this.code == null || SlabErrors.PASSING.contains(this.code);
	}

}
