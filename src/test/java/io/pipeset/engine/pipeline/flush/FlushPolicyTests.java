package io.pipeset.engine.pipeline.flush;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class FlushPolicyTests {

	@ParameterizedTest
	@CsvSource({ "each, each, 1", "close, close, 1000", "buffered:1, buffered:1, 1", "buffered:256, buffered:256, 256",
			"buffered:100000, buffered:100000, 1000" })
	void isParsedAndPrinted(String text, String echoed, int commandsPerWrite) {
		FlushPolicy policy = FlushPolicy.parse(text);
		assertThat(policy).hasToString(echoed);
		assertThat(policy.commandsPerWrite(1000)).isEqualTo(commandsPerWrite);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "never", "buffered", "buffered:", "buffered:0", "buffered:-1", "buffered:100001",
			"buffered:1e3", "each:1", " each", "EACH", "Close", "BUFFERED:5" })
	void anythingElseIsRefused(String text) {
		assertThat(FlushPolicy.parse(text)).isNull();
	}

	@Test
	void tagHasNoNumber() {
		assertThat(FlushPolicy.buffered(17).kind()).isEqualTo(FlushPolicy.buffered(18).kind()).isEqualTo("buffered");
	}

}
