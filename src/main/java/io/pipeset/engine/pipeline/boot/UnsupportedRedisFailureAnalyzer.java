package io.pipeset.engine.pipeline.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets a start with settings that are not supported end in a few words instead of a stack
 * trace; registered in {@code META-INF/spring.factories}.
 */
final class UnsupportedRedisFailureAnalyzer extends AbstractFailureAnalyzer<UnsupportedRedisException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnsupportedRedisException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
