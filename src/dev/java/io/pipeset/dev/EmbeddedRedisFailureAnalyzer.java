package io.pipeset.dev;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports a missing embedded Redis, and what to configure instead, without a stack trace.
 * It is registered in {@code META-INF/spring.factories}.
 */
final class EmbeddedRedisFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddedRedisException> {

	private static final String REMEDY = "Set spring.data.redis.url to a Redis of your own (redis://host:6379), "
			+ "or pipeset.embedded-redis.executable to another server program such as valkey-server.";

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, EmbeddedRedisException cause) {
		return new FailureAnalysis(cause.getMessage(), REMEDY, cause);
	}

}
