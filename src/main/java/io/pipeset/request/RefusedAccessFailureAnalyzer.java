package io.pipeset.request;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the security properties with which the service cannot start. */
public final class RefusedAccessFailureAnalyzer extends AbstractFailureAnalyzer<RefusedAccessException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RefusedAccessException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
