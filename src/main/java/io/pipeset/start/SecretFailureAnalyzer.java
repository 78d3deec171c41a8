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
 * Keeps secrets out of the log if the service fails to start because of one. It runs
 * before all other analyzers, because they quote exceptions. Registered in
 * {@code META-INF/spring.factories}.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class SecretFailureAnalyzer implements FailureAnalyzer {

	private static final Pattern SECRET_NAME = Pattern
		.compile(".*(password|secret|key(-?sha256.*)?|token|credentials|ur[il]s?)");

	/** A shorter value may be part of a message by chance. */
	private static final int MIN_SECRET_LENGTH = 3;

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
					if (SECRET_NAME.matcher(name.toLowerCase(Locale.ROOT)).matches()
							&& (isQuoted(String.valueOf(properties.getProperty(name)), failure)
									|| isQuoted(resolvedValue(name), failure))) {
						names.add(name);
					}
				}
			}
		}
		if (names.isEmpty()) {
			return null;
		}
		return new FailureAnalysis(
				"The service cannot start because of the value of " + String.join(", ", names)
						+ ". The value is not shown because it may contain a secret. The failure is "
						+ failure.getClass().getName() + ", caused by "
						+ NestedExceptionUtils.getMostSpecificCause(failure).getClass().getName() + ".",
				"Correct the value. A URL of Redis is redis://user:password@host:port, or rediss:// for TLS. In the"
						+ " password, percent-encode all characters except letters and digits.",
				failure);
	}

	/** The value with its placeholders replaced, because these values are secret too. */
	private String resolvedValue(String name) {
		try {
			return this.environment.getProperty(name, "");
		}
		catch (IllegalArgumentException ex) {
			// A placeholder cannot be resolved. The caller checks the raw value anyway.
			return "";
		}
	}

	private static boolean isQuoted(String secret, Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (secret.length() >= MIN_SECRET_LENGTH && String.valueOf(cause.getMessage()).contains(secret)) {
				return true;
			}
		}
		return false;
	}

}
