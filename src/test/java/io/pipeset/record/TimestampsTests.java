package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The usual spellings of timestamps are read, and other texts are refused. */
class TimestampsTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			4102444800                       | 4102444800000
			4102444800.5                     | 4102444800500
			4102444800.123456                | 4102444800123
			1                                | 1000
			0.001                            | 1
			99999999999                      | 99999999999000
			100000000000                     | 100000000000
			4102444800000                    | 4102444800000
			4102444800000.9                  | 4102444800000
			253402300799999                  | 253402300799999
			2100-01-01T00:00:00Z             | 4102444800000
			2100-01-01t00:00:00z             | 4102444800000
			2100-01-01T00:00Z                | 4102444800000
			2100-01-01 00:00:00+00           | 4102444800000
			2100-01-01T01:00:00+01:00        | 4102444800000
			2100-01-01T01:00:00+0100         | 4102444800000
			2099-12-31T18:30:00-05:30        | 4102444800000
			2100-01-01T00:00:00.25Z          | 4102444800250
			2100-01-01T00:00:00,123999+00:00 | 4102444800123
			2000-02-29T00:00:00Z             | 951782400000
			1970-01-01T00:00:00.001Z         | 1
			9999-12-31T23:59:59.999Z         | 253402300799999
			1e9                              | 1000000000000
			4.1024448E9                      | 4102444800000
			4102444800.0                     | 4102444800000
			4.1024448005E9                   | 4102444800500
			4.1024448E12                     | 4102444800000
			2100-01-01 00:00:00 UTC          | 4102444800000
			2100-01-01 00:00:00+00           | 4102444800000
			2100-01-01T01:00:00 +01:00       | 4102444800000
			""")
	void aTimestampIsReadToTheMillisecond(String text, long millis) {
		assertThat(Timestamps.parse(text)).isEqualTo(millis);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			2100-01-01                       | UTC           | 4102444800000
			2100-01-01 00:00:00              | UTC           | 4102444800000
			2100-01-01T00:00                 | Europe/Berlin | 4102441200000
			2100-07-01 02:00:00.5            | Europe/Berlin | 4118083200500
			2100-01-01T00:00:00Z             | Europe/Berlin | 4102444800000
			2026-10-25 02:30:00              | Europe/Berlin | 1792888200000
			1969-12-31 23:59:59.5            | UTC           | -500
			""")
	void aTimestampWithoutAZoneHasTheGivenOne(String text, ZoneId zone, long millis) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		assertThat(Timestamps.millis(bytes, 0, bytes.length, zone)).isEqualTo(millis);
	}

	/** Clocks went from 2:00 to 3:00, so that there was no such timestamp. */
	@Test
	void aTimestampInAGapOfSummerTimeIsNone() {
		byte[] bytes = "2026-03-29 02:30:00".getBytes(StandardCharsets.UTF_8);
		assertThat(Timestamps.millis(bytes, 0, bytes.length, ZoneId.of("Europe/Berlin"))).isEqualTo(Timestamps.NONE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "0", "0.0009", "-1", "+5", "05", "1e99", "-1e9", "1.", ".5", "1,5", "4102444800 ",
			"soon", "never", "253402300800000", "4102444800000000", "9223372036854775808", "2100-01-01",
			"2100-01-01T00:00:00", "2100-01-01 00:00:00", "2100-01-01T00:00", "2100-01-01T00:00:00 01:00",
			"2100-01-01T00:00:00Z ", "2100-01-01T00:00:00[Europe/Berlin]", "2100-01-01T00:00:00+1",
			"2100-01-01T00:00:00+01:0", "2100-01-01T00:00:00+01:", "2100-01-01T00:00:00+01:60",
			"2100-01-01T00:00:00+19:00", "2100-01-01T00:00:00.Z", "2100-01-01T00:00:00.5", "2100-01-01T24:00:00Z",
			"2100-01-01T00:60:00Z", "2100-01-01T00:00:60Z", "2100-02-29T00:00:00Z", "2100-00-01T00:00:00Z",
			"2100-13-01T00:00:00Z", "2100-01-00T00:00:00Z", "2100-1-1T00:00:00Z", "2100-01-01X00:00:00Z",
			"2100-01-01T0:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
			"99-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "2100-01-01T00:00:0", "2100-01-01T00:00:", "2100" + "-" })
	void otherTextsAreRefused(String text) {
		assertThat(Timestamps.parse(text)).isNull();
	}

}
