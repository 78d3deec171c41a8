package io.pipeset.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Replaces the stack trace of a start with an unknown property by a short explanation.
 * Registered in {@code META-INF/spring.factories}.
 */
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnknownPropertyException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnknownPropertyException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
