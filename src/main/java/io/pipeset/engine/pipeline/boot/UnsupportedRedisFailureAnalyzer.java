package io.pipeset.engine.pipeline.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports a refused Redis setting as a short message instead of a stack trace. It is
 * registered in {@code META-INF/spring.factories}.
 */
final class UnsupportedRedisFailureAnalyzer extends AbstractFailureAnalyzer<UnsupportedRedisException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnsupportedRedisException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
