package io.pipeset.start;

import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says where a file of the configuration is no YAML, and does not quote it, as it may
 * hold a secret. Registered in {@code META-INF/spring.factories}.
 */
final class YamlFailureAnalyzer extends AbstractFailureAnalyzer<MarkedYAMLException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MarkedYAMLException cause) {
		Mark mark = cause.getProblemMark();
		return new FailureAnalysis(
				"A file of the configuration is no YAML at line " + (mark.getLine() + 1) + ", column "
						+ (mark.getColumn() + 1) + ".",
				"Correct the line, which is not shown, as it may hold a secret. A text that begins with a special"
						+ " character, or has one followed by a space, stands in quotes.",
				cause);
	}

}
