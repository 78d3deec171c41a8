package io.pipeset.start;

import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports the line and column at which a configuration file is not valid YAML. It does
 * not quote the file, because the line may contain a secret. Registered in
 * {@code META-INF/spring.factories}.
 */
final class YamlFailureAnalyzer extends AbstractFailureAnalyzer<MarkedYAMLException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MarkedYAMLException cause) {
		Mark mark = cause.getProblemMark();
		return new FailureAnalysis(
				"A configuration file is not valid YAML at line " + (mark.getLine() + 1) + ", column "
						+ (mark.getColumn() + 1) + ".",
				"Correct the line. It is not shown because it may contain a secret. Put a text in quotes if it begins"
						+ " with a special character, or has one followed by a space.",
				cause);
	}

}
