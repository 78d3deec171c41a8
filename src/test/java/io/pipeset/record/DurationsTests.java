package io.pipeset.record;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Durations are read in the same way in settings and in records. */
class DurationsTests {

	@ParameterizedTest
	@CsvSource({ "30s, 30000", "1500ms, 1500", "0s, 0", "007m, 420000", "1H, 3600000", "7d, 604800000", "10MS, 10",
			"PT1H, 3600000", "pt90s, 90000", "PT1H30M, 5400000", "P1D, 86400000", "P1DT1S, 86401000", "PT0.5S, 500",
			"PT1.2500S, 1250", "PT0S, 0", "PT60M, 3600000", "9000000000000000s, 9000000000000000000",
			"PT9000000000000000S, 9000000000000000000" })
	void aDurationIsReadInMilliseconds(String text, long millis) {
		assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "s", "30", "1.5h", "-5s", "+30s", "30 s", " 30s", "30s ", "1h30m", "30x", "1us", "1ns",
			"soon", "P", "PT", "P1", "PT1", "P1DT", "P1H", "PT1D", "P1W", "P1Y", "P1M", "PT+30S", "-PT30S", "PT-30S",
			"PT30S1M", "PT1S1S", "PTS", "PT.5S", "PT1.S", "PT1.5M", "PT0.0005S", "PTT1S", "P1D1D", "PT1H T1S",
			"999999999999999999d", "9223372036854775808ms", "PT9223372036854775S9S", "P106751991167DT8H",
			"1234567890123456789ms", "３０s", "P\u0000" })
	void otherTextsAreRefused(String text) {
		assertThat(Durations.parse(text)).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "3600, 3600", "90s, 90", "1h, 3600", "7d, 604800", "PT1H, 3600", "60000ms, 60", "1, 1",
			"999999999, 999999999", "999999999s, 999999999", "3600.0, 3600", "3.6E3, 3600" })
	void aTimeToLiveIsSecondsOrADuration(String text, long seconds) {
		assertThat(Expiry.parse(text)).isEqualTo(seconds);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "0", "0s", "-1", "1500ms", "PT0.5S", "1000000000", "1000000000s",
			"150000000000000001m", "1.5", "1e33", "1e-3", "-2", "60 s", "h" })
	void otherTimesToLiveAreRefused(String text) {
		assertThat(Expiry.parse(text)).isNull();
	}

}
