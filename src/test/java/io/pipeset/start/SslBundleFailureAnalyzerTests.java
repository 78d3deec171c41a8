package io.pipeset.start;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchException;

/**
 * If a start fails because of an SSL bundle, the message names the bundle or its file.
 */
class SslBundleFailureAnalyzerTests {

	@Test
	void aMissingBundleIsNamed() {
		FailureAnalysis analysis = analyze(() -> new DefaultSslBundleRegistry().getBundle("redis"));
		assertThat(analysis.getDescription()).isEqualTo("There is no SSL bundle 'redis'.");
		assertThat(analysis.getAction()).contains("spring.ssl.bundle.pem.redis.*");
	}

	@Test
	void aMissingFileIsNamed() {
		FailureAnalysis analysis = analyze(
				() -> new PemSslStoreBundle(null, PemSslStoreDetails.forCertificate("/nowhere/ca.crt"))
					.getTrustStore());
		assertThat(analysis.getDescription()).contains("trust store").contains("/nowhere/ca.crt");
		assertThat(analysis.getAction()).contains("spring.ssl.bundle.*");
	}

	@Test
	void otherFailuresAreLeftToOtherAnalyzers() {
		assertThat(new SslBundleFailureAnalyzer().analyze(new IllegalStateException("Unable"))).isNull();
	}

	private static FailureAnalysis analyze(ThrowingCallable start) {
		@Nullable FailureAnalysis analysis = new SslBundleFailureAnalyzer()
			.analyze(new IllegalStateException("the start failed", catchException(start)));
		assertThat(analysis).isNotNull();
		return analysis;
	}

}
