package io.pipeset.start;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Keeps secrets out of the log where a start fails over one: it speaks up before all
 * other analyzers, which quote exceptions. Registered in
 * {@code META-INF/spring.factories}.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class SecretFailureAnalyzer implements FailureAnalyzer {

	private static final Pattern NAME = Pattern
		.compile(".*(password|secret|key(-?sha256.*)?|token|credentials|ur[il]s?)");

	private static final int LEAST_LENGTH = 3;

	private final ConfigurableEnvironment environment;

	SecretFailureAnalyzer(Environment environment) {
		this.environment = (ConfigurableEnvironment) environment;
	}

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		Set<String> names = new TreeSet<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> properties) {
				for (String name : properties.getPropertyNames()) {
					if (NAME.matcher(name.toLowerCase(Locale.ROOT)).matches()
							&& (isSaid(String.valueOf(properties.getProperty(name)), failure)
									|| isSaid(resolved(name), failure))) {
						names.add(name);
					}
				}
			}
		}
		if (names.isEmpty()) {
			return null;
		}
		return new FailureAnalysis(
				"The start fails over a value that is not shown, as it may hold a secret: " + String.join(", ", names)
						+ " (" + failure.getClass().getName() + ", by "
						+ NestedExceptionUtils.getMostSpecificCause(failure).getClass().getName() + ").",
				"Correct it. A URL of Redis is redis://user:password@host:port, or rediss:// for TLS, with all but"
						+ " letters and digits of the password percent-encoded.",
				failure);
	}

	/** The value with what its placeholders stand for, which is a secret too. */
	private String resolved(String name) {
		try {
			return this.environment.getProperty(name, "");
		}
		catch (IllegalArgumentException ex) {
			// A placeholder that stands for nothing says no more than the value.
			return "";
		}
	}

	private static boolean isSaid(String secret, Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (secret.length() >= LEAST_LENGTH && String.valueOf(cause.getMessage()).contains(secret)) {
				return true;
			}
		}
		return false;
	}

}
