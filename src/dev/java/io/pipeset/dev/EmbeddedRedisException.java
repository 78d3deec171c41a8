package io.pipeset.dev;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * Tells the developer why the embedded Redis could not be started.
 */
public final class EmbeddedRedisException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	EmbeddedRedisException(String problem) {
		this(problem, null);
	}

	EmbeddedRedisException(String problem, @Nullable Throwable cause) {
		super(problem, cause);
	}

}
