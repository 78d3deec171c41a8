package io.pipeset.start;

import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.core.NestedExceptionUtils;

/**
 * Reports which SSL bundle is missing, or which of its files cannot be read. Registered
 * in {@code META-INF/spring.factories}.
 */
final class SslBundleFailureAnalyzer implements FailureAnalyzer {

	/**
	 * The beginning of Boot's messages about a certificate, key or store that cannot be
	 * read.
	 */
	private static final String UNREADABLE = "Unable to create ";

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.map((cause) -> analysis(cause, failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private static @Nullable FailureAnalysis analysis(Throwable cause, Throwable failure) {
		if (cause instanceof NoSuchSslBundleException missing) {
			return new FailureAnalysis("There is no SSL bundle '" + missing.getBundleName() + "'.",
					"Define it with the properties spring.ssl.bundle.pem." + missing.getBundleName()
							+ ".* or spring.ssl.bundle.jks.*, or correct the name.",
					failure);
		}
		String message = String.valueOf(cause.getMessage());
		if (cause instanceof IllegalStateException && message.startsWith(UNREADABLE)) {
			return new FailureAnalysis(message + " (" + NestedExceptionUtils.getMostSpecificCause(cause) + ").",
					"Correct the files or stores that the properties spring.ssl.bundle.* or server.ssl.* name.",
					failure);
		}
		return null;
	}

}
