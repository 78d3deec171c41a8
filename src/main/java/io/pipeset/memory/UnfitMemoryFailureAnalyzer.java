package io.pipeset.memory;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Turns the failure of a start without enough memory into a short message instead of a
 * stack trace. Registered in {@code META-INF/spring.factories}.
 */
final class UnfitMemoryFailureAnalyzer extends AbstractFailureAnalyzer<UnfitMemoryException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnfitMemoryException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
