package io.pipeset.request;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Callbacks are signed as Standard Webhooks has it, and wrong properties fail the start.
 */
class CallbacksTests {

	private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

	private static final List<String> ALLOWED = List.of("https://hooks.example/a/");

	/** The example of the libraries of Standard Webhooks. */
	@Test
	void theSignatureIsThatOfTheSpecification() {
		Callbacks callbacks = callbacks(SECRET);
		assertThat(callbacks.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
				"{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8)))
			.isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	}

	@Test
	void eachSecretSigns() {
		String other = "whsec_" + "Q0ND".repeat(21);
		byte[] body = { '{', '}' };
		assertThat(callbacks(SECRET, other).sign("id", 1, body))
			.isEqualTo(callbacks(SECRET).sign("id", 1, body) + " " + callbacks(other).sign("id", 1, body));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "whsec_", "secret", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
			"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==",
			"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La*aSw", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" })
	void aWrongSecretFailsTheStartAndIsNotShown(String secret) {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> callbacks(secret))
			.withMessageContaining("pipeset.callbacks.secret")
			.withMessageNotContaining("MfKQ")
			.satisfies((ex) -> assertThat(ex.remedy()).contains("openssl rand"));
	}

	@Test
	void urlsWithoutASecretFailTheStart() {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> callbacks())
			.withMessage("pipeset.callbacks.allowed is set, and pipeset.callbacks.secret is not.");
	}

	@Test
	void aWrongPrefixFailsTheStart() {
		assertThatExceptionOfType(RefusedAccessException.class)
			.isThrownBy(() -> new Callbacks(new CallbackProperties(List.of("hooks.example"), List.of(SECRET))))
			.withMessageContaining("pipeset.callbacks.allowed must be an absolute http or https URL");
	}

	@Test
	void aClientThatIsNotConfiguredAnyMoreHasNoCallbacks() {
		Callbacks callbacks = callbacks(SECRET);
		URI url = URI.create("https://hooks.example/a/b");
		assertThat(callbacks.refusal(null, url)).isEqualTo("The client is not configured");
		assertThat(callbacks.refusal(Client.anybody(false), url)).isNull();
		assertThat(new Callbacks(new CallbackProperties(List.of(), List.of())).refusal(Client.anybody(false), url))
			.contains("pipeset.callbacks.allowed is not set");
	}

	private static Callbacks callbacks(String... secrets) {
		return new Callbacks(new CallbackProperties(ALLOWED, List.of(secrets)));
	}

}
