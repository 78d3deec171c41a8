package io.pipeset.report;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A duration in a report can be sent back as a setting. */
class DurationTextTests {

	@ParameterizedTest
	@CsvSource({ "0, 0s", "1, 1ms", "999, 999ms", "1000, 1s", "1500, 1500ms", "60000, 60s", "3600000, 3600s" })
	void wholeSecondsAreWrittenAsSuchAndOthersAsMilliseconds(long millis, String text) {
		assertThat(DurationText.of(Duration.ofMillis(millis))).isEqualTo(text);
	}

}
