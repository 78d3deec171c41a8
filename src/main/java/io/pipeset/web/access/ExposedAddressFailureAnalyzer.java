package io.pipeset.web.access;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains in a few words, instead of a stack trace, why the service does not start at an
 * address that other machines reach. Registered in {@code META-INF/spring.factories}.
 */
final class ExposedAddressFailureAnalyzer extends AbstractFailureAnalyzer<ExposedAddressException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ExposedAddressException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
