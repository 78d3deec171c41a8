package io.pipeset.job.memory;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets a start without enough memory end in a few words instead of a stack trace;
 * registered in {@code META-INF/spring.factories}.
 */
final class UnfitMemoryFailureAnalyzer extends AbstractFailureAnalyzer<UnfitMemoryException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnfitMemoryException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
