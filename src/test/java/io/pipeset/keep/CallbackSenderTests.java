package io.pipeset.keep;

import java.net.URI;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A receiver is one, however its URL is written. */
class CallbackSenderTests {

	@ParameterizedTest
	@ValueSource(strings = { "http://hook.example/a", "HTTP://HOOK.example:80/b", "http://hook.example:0080",
			"http://hook.example./c?d", "http://hook.example:/" })
	void thePortAndTheHostAreWhatCounts(String url) {
		assertThat(CallbackSender.receiver(URI.create(url))).isEqualTo("hook.example:80");
	}

}
