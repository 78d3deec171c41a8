package io.pipeset.web;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets a start at an address that is not loopback's end in a few words instead of a stack
 * trace; registered in {@code META-INF/spring.factories}.
 */
final class ExposedAddressFailureAnalyzer extends AbstractFailureAnalyzer<ExposedAddressException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ExposedAddressException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
