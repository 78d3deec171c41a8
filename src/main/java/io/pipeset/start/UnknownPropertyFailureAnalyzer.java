package io.pipeset.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets a start with a misspelt property end in a few words instead of a stack trace;
 * registered in {@code META-INF/spring.factories}.
 */
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnknownPropertyException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnknownPropertyException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
