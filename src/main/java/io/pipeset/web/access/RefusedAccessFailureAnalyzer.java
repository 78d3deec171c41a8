package io.pipeset.web.access;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which properties of callers keep the service from starting. */
final class RefusedAccessFailureAnalyzer extends AbstractFailureAnalyzer<RefusedAccessException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RefusedAccessException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
