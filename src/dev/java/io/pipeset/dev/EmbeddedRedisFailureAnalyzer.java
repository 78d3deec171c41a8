package io.pipeset.dev;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports a missing embedded Redis as a short message instead of a stack trace. It is
 * registered in {@code META-INF/spring.factories}.
 */
final class EmbeddedRedisFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddedRedisException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, EmbeddedRedisException cause) {
		return new FailureAnalysis(cause.problem(), EmbeddedRedisException.REMEDY, cause);
	}

}
