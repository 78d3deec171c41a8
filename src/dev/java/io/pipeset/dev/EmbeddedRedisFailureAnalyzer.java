package io.pipeset.dev;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets a start that failed for want of a Redis end in a few words instead of a stack
 * trace; registered in {@code META-INF/spring.factories}.
 */
final class EmbeddedRedisFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddedRedisException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, EmbeddedRedisException cause) {
		return new FailureAnalysis(cause.problem(), EmbeddedRedisException.REMEDY, cause);
	}

}
