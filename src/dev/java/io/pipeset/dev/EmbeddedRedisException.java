package io.pipeset.dev;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * Tells the developer why the embedded Redis could not be started, and what to configure
 * instead.
 */
public final class EmbeddedRedisException extends RuntimeException {

	/**
	 * The remedy, which every message of this exception includes.
	 */
	static final String REMEDY = "Set spring.data.redis.url to a Redis of your own (redis://host:6379), "
			+ "or pipeset.embedded-redis.executable to another server program such as valkey-server.";

	@Serial
	private static final long serialVersionUID = 1L;

	private final String problem;

	EmbeddedRedisException(String problem) {
		this(problem, null);
	}

	EmbeddedRedisException(String problem, @Nullable Throwable cause) {
		super(problem + System.lineSeparator() + REMEDY, cause);
		this.problem = problem;
	}

	/**
	 * The message without the remedy.
	 */
	String problem() {
		return this.problem;
	}

}
